package cli

import (
	"errors"
	"regexp"

	"github.com/rewarm/rewarm/runbook"
)

var (
	nameLine = regexp.MustCompile(`(?m)^name:.*$`)
	comments = regexp.MustCompile(`(?m)^[ \t]*#.*$`)
)

// disguised is a runbook without what tells which one it is: its name, its file and its comments. Lines keep their
// numbers.
func disguised(doc *runbook.Document) (*runbook.Document, error) {
	source := comments.ReplaceAll(nameLine.ReplaceAll(doc.Source, []byte("name: "+practiceName)), nil)
	other, problems := runbook.Parse(practiceName+".yaml", source, parameterValues(doc))
	if err := problems.Err(); err != nil || other.Name != practiceName {
		return nil, fail(exitError, errors.New("the name of the runbook cannot be hidden"),
			"write its name: on a line of its own, or give another with --runbook")
	}
	return other, nil
}
