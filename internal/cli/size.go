package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rewarm/rewarm/internal/demand"
)

func (p *program) sizeCommand() *cobra.Command {
	var after []string
	texts := make([]string, len(demand.Fields))
	cmd := &cobra.Command{
		Use:   "size",
		Short: "The demand arithmetic of a service",
		Long: `Computes what a service asks of its origin: when steady, when its hottest key expires
everywhere, when a cache cell is lost, and when it starts cold. Each figure shows its work.
The defaults are the inputs of the case study; give your own.

With --after it checks one state against the limit and exits 3 when the predicted demand
is over it: a deployment pipeline's abort condition.`,
		Example: `  rewarm size --reads 300000 --hit-ratio 90% --cell-share 1/24
  rewarm size --after cell-loss=0.3 --limit 3200`,
		Args: exactly(0, "size, with its figures as flags"),
		RunE: func(cmd *cobra.Command, _ []string) error { return p.size(givenFigures(cmd, texts), after) },
	}
	for i, field := range demand.Fields {
		cmd.Flags().StringVar(&texts[i], field.Name, field.Default, "`"+field.Form+"`: "+field.Means)
	}
	cmd.Flags().StringArrayVar(&after, "after", nil,
		"`STATE[=SHARE]` to check: expiry, cell-loss, cold-region or tier-loss; may be repeated")
	return cmd
}

// givenFigures are the texts of the flags that were given.
func givenFigures(cmd *cobra.Command, texts []string) map[string]string {
	given := map[string]string{}
	for i, field := range demand.Fields {
		if cmd.Flags().Changed(field.Name) {
			given[field.Name] = texts[i]
		}
	}
	return given
}

func (p *program) size(given map[string]string, after []string) error {
	report, err := sized(given, after)
	if err != nil {
		return usage(err, hintOf(err))
	}
	if err := p.showSize(report); err != nil {
		return err
	}
	return overLimit(report.After)
}

func sized(given map[string]string, after []string) (demand.Report, error) {
	in, err := demand.Parse(given)
	if err != nil {
		return demand.Report{}, err
	}
	var states []demand.State
	for _, text := range after {
		state, err := demand.ParseState(text, in)
		if err != nil {
			return demand.Report{}, err
		}
		states = append(states, state)
	}
	return demand.Size(in, states...), nil
}

func (p *program) showSize(report demand.Report) error {
	if p.settings.json() {
		return json.NewEncoder(p.out).Encode(report)
	}
	_, err := fmt.Fprint(p.out, sizeText(report))
	return err
}

// overLimit is the failure of the states that were asked for.
func overLimit(checks []demand.Check) error {
	var sentences []string
	for _, check := range checks {
		if !check.Affordable {
			sentences = append(sentences, check.Admission)
		}
	}
	if len(sentences) == 0 {
		return nil
	}
	return fail(exitHeld, errors.New(strings.Join(sentences, "; ")),
		"warm the replacement before traffic moves, move less at once, or keep a warm snapshot; raise --limit only on a new load test")
}
