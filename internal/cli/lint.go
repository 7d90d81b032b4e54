package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rewarm/rewarm/runbook"
)

func (p *program) lintCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lint FILE...",
		Short: "Say whether runbooks are valid, and wise",
		Long: `Reads runbooks and says everything that is wrong at once: what makes them invalid
(exit 2), and what is unwise in a collapse (exit 3). A finding can be waived in the
file, with a reason.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(errors.New("no runbook given"), "write: rewarm lint FILE...")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return p.lint(args) },
	}
}

// lintFinding is one line of `lint --output json`.
type lintFinding struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Rule    string `json:"rule"` // "invalid" for what makes a runbook invalid
	Message string `json:"message"`
	Reason  string `json:"reason,omitempty"`
	Hint    string `json:"hint,omitempty"`
	Waived  string `json:"waived,omitempty"` // the reason given in the file
}

// lint looks at every file before it ends, whatever the first ones say.
func (p *program) lint(files []string) error {
	invalid, findings := false, 0
	for _, name := range files {
		list, err := p.lintFile(name)
		if err != nil {
			return err
		}
		for _, f := range list {
			invalid = invalid || f.Rule == ruleInvalid
			if f.Waived == "" {
				findings++
			}
			if err := p.showFinding(f); err != nil {
				return err
			}
		}
		if len(list) == 0 && !p.settings.json() {
			fmt.Fprintf(p.out, "%s: nothing found\n", oneLine(name))
		}
	}
	switch {
	case invalid:
		return quiet(exitUsage, errors.New("invalid"))
	case findings > 0:
		return quiet(exitHeld, errors.New("findings"))
	}
	return nil
}

const ruleInvalid = "invalid"

func (p *program) lintFile(name string) ([]lintFinding, error) {
	doc, err := p.openBook(name)
	var problems runbook.Problems
	if errors.As(err, &problems) {
		return invalidFindings(problems), nil
	}
	if err != nil {
		return nil, err
	}
	var list []lintFinding
	for _, f := range runbook.Lint(doc) {
		list = append(list, lintFinding{File: doc.File, Line: f.Pos.Line, Column: f.Pos.Column,
			Rule: f.Rule, Message: f.Message, Reason: f.Reason, Waived: f.Waived})
	}
	return list, nil
}

func invalidFindings(problems runbook.Problems) []lintFinding {
	var list []lintFinding
	for _, problem := range problems {
		list = append(list, lintFinding{File: problem.File, Line: problem.Pos.Line, Column: problem.Pos.Column,
			Rule: ruleInvalid, Message: problem.Text(), Hint: problem.Hint})
	}
	return list
}

func (p *program) showFinding(f lintFinding) error {
	if p.settings.json() {
		return json.NewEncoder(p.out).Encode(f)
	}
	text := fmt.Sprintf("%s:%d:%d: %s: %s", f.File, f.Line, f.Column, f.Rule, f.Message)
	text += also("; ", f.Reason) + also("; ", f.Hint) + also("; waived: ", f.Waived)
	_, err := fmt.Fprintln(p.out, oneLine(text))
	return err
}
