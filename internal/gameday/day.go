package gameday

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// Library finds what days name. The errors are one sentence for people.
type Library interface {
	Scenario(name string) (*lab.Scenario, error)
	Runbook(name string, set map[string]string) (*runbook.Document, error)
	File(name string) ([]byte, error)
}

// Day is a game day with its scenario, a quiet one where it has none.
type Day struct {
	*runbook.GameDay
	Story *lab.Scenario
	past  *lab.Past
}

// Parse reads a game day. The error is runbook.Problems.
func Parse(file string, source []byte, library Library) (*Day, error) {
	day := &Day{Story: quiet()}
	onLab := false
	script, problems := runbook.ParseGameDay(file, source, runbook.GameDayNames{
		Scenario: func(name string) (string, []runbook.Mode, error) {
			story, err := library.Scenario(name)
			if err != nil {
				return "", nil, err
			}
			day.Story, onLab = story, true
			return story.Runbook, modesOf(story), nil
		},
		Runbook: func(name string, set map[string]string) (*runbook.Document, error) {
			doc, err := library.Runbook(name, set)
			if err == nil && onLab && doc.Service != lab.Service {
				err = fmt.Errorf("%s is for the service %s, and the lab's is %s: give the day a past or a target in the place of its scenario",
					name, doc.Service, lab.Service)
			}
			return doc, err
		},
		Fault: func(h *runbook.Happening) []runbook.Problem {
			_, err := faultOf(file, h)
			return problemsOf(err)
		},
		Faults: lab.EventKinds(),
		Past: func(p *runbook.Past) []runbook.Problem {
			var problems []runbook.Problem
			day.past, problems = readPast(file, p, library)
			return problems
		},
		Records: recordFields(),
	})
	if err := problems.Err(); err != nil {
		return nil, err
	}
	day.GameDay = script
	return day, nil
}

func modesOf(story *lab.Scenario) []runbook.Mode {
	var modes []runbook.Mode
	for _, mode := range story.Modes {
		modes = append(modes, runbook.Mode(mode))
	}
	return modes
}

// faultOf gives an event of the service as the lab takes it.
func faultOf(file string, h *runbook.Happening) (lab.Event, error) {
	fields := make([]lab.EventField, len(h.Keys))
	for i, k := range h.Keys {
		fields[i] = lab.EventField{Key: k.Key, Value: k.Value, Line: k.Pos.Line, Column: k.Pos.Column}
	}
	return lab.ParseEvent(file, h.Pos.Line, h.Pos.Column, lab.EventKind(h.Event), fields)
}

func problemsOf(err error) []runbook.Problem {
	var mistakes lab.Mistakes
	errors.As(err, &mistakes)
	var list []runbook.Problem
	for _, m := range mistakes {
		list = append(list, runbook.Problem{File: m.File, Pos: runbook.Position{Line: m.Line, Column: m.Column},
			Message: m.Message, Hint: "docs/lab.md lists the events"})
	}
	return list
}

// KindEvent is the kind of what a day itself does. It can be counted like records of a run.
const KindEvent = "event"

// recordFields are the kinds of records with the fields of their bodies.
func recordFields() map[string][]string {
	fields := map[string][]string{KindEvent: jsonNames(reflect.TypeFor[Event]())}
	for _, kind := range steps.Kinds() {
		body, err := steps.DecodeBody(kind, []byte("{}"))
		if err != nil || body == nil {
			continue
		}
		fields[kind] = jsonNames(reflect.TypeOf(body).Elem())
	}
	return fields
}

func jsonNames(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}
