package cli

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/rewarm/rewarm/internal/gameday"
	"github.com/rewarm/rewarm/runbook"
)

// playedJSON is one line of `gameday run --output json`.
type playedJSON struct {
	*gameday.Result
	File   string `json:"file"`
	Replay string `json:"replay"`
}

// showDay prints how a day went.
func (p *program) showDay(one played) error {
	if p.settings.json() {
		return p.encode(playedJSON{one.result, one.day.File, one.replay})
	}
	r := one.result
	fmt.Fprintln(p.out, wrap(dayTitle(r), columnsOf(p.out), 2))
	var rows []string
	for _, e := range r.Events {
		rows = append(rows, fmt.Sprintf("  %-7s %s %s%s", moment(e.Seconds), e.Event, e.Outcome, also(": ", e.Detail)))
	}
	for _, v := range r.Verdicts {
		rows = append(rows, verdictRows(one.day.File, v)...)
	}
	rows = append(rows, "  scores  "+scoresText(r.Scores))
	if !r.Passed {
		rows = append(rows, "  replay  "+one.replay)
	}
	for i := range rows {
		rows[i] = "  " + oneLine(strings.TrimPrefix(rows[i], "  "))
	}
	_, err := fmt.Fprint(p.out, wrapRows(rows, columnsOf(p.out)))
	return err
}

func dayTitle(r *gameday.Result) string {
	text := fmt.Sprintf("game day %s: %s", r.Day, playedOn(r))
	if len(r.Mistakes) > 0 {
		text += ", mistakes " + strings.Join(r.Mistakes, ", ")
	}
	return oneLine(text + fmt.Sprintf(", %s, run %s", moment(r.Lasted), r.Ending) + whoseFigures(r))
}

func playedOn(r *gameday.Result) string {
	switch {
	case r.Target != "":
		return fmt.Sprintf("target %s, runbook %s", r.Target, r.Runbook)
	case r.Past:
		return "one's own past, runbook " + r.Runbook
	}
	return fmt.Sprintf("scenario %s, runbook %s, seed %d", r.Scenario, r.Runbook, r.Seed)
}

// whoseFigures says what the figures of a play are worth, unless they are of real servers.
func whoseFigures(r *gameday.Result) string {
	switch {
	case r.Modelled:
		return " (every figure is a model's)"
	case r.Past:
		return " (the metrics are of the past, which no flip changes)"
	}
	return ""
}

// verdictRows tell of one expectation, and of one that did not come true what was read.
func verdictRows(file string, v gameday.Verdict) []string {
	switch {
	case v.Held && v.Breaks:
		return []string{fmt.Sprintf("  NOT BROKEN  %s, which the mistake is to break: %s (%s:%d)", v.Name, v.Why,
			file, v.Line)}
	case v.Held:
		return []string{fmt.Sprintf("  ok      %s: %s", v.Name, v.Why)}
	}
	word, as := "BROKEN", ""
	if v.Breaks {
		word, as = "broken", ", as the mistake must"
	}
	rows := []string{fmt.Sprintf("  %s  %s%s: %s (%s:%d)", word, v.Name, as, v.Why, file, v.Line)}
	for _, reading := range v.Readings {
		rows = append(rows, "          "+reading)
	}
	return rows
}

func moment(seconds float64) string {
	return time.Duration(seconds * float64(time.Second)).Round(100 * time.Millisecond).String()
}

func scoresText(scores []gameday.Score) string {
	var list []string
	for _, s := range scores {
		if s.Value != nil {
			list = append(list, s.Name+" "+scoreText(s))
		}
	}
	return strings.Join(list, ", ")
}

// scoreText writes a figure as people read it; its name may be its unit.
func scoreText(s gameday.Score) string {
	switch v := *s.Value; {
	case s.Unit == "s":
		return moment(v)
	case s.Unit == s.Name || strings.HasSuffix(s.Name, "-"+s.Unit):
		return runbook.FormatQuantity(math.Round(v), "")
	case math.Round(v) == 1:
		return runbook.FormatQuantity(1, strings.TrimSuffix(s.Unit, "s"))
	default:
		return runbook.FormatQuantity(math.Round(v), s.Unit)
	}
}
