package evidence

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// releasingRun goes on from smallRecords with a release under the approval of a whole stage, a guard, the
// recovery and the last question.
func releasingRun(t testing.TB) []record {
	t.Helper()
	value := "6400"
	target := steps.Target{Step: "lift-everything", Purpose: steps.PurposeRestore, Control: "origin.admission", To: value}
	plan := actions.Plan{Run: "small", Step: target.Step, Control: target.Control, After: &value, Direction: runbook.Releasing, Unit: "attempts/s"}
	reading := func(sentence string) []probes.Finding {
		return []probes.Finding{{Bound: "queue-age at most 250ms", Probe: "queue-age", Verdict: probes.Pass, Sentence: sentence}}
	}
	at := time.Date(2026, 11, 29, 10, 8, 12, 0, time.UTC)
	seen := func(queue string) *steps.Observed {
		at = at.Add(time.Second)
		return &steps.Observed{At: at, Answers: []probes.Answer{{Ask: probes.Ask{Probe: "queue-age"}, At: at, Count: 1, Readings: []probes.Reading{{Raw: queue}}}},
			Gates: []steps.GateSeen{{Gate: "when lift-everything", Verdict: "pass", Passes: 2, Of: 2, Findings: reading("queue-age " + queue)}}}
	}
	return append(smallRecords(t, false),
		record{steps.KindGuarded, &steps.Guarded{Guard: "guard 3 partitions", Breached: true, Action: "holds"}},
		record{steps.KindGuarded, &steps.Guarded{Guard: "guard 3 partitions", Action: "ended"}},
		record{steps.KindObserved, seen("9.5")},
		record{steps.KindObserved, seen("0.125")},
		record{steps.KindApproved, &steps.Approved{Scope: steps.ScopeStage, Digest: "d9", Step: "another-step", By: "bea", How: steps.HowSent,
			Covers: []steps.Change{{Control: target.Control, After: &value, Unit: plan.Unit}}}},
		record{steps.KindIntended, &steps.Intended{Target: target, Plan: plan, Digest: "d2", Fence: 1, Before: "3200 attempts/s", After: "6400 attempts/s"}},
		record{steps.KindSettled, &steps.Settled{Target: target, Plan: plan, Digest: "d2", Result: steps.ResultApplied, Version: 2, Found: &value, Seen: true, After: "6400 attempts/s"}},
		record{steps.KindRecovered, &steps.Recovered{RecoveredAt: at, TookMS: 12000, Gate: reading("queue-age 125ms is calm")}},
		record{steps.KindConfirmed, &steps.ConfirmedBody{Step: "what-the-machine-cannot-know", Ask: "What was done outside rewarm?"}},
		record{steps.KindConfirmed, &steps.ConfirmedBody{Step: "what-the-machine-cannot-know", Answered: true, Answer: "a restart", By: "ana"}},
		record{steps.KindAborted, &steps.Ended{Reason: "enough", By: "ana"}},
	)
}

// TestRowsOfTheTimeline: each thing that happened stands at its own record, with its own run time.
func TestRowsOfTheTimeline(t *testing.T) {
	m, _ := signedRun(t, smallID, releasingRun(t))
	figures, err := FiguresOf(m.Segments)
	if err != nil {
		t.Fatal(err)
	}
	rows := timeline(figures)
	if !slices.IsSortedFunc(rows, func(a, b TimelineRow) int { return int(a.Seq) - int(b.Seq) }) {
		t.Error("the rows are not in the order of the records")
	}
	var got strings.Builder
	for _, row := range rows {
		if row.Seq > 1 && row.T == 0 {
			t.Errorf("row without its run time: %+v", row)
		}
		if !strings.Contains(row.Text, "onerror") {
			fmt.Fprintf(&got, "%s: %s\n", row.What, row.Text)
		}
	}
	want := `begun: origin-fault for service catalog
command: ana on desk walks, process 7, rewarm v1
stage: protect-origin entered
flip: enforce-admission: origin.admission from unlimited (absent) to 3200 attempts/s, protecting, applied, BLIND
lifted: released by ana
guard: guard 3 partitions is breached: holds
guard: guard 3 partitions is not breached any more
decision: lift-everything: when lift-everything is pass 2/2: go, origin.admission to 6400 attempts/s
flip: lift-everything: origin.admission from 3200 attempts/s to 6400 attempts/s, releasing, applied, approved by bea (sent, the whole stage)
decision: exit is pass: recovered
recovered: at 2026-11-29 10:08:14Z, 12s after the run began
person: ana: what-the-machine-cannot-know: a restart
end: aborted: enough
`
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}

// TestWhatTheReportTells beside the timeline.
func TestWhatTheReportTells(t *testing.T) {
	m, _ := signedRun(t, smallID, releasingRun(t))
	files := texts(t, built(t, m))
	for _, want := range []string{
		"| queue-age at most 250ms | 9.5s | 10:08:13.0 |",
		"| origin.admission | 3200 attempts/s | unlimited (absent) | 3200 attempts/s | 6400 attempts/s | 2 |",
		"go, origin.admission to 6400 attempts/s\n   - pass: queue-age 0.125",
		"exit is pass, so recovered\n   - pass: queue-age 125ms is calm",
		"by whom:\n  - asked when the run was closed: What was done outside rewarm? “a restart” (ana)",
	} {
		if !bytes.Contains(files[reportMD], []byte(want)) {
			t.Errorf("the report does not say %q", want)
		}
	}
	if t.Failed() {
		t.Logf("%s", files[reportMD])
	}
}

// TestPlotsCoverTheRun: where Prometheus had forgotten the beginning, the plots show what the walk observed, and
// the report says so. A series that was kept from before the run is drawn alone.
func TestPlotsCoverTheRun(t *testing.T) {
	began := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	minute := func(n int) time.Time { return began.Add(time.Duration(n) * time.Minute) }
	f := &Figures{Began: began, LastAt: minute(20)}
	for _, probe := range []string{"forgotten", "kept", "never"} {
		p := ProbeFigure{Probe: probe}
		for n := range 20 {
			p.Points = append(p.Points, Sample{At: minute(n), Min: "1", Max: "7"})
		}
		f.Probes = append(f.Probes, p)
	}
	kept := func(from int) []Series {
		return []Series{{Points: []Point{{minute(from), "1"}, {minute(20), "2"}}}}
	}
	plots := plotsOf(f, &Ranges{Probes: []Range{{Probe: "forgotten", Series: kept(10)}, {Probe: "kept", Series: kept(-2)}}})
	var got []string
	for _, p := range plots {
		got = append(got, fmt.Sprintf("%s: captured %v, %d lines, %d of them observed, from %s to %s",
			p.Probe, p.Captured, len(p.lines), p.observed, p.from.Format("15:04"), p.to.Format("15:04")))
	}
	want := []string{
		"forgotten: captured true, 3 lines, 2 of them observed, from 10:00 to 10:20",
		"kept: captured true, 1 lines, 0 of them observed, from 09:58 to 10:20",
		"never: captured false, 2 lines, 0 of them observed, from 10:00 to 10:20",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	missing := strings.Join(missingStart(plots), "")
	if !strings.Contains(missing, "of 1 of 3 probes it had nothing from before 2026-11-29 10:10:00Z") {
		t.Errorf("missing: %q", missing)
	}
	if last := plots[0].lines[1].dots[len(plots[0].lines[1].dots)-1].at; !last.Before(minute(10)) {
		t.Errorf("observations are drawn over what was captured: until %s", last)
	}
}

// TestSeriesAreToldApart by the labels that they do not share; what was read by hand is marked in the plot.
func TestSeriesAreToldApart(t *testing.T) {
	began := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	f := &Figures{Began: began, LastAt: began.Add(time.Minute), Probes: []ProbeFigure{{Probe: "leaders", Unit: "leaders",
		Points: []Sample{{At: began, Min: "9", Max: "9", ByHand: "ana <b>"}}}}}
	ranges := &Ranges{Probes: []Range{{Probe: "leaders"}}}
	for n, cell := range []string{`a"`, "b", "c", "d", "e", "f", "g"} {
		at := []Point{{began, fmt.Sprint(n)}, {began.Add(30 * time.Second), fmt.Sprint(2 * n)}, {began.Add(time.Minute), "1"}}
		ranges.Probes[0].Series = append(ranges.Probes[0].Series, Series{Labels: fmt.Sprintf("{cell=%q, job=%q}", cell, "catalog"), Points: at})
	}
	p := plotsOf(f, ranges)[0]
	if got := strings.Join(p.Legend(), " "); got != `cell="g" cell="f" cell="e" cell="d" cell="c" cell="b"` || p.More != 1 {
		t.Errorf("legend %s, and %d more", got, p.More)
	}
	if picture := p.SVG(); !strings.Contains(picture, `<circle class="hand"`) || !strings.Contains(picture, "read by hand by ana &lt;b&gt;") {
		t.Errorf("no mark for what was read by hand: %s", picture)
	}
	rows := numbersOf([]plot{p})
	if want := (numbersRow{"leaders", `cell="g"`, "6 leaders", "1 leaders", "12 leaders", "1 leaders"}); rows[0] != want {
		t.Errorf("%+v, not %+v", rows[0], want)
	}
}

// TestCourseIsBounded: a long course keeps its extremes and its times in bounded room.
func TestCourseIsBounded(t *testing.T) {
	began := time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC)
	c := course{every: 1}
	for n := range 5*mostPoints + 3 {
		s := Sample{At: began.Add(time.Duration(n) * time.Second), Min: "1", Max: "2"}
		switch n {
		case 777:
			s.Max, s.ByHand = "9", "ana"
		case 778:
			s.Min = "NaN"
		case 4000:
			s.Min = "-3"
		}
		c.add(pointFrom(s))
	}
	points := c.points()
	byMin := func(a, b Sample) int { return strings.Compare(a.Min, b.Min) }
	byMax := func(a, b Sample) int { return strings.Compare(a.Max, b.Max) }
	lowest, highest := slices.MinFunc(points, byMin), slices.MaxFunc(points, byMax)
	if len(points) > mostPoints || lowest.Min != "-3" || highest.Max != "9" || highest.ByHand != "ana" || points[0].At != began {
		t.Errorf("%d points, lowest %+v, highest %+v, first %+v", len(points), lowest, highest, points[0])
	}
	if !slices.IsSortedFunc(points, func(a, b Sample) int { return a.At.Compare(b.At) }) {
		t.Error("the points are not in their order")
	}
}

// pointFrom is the point of a sample that was read from somewhere else than an answer.
func pointFrom(s Sample) point {
	number := func(text string) number {
		value, ok := finite(text)
		return number{value, ok}
	}
	return point{s, number(s.Min), number(s.Max)}
}
