package gameday

import (
	"fmt"
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
			problems = append(problems, runbook.Problem{File: file, Pos: at,
				Message: strings.Join(strings.Fields(err.Error()), " "), Hint: hint})
		}
	}
	for _, s := range p.Input {
		fail(s.Pos, past.AddSeries(s.Series, s.Values), "series are written as in promtool's tests: 1 2 3, 0+10x60, _ for none")
	}
	var exports []lab.Export
	for _, e := range p.Export {
		text, err := library.File(e.Value)
		fail(e.Pos, err, "")
		exports = append(exports, lab.Export{File: e.Value, Text: text})
	}
	if len(p.Export) > 0 && len(problems) == 0 {
		fail(p.Export[0].Pos, past.AddExport(exports...),
			"save what curl 'PROMETHEUS/api/v1/query_range?query=SELECTOR&…' answers")
	}
	return past, problems
}

// Unseen says which selectors of the day's and its runbook's probes no series of its past fits: those probes stay
// unknown. It gives a sentence each.
func (d *Day) Unseen() []string {
	var list []string
	for i := range d.Terms.Probes {
		if p := &d.Terms.Probes[i]; d.past != nil && p.Query != "" {
			for _, selector := range d.past.Missing(p.Query) {
				list = append(list, fmt.Sprintf("the past has no series %s, so the probe %s stays unknown", selector, p.Name))
			}
		}
	}
	return list
}
