package cli

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/runbook"
)

func (p *program) lintCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "lint FILE...",
		Short: "Say whether runbooks are valid, and wise",
		Long: `Reads runbooks and says everything that is wrong at once: what makes them invalid
(exit 2), and what is unwise in a collapse (exit 3). A finding can be waived in the
file, with a reason.

It also reads rules of diagnosis, scenarios and game days, by the kind that a file names,
and says what makes them invalid. Rules stand on the bundled ones, and on the figures and
parameters of the runbook before them: write lint BOOK RULES.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(errors.New("no file given"), "write: rewarm lint FILE...")
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
	Rule    string `json:"rule"` // "invalid" for what makes a file invalid
	Message string `json:"message"`
	Reason  string `json:"reason,omitempty"`
	Hint    string `json:"hint,omitempty"`
	Waived  string `json:"waived,omitempty"` // the reason given in the file
}

// lint looks at every file before it ends, whatever the first ones say.
func (p *program) lint(files []string) error {
	invalid, findings := false, 0
	look := linter{p: p, book: &runbook.Document{}}
	for _, name := range files {
		list, err := look.file(name)
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

// linter looks at one file after the other.
type linter struct {
	p    *program
	book *runbook.Document // the last one; empty before the first
}

// file gives what is to be said about a file of any kind.
func (l *linter) file(name string) ([]lintFinding, error) {
	file, source, err := readBook(name)
	if err != nil {
		return nil, err
	}
	list, err := l.source(file, source)
	var problems runbook.Problems
	var mistakes lab.Mistakes
	switch {
	case errors.As(err, &problems):
		return invalidFindings(problems), nil
	case errors.As(err, &mistakes):
		return mistakenFindings(mistakes), nil
	}
	return list, err
}

// source reads a file as what it says it is. What says nothing is read as a runbook.
func (l *linter) source(file string, source []byte) ([]lintFinding, error) {
	switch runbook.KindOf(source) {
	case runbook.DiagnosisKind:
		return nil, checkRules(l.book, runbook.RuleFile{Name: file, Source: source})
	case runbook.GameDayKind:
		_, err := l.p.parseDay(file, source, "")
		return nil, err
	case lab.ScenarioKind:
		_, err := lab.ParseScenarioAmong(file, source, lab.Known{Modes: modeNames(), Runbooks: runbookExists})
		return nil, err
	}
	doc, err := l.p.parseBook(file, source)
	if err != nil {
		return nil, err
	}
	l.book = doc
	return unwiseFindings(doc), nil
}

func modeNames() []string {
	names := make([]string, len(runbook.Modes))
	for i, mode := range runbook.Modes {
		names[i] = string(mode)
	}
	return names
}

// runbookExists says what is wrong with the name of a runbook, bundled or a file.
func runbookExists(name string) error {
	if _, _, err := readBook(name); err != nil {
		return fmt.Errorf("there is no runbook %q, bundled or as a file", name)
	}
	return nil
}

// checkRules reads rules of diagnosis on top of the bundled ones and of a runbook.
func checkRules(book *runbook.Document, rules runbook.RuleFile) error {
	bundled, err := bundledRules()
	if err != nil {
		return err
	}
	_, problems := runbook.ParseDiagnosis(book, bundled, rules)
	return problems.Err()
}

// unwiseFindings are what is unwise in a valid runbook.
func unwiseFindings(doc *runbook.Document) []lintFinding {
	var list []lintFinding
	for _, f := range runbook.Lint(doc) {
		list = append(list, lintFinding{File: doc.File, Line: f.Pos.Line, Column: f.Pos.Column,
			Rule: f.Rule, Message: f.Message, Reason: f.Reason, Waived: f.Waived})
	}
	return list
}

func mistakenFindings(mistakes lab.Mistakes) []lintFinding {
	var list []lintFinding
	for _, m := range mistakes {
		list = append(list, lintFinding{File: m.File, Line: m.Line, Column: m.Column, Rule: ruleInvalid, Message: m.Message})
	}
	return list
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
