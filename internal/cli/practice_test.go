package cli

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/rewarm/rewarm/internal/gameday"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// What a person reads at the end of a practice, made from two results: a line is of you or of the script, and gives a
// score, a deed (seconds, order, what it is about, text), a wait (seconds, step), declared modes or an expectation that was broken.
func TestPracticeText(t *testing.T) {
	datadriven.RunTest(t, "testdata/practice", func(t *testing.T, d *datadriven.TestData) string {
		var name string
		var columns int
		d.ScanArgs(t, "day", &name)
		d.ScanArgs(t, "columns", &columns)
		day, err := (&program{}).openDay(name, "")
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		results := map[string]*gameday.Result{"you": plainResult(day), "script": plainResult(day)}
		for line := range strings.Lines(d.Input) {
			who, told, _ := strings.Cut(strings.TrimSpace(line), " ")
			if err := tell(results[who], told); err != nil {
				d.Fatalf(t, "%s: %v", line, err)
			}
		}
		c := comparedPlay{day.Compare(results["you"], results["script"]), day.File, "RUN", "rewarm gameday run " + name}
		return practiceText(c, columns)
	})
}

// Every bundled day that a person can practise is walked by a runbook that tells neither its name nor where it is from,
// and has its lines where the real one has them.
func TestBundledDaysAreDisguised(t *testing.T) {
	p := &program{}
	practised := 0
	for _, name := range bundledDays() {
		day, err := p.openDay(name, "")
		if err != nil {
			t.Fatal(err)
		}
		if practicable(day) != nil {
			continue
		}
		practised++
		doc, err := disguised(day.Book)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if strings.Contains(string(doc.Source), "name: "+day.Book.Name+"\n") || comments.Match(doc.Source) {
			t.Errorf("%s: the runbook tells that it is %s", name, day.Book.Name)
		}
		for step := range day.Book.Steps() {
			if hidden := doc.Step(step.Name); hidden == nil || hidden.Pos != step.Pos {
				t.Errorf("%s: step %s is lost or stands elsewhere", name, step.Name)
			}
		}
	}
	if practised < 25 {
		t.Errorf("%d days can be practised", practised)
	}
}

// plainResult is of a day on which everything was expected to hold, and did.
func plainResult(day *gameday.Day) *gameday.Result {
	r := &gameday.Result{Seed: day.Story.Seed, Scenario: day.Story.Name, Runbook: day.Runbook, Modelled: true, Ending: "closed", Lasted: 300}
	for _, s := range runbook.DayScores {
		r.Scores = append(r.Scores, gameday.Score{Name: s.Name, Unit: s.Unit})
	}
	for _, e := range day.Expect {
		r.Verdicts = append(r.Verdicts, gameday.Verdict{Name: e.Name, Held: true, Why: "came true after 1m0s", Line: e.Pos.Line})
	}
	return r
}

func tell(r *gameday.Result, line string) error {
	words := strings.Fields(line)
	switch {
	case r == nil || len(words) < 2:
		return fmt.Errorf("neither of you nor of the script")
	case words[0] == "deed" && len(words) > 3:
		at, err := strconv.ParseFloat(words[1], 64)
		d := gameday.Deed{Seconds: at, Deed: steps.OrderKind(words[2]), About: words[3], Text: strings.Join(words[4:], " ")}
		r.Deeds = append(r.Deeds, d)
		return err
	case words[0] == "declared" && len(words) > 2:
		at, err := strconv.ParseFloat(words[1], 64)
		d := gameday.Deed{Seconds: at, Deed: steps.OrderAnswer, About: "declare"}
		for _, mode := range words[2:] {
			d.Modes = append(d.Modes, runbook.Mode(mode))
		}
		r.Deeds = append(r.Deeds, d)
		return err
	case words[0] == "wait" && len(words) == 3:
		seconds, err := strconv.ParseFloat(words[1], 64)
		r.Waits = append(r.Waits, gameday.Wait{Step: words[2], Seconds: seconds})
		return err
	case words[0] == "ending":
		r.Ending = words[1]
		return nil
	case words[0] == "broke":
		for i, v := range r.Verdicts {
			if v.Name == strings.Join(words[1:], " ") {
				r.Verdicts[i].Held, r.Verdicts[i].Why = false, "was not true after 4m0s"
				r.Verdicts[i].Readings = []string{"fail: score left 3 controls != 0 controls"}
				return nil
			}
		}
		return fmt.Errorf("the day expects no such thing")
	}
	for i, s := range r.Scores {
		if s.Name == words[0] {
			v, err := strconv.ParseFloat(words[1], 64)
			r.Scores[i].Value = &v
			return err
		}
	}
	return fmt.Errorf("no score %s", words[0])
}
