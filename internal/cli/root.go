package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

const rootLong = `rewarm walks an executable recovery runbook for cache collapses.

When a hot key expires everywhere, a cache cell is lost or a region starts cold, it
controls demand before warmth: every step is gated on Prometheus before it flips one
control in Redis that the live service obeys, and everything goes through a durable
log that becomes the evidence of the incident.

  rewarm demo                 a modelled service collapses and is recovered
  rewarm lint BOOK            is the runbook valid, and wise
  rewarm plan BOOK            what it would ask and flip now
  rewarm diagnose BOOK        which modes the signals speak for
  rewarm run BOOK             walk it

Every flag has an environment variable, REWARM_ and its name in capitals.

Exit codes: 0 done, 1 error, 2 bad usage or invalid document, 3 held or findings,
4 aborted, 5 log does not verify, 6 another run commands, 7 a game day did not hold,
130 interrupted.`

func (p *program) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "rewarm",
		Short:         "Walk a recovery runbook for a cache collapse",
		Long:          rootLong,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noSuchCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return p.prepare(cmd)
		},
	}
	root.SetIn(p.in)
	root.SetOut(p.out)
	root.SetErr(p.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage(err, "see "+cmd.CommandPath()+" --help")
	})
	root.SuggestionsMinimumDistance = 2
	p.settings.register(root.PersistentFlags())
	root.AddCommand(
		p.demoCommand(), p.runCommand(), p.resumeCommand(), p.planCommand(), p.lintCommand(), p.diagnoseCommand(),
		p.sizeCommand(), p.runsCommand(), p.statusCommand(), p.watchCommand(), p.controlsCommand(), p.gamedayCommand(),
		p.labCommand(), p.auditCommand(), p.evidenceCommand(), p.versionCommand(),
	)
	root.AddCommand(p.orderCommands()...)
	root.AddCommand(p.takeoverCommand())
	return root
}

// noSuchCommand refuses a first argument that is no command.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return unknownCommand(cmd, args[0])
}

// unknownCommand names the commands that may have been meant: what is like the word among those of cmd, and what is
// called so in any group.
func unknownCommand(cmd *cobra.Command, word string) error {
	var near []string
	for _, like := range cmd.SuggestionsFor(word) {
		near = append(near, cmd.CommandPath()+" "+like)
	}
	for _, group := range cmd.Root().Commands() {
		for _, member := range group.Commands() {
			if path := member.CommandPath(); member.Name() == word && !slices.Contains(near, path) {
				near = append(near, path)
			}
		}
	}
	hint := "see " + cmd.CommandPath() + " --help"
	if len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	_, below, _ := strings.Cut(cmd.CommandPath()+" "+word, " ")
	return usage(fmt.Errorf("unknown command %q", below), hint)
}

// group makes a command that only holds others.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short,
		Args: noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(commands...)
	return cmd
}
