package runbook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that makes a runbook invalid.
type Problem struct {
	File    string
	Pos     Position
	Message string // one line, lower case
	Hint    string // the way out, "" where there is none
}

// String gives the place and the message: "file:line:column: message".
func (p Problem) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", printable(p.File), p.Pos.Line, p.Pos.Column, p.Message)
}

// Error gives the problem with its hint in brackets.
func (p Problem) Error() string {
	if p.Hint == "" {
		return p.String()
	}
	return p.String() + " (" + p.Hint + ")"
}

// Problems is everything that is wrong with a runbook, in the order of the file.
// It is nil when nothing is.
type Problems []Problem

// Error gives one problem a line.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.Error()
	}
	return strings.Join(lines, "\n")
}

// Err is the problems as an error, nil when there are none.
func (p Problems) Err() error {
	if len(p) == 0 {
		return nil
	}
	return p
}

// sorted puts the problems in the order of the file and says each once.
func (p Problems) sorted() Problems {
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(comparePositions(a.Pos, b.Pos), cmp.Compare(a.Message, b.Message))
	})
	return slices.Compact(p)
}

func comparePositions(a, b Position) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}
