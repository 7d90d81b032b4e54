package gameday

import (
	"strings"
	"time"

	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/runbook"
)

// quiet is the scenario of a day whose metrics are those of a past incident: the lab has
// its Redis and its clock, and nobody looks at its service. It has no name, for nothing of it is told.
func quiet() *lab.Scenario {
	return &lab.Scenario{Seed: 1, Start: 10 * time.Hour}
}

// readPast reads the series of a past incident, and says what is wrong with them.
func readPast(file string, p *runbook.Past, library Library) (*lab.Past, []runbook.Problem) {
	past := lab.NewPast(p.Interval)
	var problems []runbook.Problem
	fail := func(at runbook.Position, err error, hint string) {
		if err != nil {
			problems = append(problems, runbook.Problem{File: file, Pos: at, Message: strings.Join(strings.Fields(err.Error()), " "), Hint: hint})
		}
	}
	for _, s := range p.Input {
		fail(s.Pos, past.AddSeries(s.Series, s.Values), "series are written as in promtool's tests: 1 2 3, 0+10x60, _ for none")
	}
	var answers [][]byte
	for _, e := range p.Export {
		text, err := library.File(e.Value)
		fail(e.Pos, err, "")
		answers = append(answers, text)
	}
	if len(p.Export) > 0 && len(problems) == 0 {
		fail(p.Export[0].Pos, past.AddExport(answers...), "save what curl 'PROMETHEUS/api/v1/query_range?query=SELECTOR&…' answers")
	}
	return past, problems
}
