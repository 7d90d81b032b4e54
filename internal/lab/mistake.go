package lab

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Mistake is one thing that is wrong with a scenario file. Line and column count from 1.
type Mistake struct {
	File         string
	Line, Column int
	Message      string // one line, lower case
}

func (m Mistake) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", m.File, m.Line, m.Column, m.Message)
}

// Mistakes is everything that is wrong with a scenario file, in the order of the file.
type Mistakes []Mistake

// Error gives one mistake a line.
func (list Mistakes) Error() string {
	lines := make([]string, len(list))
	for i, m := range list {
		lines[i] = m.String()
	}
	return strings.Join(lines, "\n")
}

func (list Mistakes) sorted() Mistakes {
	slices.SortFunc(list, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Message, b.Message))
	})
	return list
}
