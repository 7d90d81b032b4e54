package cli

import (
	"path"
	"strings"
	"testing"

	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/templates"
)

// bundled parses a bundled runbook with some of its text replaced: old, new, old, new.
func bundled(t *testing.T, name string, edits ...string) *runbook.Document {
	t.Helper()
	source, err := templates.Files.ReadFile(path.Join(runbooksDir, name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(edits...).Replace(string(source))
	doc, problems := runbook.Parse(name+".yaml", []byte(text), nil)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	return doc
}
