package runbook

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// FuzzParse reads any bytes: no panic, places inside the file, the same answer
// twice, and either a document or problems, which are harmless to print.
func FuzzParse(f *testing.F) {
	seeds, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range seeds {
		source, err := os.ReadFile(seed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(source)
	}
	for _, seed := range []string{minimal, "", "a: [", "? a\n: b", "a: &b {<<: *b}", "%YAML 1.2\n---\n", "a: |\n b\r\n", "\xff\xfea\x00"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		if len(source) > 1<<15 {
			return // nothing new in long files
		}
		d, problems := Parse("f", source, nil)
		again, problemsAgain := Parse("f", source, nil)
		if !reflect.DeepEqual(problems, problemsAgain) || (d == nil) != (again == nil) || (d == nil) == (problems == nil) {
			t.Fatalf("one file, two answers: %v and %v", problems, problemsAgain)
		}
		lines := bytes.Count(source, []byte("\n")) + 1
		for _, p := range problems {
			if p.Pos.Line < 1 || p.Pos.Line > lines+1 || p.Pos.Column < 1 || p.Message == "" {
				t.Fatalf("a problem of %d lines at %v: %q", lines, p.Pos, p.Message)
			}
			if _, bad := unprintable(p.Message + p.Hint); bad || strings.ContainsAny(p.Message+p.Hint, "\n\t") {
				t.Fatalf("the message %q is not harmless", p.Message)
			}
		}
		if d != nil {
			if string(d.Source) != string(source) {
				t.Fatal("the source was changed")
			}
			Lint(d)
			TimeFloor(d)
		}
	})
}
