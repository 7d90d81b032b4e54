package runbook

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Problem is one thing that makes a runbook invalid.
type Problem struct {
	File    string
	Pos     Position
	Message string     // one line, lower case
	Hint    string     // the way out, "" where there is none
	Also    []Position // further places of the same, in the order of the file
}

// String gives the place and the message: "file:line:column: message; also line 80".
func (p Problem) String() string {
	return fmt.Sprintf("%s:%d:%d: %s", visible(p.File), p.Pos.Line, p.Pos.Column, p.Text())
}

// Text gives the message with the further places: "message; also lines 80, 93".
func (p Problem) Text() string {
	var places []string
	for _, at := range p.Also {
		place := strconv.Itoa(at.Line)
		if at.Line == p.Pos.Line {
			place += ":" + strconv.Itoa(at.Column)
		}
		if !slices.Contains(places, place) {
			places = append(places, place)
		}
	}
	switch len(places) {
	case 0:
		return p.Message
	case 1:
		return p.Message + "; also line " + places[0]
	}
	return p.Message + "; also lines " + strings.Join(places, ", ")
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

// sorted puts the problems in the order of the file. The same at several places
// is one problem, as one mistake makes it, like a name that was taken out.
func (p Problems) sorted() Problems {
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(comparePositions(a.Pos, b.Pos), cmp.Compare(a.Message, b.Message))
	})
	var once Problems
	first := map[[2]string]int{}
	for _, problem := range p {
		words := [2]string{problem.Message, problem.Hint}
		i, said := first[words]
		if !said {
			first[words] = len(once)
			once = append(once, problem)
		} else if last := once[i].last(); last != problem.Pos {
			once[i].Also = append(once[i].Also, problem.Pos)
		}
	}
	return once
}

// last is the furthest place of a problem.
func (p Problem) last() Position {
	if len(p.Also) > 0 {
		return p.Also[len(p.Also)-1]
	}
	return p.Pos
}

func comparePositions(a, b Position) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}
