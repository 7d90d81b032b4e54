package evidence

import (
	"cmp"
	"strings"
	"time"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// tally collects figures record by record.
type tally struct {
	f       *Figures
	state   *steps.State
	ledger  ledger
	intents map[string]entry // by digest
	open    map[string]int   // hold's cause: index in Holds
	begunAt map[string]int64 // the same: run time
	probes  map[string]int   // index in Probes
	blind   map[string]bool
	seen    map[string]steps.GateSeen // by the gate's name: as last observed
	by      map[string]string         // by digest: who approved an intent
	asked   map[string]string         // by step: the question to a person
	courses []course                  // by the index in Probes
	worst   *worstOf
}

func newTally() *tally {
	return &tally{
		f: &Figures{Format: FiguresFormat, Flips: []FlipFigure{}, Decisions: []Decision{}, Holds: []Hold{},
			NeverLifted: []Left{}},
		ledger:  newLedger(),
		intents: map[string]entry{}, open: map[string]int{}, begunAt: map[string]int64{}, probes: map[string]int{},
		blind: map[string]bool{},
		seen:  map[string]steps.GateSeen{}, by: map[string]string{}, asked: map[string]string{},
	}
}

// take is called with the state behind the record.
func (t *tally) take(e entry, s *steps.State) error {
	t.state = s
	t.ledger.take(e, s)
	switch b := e.body.(type) {
	case *steps.Begun:
		t.begun(e, b, s.Doc)
	case *steps.Resumed:
		t.f.Processes = append(t.f.Processes, Process{Seq: e.Seq, At: e.At, T: e.T, Host: b.Host, PID: b.PID, User: b.User,
			Version: b.Version})
	case *steps.StageBody:
		t.stage(e, b)
	case *steps.Observed:
		t.observed(b, s.Doc)
		t.watched(b)
	case *steps.Intended:
		t.intents[b.Digest], t.by[b.Digest] = e, t.approvers(b)
		t.released(e, b)
	case *steps.Settled:
		t.settled(e, b)
	case *steps.Judged:
		t.judged(e, b)
	case *steps.Held:
		t.held(e, b)
	case *steps.Recovered:
		t.recovered(e, b)
	case *steps.Ended:
		t.f.Reason = b.Reason
	default:
		t.words(e)
	}
	return nil
}

func (t *tally) begun(e entry, b *steps.Begun, doc *runbook.Document) {
	f := t.f
	f.Run, f.Service, f.Runbook, f.SHA256, f.Parameters = b.Run, b.Service, doc.Name, b.SHA256, b.Parameters
	f.Lab, f.Past, f.Prometheus, f.Redis, f.Began = b.Lab, b.Past, b.Prometheus, b.Redis, e.At
	f.WithinMS = doc.RecoverWithin.Milliseconds()
	t.worst = newWorstOf(doc.Exit.When)
	walker := Process{Seq: e.Seq, At: e.At, T: e.T, Host: b.Host, PID: b.PID, User: b.User, Version: b.Version}
	if b.Over != nil {
		walker.Over = b.Over.Run
	}
	f.Processes = append(f.Processes, walker)
	for _, figure := range doc.Figures {
		f.References = append(f.References, Reference{figure.Name, figure.Value, figure.Unit, figure.Measured})
	}
	for i := range doc.Controls {
		c := &doc.Controls[i]
		f.Steady = append(f.Steady, Steady{c.Name, c.Format(c.Steady)})
	}
	for i := range doc.Probes {
		p := &doc.Probes[i]
		t.probes[p.Name] = i
		t.courses = append(t.courses, course{every: 1})
		f.Probes = append(f.Probes, ProbeFigure{Probe: p.Name, Unit: p.Unit, Query: p.Query, Points: []Sample{}})
	}
}

// stage notes where the walk went on, and when the protecting stages are done: at the first stage behind them.
func (t *tally) stage(e entry, b *steps.StageBody) {
	text := b.Stage + " entered"
	if b.Skip != "" {
		text = b.Stage + " passed over: " + b.Skip
	}
	t.f.Stages = append(t.f.Stages, Moment{Seq: e.Seq, At: e.At, T: e.T, Text: text})
	stage, known := runbook.ParseStage(b.Stage)
	if known && !stage.Protects() && t.f.ProtectedMS == 0 {
		t.f.ProtectedMS = e.T
	}
}

func (t *tally) observed(b *steps.Observed, doc *runbook.Document) {
	for i := range b.Answers {
		a := &b.Answers[i]
		index, known := t.probes[a.Ask.Probe]
		if !known {
			continue
		}
		if a.Reason != "" || a.Count == 0 {
			t.f.Probes[index].Unknown++
			continue
		}
		p := pointOf(a)
		t.worst.see(&t.f.Probes[index], &p)
		t.courses[index].add(p)
	}
}

func byWhom(m *probes.Manual) string {
	if m == nil {
		return ""
	}
	return m.By
}

func (t *tally) settled(e entry, b *steps.Settled) {
	f := FlipFigure{
		Seq: e.Seq, At: e.At, T: e.T, Stage: t.stageOf(b.Target.Step), Step: b.Target.Step, Control: b.Target.Control,
		After: b.After, Direction: string(b.Plan.Direction), Purpose: string(b.Target.Purpose), Result: string(b.Result),
		Version: b.Version, Digest: b.Digest, Approved: t.by[b.Digest],
	}
	f.Before = shownRaw(b.Plan.Before)
	if intent, ok := t.intents[b.Digest]; ok {
		body := intent.body.(*steps.Intended)
		f.Before, f.After, f.Blind, f.TookMS = body.Before, body.After, body.Blind, e.T-intent.T
	}
	if f.Blind && !t.blind[f.Step] {
		t.blind[f.Step] = true
		t.f.Blind = append(t.f.Blind, f.Step)
	}
	t.f.Flips = append(t.f.Flips, f)
}

func (t *tally) stageOf(step string) string {
	if s := t.state.Doc.Step(step); s != nil {
		return s.Stage.String()
	}
	return stageName(t.state)
}

func shownRaw(raw *string) string {
	if raw == nil {
		return "absent"
	}
	return *raw
}

func (t *tally) judged(e entry, b *steps.Judged) {
	t.f.Decisions = append(t.f.Decisions, Decision{Seq: e.Seq, At: e.At, T: e.T, Step: b.Step, Gate: b.Gate,
		Verdict:  b.Verdict,
		Decision: string(b.Decision), Readings: readings(b.Findings)})
}

func readings(findings []probes.Finding) []string {
	var list []string
	for _, f := range findings {
		text := f.Verdict.String() + ": " + f.Sentence
		for _, note := range f.Notes {
			text += " [" + note + "]"
		}
		list = append(list, text)
	}
	return list
}

func (t *tally) held(e entry, b *steps.Held) {
	if !b.Lifted {
		t.open[b.Cause], t.begunAt[b.Cause] = len(t.f.Holds), e.T
		t.f.Holds = append(t.f.Holds, Hold{Seq: e.Seq, At: e.At, T: e.T, Cause: b.Cause, Sentence: b.Sentence, By: b.By})
		return
	}
	if index, open := t.open[b.Cause]; open {
		hold := &t.f.Holds[index]
		hold.Lifted, hold.LastedMS = true, e.T-t.begunAt[b.Cause]
		hold.LiftedIn = &Moment{Seq: e.Seq, At: e.At, T: e.T, Who: b.By, Text: b.Sentence}
		delete(t.open, b.Cause)
	}
}

// words keeps what people said and what is best told in words.
func (t *tally) words(e entry) {
	add := func(list *[]Moment, who string, parts ...string) {
		var said []string
		for _, part := range parts {
			if part != "" {
				said = append(said, part)
			}
		}
		*list = append(*list, Moment{Seq: e.Seq, At: e.At, T: e.T, Who: who, Text: strings.Join(said, " ")})
	}
	switch b := e.body.(type) {
	case *steps.ManualBody:
		add(&t.f.Readings, b.By, readingWords(b)...)
	case *steps.Noted:
		add(&t.f.Said, b.By, b.Text)
	case *steps.OrderedBody:
		if b.Moot != "" {
			add(&t.f.Said, "", string(b.Order), b.Step, "that "+b.By+" ordered is not made any more:", b.Moot)
			return
		}
		add(&t.f.Said, b.By, string(b.Order), b.Step, b.Reason)
	case *steps.ConfirmedBody:
		t.asked[b.Step] = cmp.Or(b.Ask, t.asked[b.Step])
		if !b.Answered {
			return
		}
		by := cmp.Or(b.By, "nobody answered")
		add(&t.f.Said, by, b.Step+":", b.Answer)
		if step := t.state.Doc.Step(b.Step); step != nil && step.Stage == runbook.Reconcile {
			add(&t.f.Afterwards, by, t.asked[b.Step], "“"+b.Answer+"”")
		}
	case *steps.Skipped:
		add(&t.f.Skips, b.By, b.Step+":", b.Reason)
	case *steps.Guarded:
		if b.Breached {
			add(&t.f.Guards, "", b.Guard, "is breached:", b.Action)
		} else {
			add(&t.f.Guards, "", b.Guard, "is not breached any more")
		}
	case *steps.Drifted:
		add(&t.f.Drifts, "", b.Control, "from", shownRaw(b.Expected), "to", shownRaw(b.Found)+":", string(b.Decision))
	case *steps.Called:
		if !b.Finished && !b.Undo && !b.Instead {
			t.went(e, b.Step, "go, call")
		}
		if b.Finished {
			add(&t.f.Calls, "", b.Step+":", strings.Join(b.Command, " "),
				map[bool]string{true: "ended well", false: "FAILED"}[b.OK], b.Error)
		}
	}
}

// readingWords tell of a reading by hand, or of a second person's word for it.
func readingWords(b *steps.ManualBody) []string {
	rung := ""
	if b.Ask.From+b.Ask.To != "" {
		rung = "from " + b.Ask.From + " to " + b.Ask.To
	}
	what := []string{b.Ask.Probe, rung, b.Value, b.Unit, "until", utc(b.Until) + ",", "read from", b.Source}
	if b.Confirms != "" {
		return append([]string{"confirms the reading BY HAND of", b.Confirms + ":"}, what...)
	}
	return append([]string{"reading BY HAND:"}, what...)
}

// done closes the books.
func (t *tally) done() *Figures {
	f, s := t.f, t.state
	f.Records, f.LastAt, f.Modes = s.Seq, s.LastAt, s.Modes
	f.State = "open"
	if s.Ending == steps.EndedClosed || s.Ending == steps.EndedAborted {
		f.State = string(s.Ending)
	}
	f.TotalMS = t.ledger.last
	f.Ledger = t.ledger.stages()
	f.Worst = t.worst.list()
	for i := range t.courses {
		f.Probes[i].Points = t.courses[i].points()
	}
	for cause, index := range t.open {
		f.Holds[index].LastedMS = t.ledger.last - t.begunAt[cause]
	}
	for _, o := range s.Overrides() {
		f.NeverLifted = append(f.NeverLifted, Left{Control: o.Control, Value: o.Value, Steady: o.Steady,
			Since: o.Since.UTC(), By: o.By})
	}
	for _, h := range s.DoneByHand() {
		f.ByHand = append(f.ByHand, h.String())
	}
	return f
}

// utc is a time for people.
func utc(at time.Time) string { return at.UTC().Format("2006-01-02 15:04:05Z") }
