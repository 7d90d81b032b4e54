package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rewarm/rewarm/internal/gameday"
	"github.com/rewarm/rewarm/runbook"
)

// comparedPlay is the last line of a practice with --output json, and what is kept beside its log.
type comparedPlay struct {
	*gameday.Comparison
	File   string `json:"file"`
	Run    string `json:"run"`
	Replay string `json:"replay"` // the command that plays the script
}

// showPractice prints what a person did beside what the script does, and where the log of it is.
func (p *program) showPractice(c comparedPlay, w *walk) error {
	if p.settings.json() {
		return p.encode(c)
	}
	_, err := fmt.Fprintf(p.out, "\n%slog: %s\nnext: %s\n",
		practiceText(c, columnsOf(p.out)), oneLine(w.log.Path()), p.command("audit show", c.Run))
	return err
}

// practiceText is what a person reads at the end of a practice.
func practiceText(c comparedPlay, columns int) string {
	rows := slices.Concat(broke(c.Comparison), besideRows(c.Comparison), explained(c.Comparison), wrongRows(c.Wrong),
		waitRows(c.Waits), practiceVerdicts(c))
	rows = append(rows, "  script  "+c.Replay)
	for i := range rows {
		rows[i] = "  " + oneLine(strings.TrimPrefix(rows[i], "  "))
	}
	title := fmt.Sprintf("this was game day %s: %s%s", c.Day, playedOn(c.Script), whoseFigures(c.Script))
	return wrap(oneLine(title), columns, 2) + "\n" + wrapRows(rows, columns)
}

// broke tells what was hidden.
func broke(c *gameday.Comparison) []string {
	rows := []string{"  the day   " + c.About}
	if c.Broke != "" {
		rows = append(rows, "  it broke  "+c.Broke)
	}
	if c.Lesson != "" {
		rows = append(rows, "  lesson    "+c.Lesson)
	}
	return rows
}

// beside is a row of the table: a figure of the person and of the script.
func beside(name, person, script string) string {
	return fmt.Sprintf("  %-14s  %-28s  %s", name, person, script)
}

func besideRows(c *gameday.Comparison) []string {
	rows := []string{
		beside("", "you", "the script"),
		beside("modes", modesBeside(c, c.Person), modesBeside(c, c.Script)),
	}
	for _, s := range runbook.DayScores {
		person, script := scoreOfResult(c.Person, s.Name), scoreOfResult(c.Script, s.Name)
		if person != never || script != never {
			rows = append(rows, beside(s.Name, person, script))
		}
		if s.Name == "words" && person != never {
			rows = append(rows, beside("time per word", answeredIn(c.Person), answeredIn(c.Script)))
		}
	}
	wrong := "none"
	if len(c.Wrong) > 0 {
		wrong = fmt.Sprintf("%d, the first after %s", len(c.Wrong), moment(c.Wrong[0].Seconds))
	}
	return append(rows, beside("wrong moves", wrong, "none"), beside("run", endOf(c.Person), endOf(c.Script)))
}

// modesBeside names what was declared, and whether that was right.
func modesBeside(c *gameday.Comparison, r *gameday.Result) string {
	var names []string
	for _, mode := range r.Declared() {
		names = append(names, string(mode))
	}
	text, right := strings.Join(names, ", "), c.DeclaredRight(r)
	switch {
	case text != "" && c.Modes == nil:
		return text
	case text == "" && right && c.Modes != nil:
		return "none, right"
	case text == "":
		return "none declared"
	case right:
		return text + ", right"
	}
	return text + ", WRONG"
}

// never is a figure that has not come.
const never = "never"

func scoreOfResult(r *gameday.Result, name string) string {
	for _, s := range r.Scores {
		if s.Name == name && s.Value != nil {
			return scoreText(s)
		}
	}
	return never
}

func answeredIn(r *gameday.Result) string {
	if seconds, known := r.Answered(); known {
		return moment(seconds)
	}
	return never
}

// endOf is how the run stands. Where it has not ended the day has gone no further.
func endOf(r *gameday.Result) string {
	if r.Ending == "open" {
		return "open after " + moment(r.Lasted)
	}
	return r.Ending
}

// wrongRows tell each wrong move with what the runbook and the day say of it.
func wrongRows(moves []gameday.WrongMove) []string {
	var rows []string
	for _, m := range moves {
		rows = append(rows, fmt.Sprintf("  wrong   after %s: %s", moment(m.Seconds), m.What))
		for _, why := range m.Why {
			rows = append(rows, "          "+why)
		}
	}
	return rows
}

// explained says what those figures of the table are that are spans, and no times of the day.
func explained(c *gameday.Comparison) []string {
	var rows []string
	for _, s := range runbook.DayScores {
		if s.Span && (scoreOfResult(c.Person, s.Name) != never || scoreOfResult(c.Script, s.Name) != never) {
			rows = append(rows, "  "+s.Name+": "+s.About)
		}
	}
	return rows
}

// waitRows name the steps that waited longest for a person, with what the runbook says of them.
func waitRows(waits []gameday.LongWait) []string {
	var rows []string
	for _, w := range waits {
		rows = append(rows, fmt.Sprintf("  slow    %s waited %s for your word, %s for the script's", w.Step,
			moment(w.Seconds), moment(w.Script)))
		if w.Why != "" {
			rows = append(rows, "          "+w.Why)
		}
	}
	return rows
}

// practiceVerdicts are the expectations of the day: those that a person broke, with whether they came true for the
// script, and the names of the others.
func practiceVerdicts(c comparedPlay) []string {
	var rows, kept []string
	for i, v := range c.Person.Verdicts {
		if v.Held {
			kept = append(kept, v.Name)
			continue
		}
		row := verdictRows(c.File, v)
		if c.Script.Verdicts[i].Held {
			row[0] += "; it came true for the script"
		}
		rows = append(rows, row...)
	}
	if len(kept) > 0 {
		rows = append(rows, "  ok      "+strings.Join(kept, "; "))
	}
	return rows
}
