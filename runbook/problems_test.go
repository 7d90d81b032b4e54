package runbook

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestProblems reads pieces of runbooks and expects every problem with its place
// in the piece. `go test -run TestProblems -rewrite` writes the expectations anew.
func TestProblems(t *testing.T) {
	datadriven.Walk(t, "testdata/problems", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, td *datadriven.TestData) string {
			s := spliced(t, td)
			d, problems := Parse("file.yaml", []byte(s.source), settings(td))
			if (d == nil) != (problems != nil) {
				t.Fatalf("document %v beside problems %v", d, problems)
			}
			if problems == nil {
				return "valid\n"
			}
			var out strings.Builder
			for _, p := range problems {
				fmt.Fprintf(&out, "%s: %s\n", s.at(p.Pos), p.Message)
				for _, also := range p.Also {
					fmt.Fprintf(&out, "    also: %s\n", s.at(also))
				}
				if p.Hint != "" {
					fmt.Fprintf(&out, "    hint: %s\n", p.Hint)
				}
			}
			return out.String()
		})
	})
}
