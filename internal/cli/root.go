package cli

import (
	"fmt"
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
		Args:          p.noSuchCommand,
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
func (p *program) noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "see rewarm --help"
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return usage(fmt.Errorf("unknown command %q", args[0]), hint)
}

// group makes a command that only holds others.
func group(use, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return usage(fmt.Errorf("unknown command %q", use+" "+args[0]), "see rewarm "+use+" --help")
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(commands...)
	return cmd
}
