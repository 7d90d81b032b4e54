package runbook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestLintRules expects the findings of one rule in pieces of a runbook.
// `go test -run TestLintRules -rewrite` writes the expectations anew.
func TestLintRules(t *testing.T) {
	found := map[string]bool{}
	datadriven.RunTest(t, "testdata/lint/rules", func(t *testing.T, td *datadriven.TestData) string {
		var rule string
		td.ScanArgs(t, "rule", &rule)
		d := mustParse(t, spliced(t, td).source, nil)
		var out strings.Builder
		for _, f := range Lint(d) {
			if f.Rule != rule {
				continue
			}
			found[rule] = true
			fmt.Fprintln(&out, f.Message)
			if f.Waived != "" {
				fmt.Fprintln(&out, "    waived:", f.Waived)
			}
		}
		return cmp.Or(out.String(), "clean\n")
	})
	for _, rule := range LintRules() {
		if !found[rule.Name] {
			t.Errorf("rule %s finds nothing in any test", rule.Name)
		}
	}
}

func TestLintPlaces(t *testing.T) {
	d := mustParse(t, strings.Replace(minimal, "stages:", "waive:\n  - {rule: no-such-rule, reason: none}\nstages:", 1), nil)
	var got []string
	for _, f := range Lint(d) {
		got = append(got, fmt.Sprintf("%d:%d %s", f.Pos.Line, f.Pos.Column, f.Rule))
	}
	want := []string{"1:1 exit-missing", "6:5 unused-waiver", "11:22 leaders-uncapped", "11:22 leaders-uncapped"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}
