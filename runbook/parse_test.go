package runbook

import (
	"strings"
	"testing"
)

// minimal is the smallest valid runbook.
const minimal = `apiVersion: rewarm/v1
kind: Runbook
name: smallest
service: catalog
stages:
  declare-mode: {skip: nothing to declare}
  protect-origin: {skip: nothing to protect}
  preserve-stale: {skip: no stale copies}
  constrain-leaders: {skip: no leaders}
  rank-warmth: {skip: nothing to warm}
  observe: {skip: nothing to observe}
  expand: {skip: nothing to expand}
  restore: {skip: nothing was flipped}
  reconcile: {skip: nothing happened}
`

// mustParse parses a runbook that the test needs to be valid.
func mustParse(t testing.TB, source string, set map[string]string) *Document {
	t.Helper()
	d, problems := Parse("test.yaml", []byte(source), set)
	if problems != nil {
		t.Fatalf("not valid:\n%v", problems)
	}
	return d
}

func TestParseKeepsTheBytes(t *testing.T) {
	for name, source := range map[string]string{"LF": minimal, "CRLF": strings.ReplaceAll(minimal, "\n", "\r\n")} {
		d := mustParse(t, source, nil)
		if string(d.Source) != source {
			t.Errorf("%s: the source was changed", name)
		}
		if d.Stages[Expand-1].Skip != "nothing to expand" || d.Stages[Expand-1].Pos.Line != 12 {
			t.Errorf("%s: stage expand is %+v", name, d.Stages[Expand-1])
		}
	}
}
