package cli

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// clockwork is a clock that is set, which waits for nobody.
type clockwork struct{ now time.Time }

func (c *clockwork) Now() time.Time                              { return c.now }
func (c *clockwork) Wait(ctx context.Context, _ time.Time) error { return ctx.Err() }
func (c *clockwork) Deadline(ctx context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

// TestSignalsAreAskedOnce: what they say when the question appears is written down, once; while they cannot be asked
// they are asked again, and that is written down once too. What comes when nobody is asked any more is dropped.
func TestSignalsAreAskedOnce(t *testing.T) {
	modes := steps.Question{Step: "declare", Asks: "Which?", Modes: true}
	d, m, _ := attended(t, modes)
	now := &clockwork{time.Date(2026, 11, 29, 10, 8, 0, 0, time.UTC)}
	d.clock = now
	answers := make(chan seenSigns, 1)
	asked := 0
	d.looking.look = func(context.Context) seenSigns { asked++; return <-answers }
	look := func(after time.Duration, q steps.Question, answer *seenSigns) {
		t.Helper()
		now.now = now.now.Add(after)
		d.lookAtSignals(context.Background(), q)
		if answer == nil {
			return
		}
		answers <- *answer
		for !d.mail.waits() {
			time.Sleep(time.Millisecond)
		}
		if err := d.deliver(); err != nil {
			t.Fatal(err)
		}
	}
	silent, clear := cannotSay("connection refused"), seenSigns{text: "the signals speak for cell-loss",
		diagnosis: steps.Diagnosis{Signs: []steps.ModeSign{{Mode: "cell-loss", Verdict: "likely", Reason: "a cell was built up from empty"}}}}
	look(0, approval, nil)
	look(0, modes, &silent)
	look(time.Second, modes, nil)
	look(lookAgain, modes, &silent)
	look(lookAgain, modes, &clear)
	look(lookAgain, modes, nil)
	if asked != 3 || len(m.orders) != 2 {
		t.Fatalf("asked %d times, and noted %v", asked, m.orders)
	}
	for i, want := range []string{silent.text, clear.text} {
		if o := m.orders[i]; o.Kind != steps.OrderNote || o.By != "rewarm" || o.Text != want || o.Diagnosis == nil {
			t.Errorf("noted %+v, want %q", o, want)
		}
	}
	d.looking = looking{look: d.looking.look}
	look(0, modes, nil)
	d.asked.question = approval
	answers <- clear
	for !d.mail.waits() {
		time.Sleep(time.Millisecond)
	}
	if err := d.deliver(); err != nil || len(m.orders) != 2 {
		t.Errorf("%v; noted after the answer: %v", err, m.orders)
	}
}

// TestSignalsOfTheLab: what a walk says is what diagnose says, mode by mode; a Prometheus that does not answer says nothing.
func TestSignalsOfTheLab(t *testing.T) {
	scenario := lab.CaseStudy()
	l, err := lab.New(lab.Options{Seed: scenario.Seed, Scenario: &scenario, Start: dayOfTrials.Add(scenario.Start)})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Clock().Wait(context.Background(), l.Clock().Now().Add(collapseAfter)); err != nil {
		t.Fatal(err)
	}
	poller, err := probes.NewPoller(probes.Options{URL: labURL, Transport: l.Transport()}, l.Clock())
	if err != nil {
		t.Fatal(err)
	}
	doc, err := newProgram(nil, io.Discard, io.Discard, thisMachine()).openBook(scenario.Runbook)
	if err != nil {
		t.Fatal(err)
	}
	seen := looksAt(doc, poller)(context.Background())
	if len(seen.diagnosis.Signs) != len(runbook.Modes) || !strings.Contains(seen.text, "cell-loss") {
		t.Fatalf("it says %+v", seen)
	}
	for _, sign := range seen.diagnosis.Signs {
		if sign.Reason == "" || sign.Mode == "cell-loss" && sign.Verdict != "likely" {
			t.Errorf("it says %+v", sign)
		}
	}
	away, err := probes.NewPoller(probes.Options{URL: "http://127.0.0.1:1"}, wallClock{})
	if err != nil {
		t.Fatal(err)
	}
	if seen := looksAt(doc, away)(context.Background()); len(seen.diagnosis.Signs) > 0 || !strings.HasPrefix(seen.text, "the signals cannot say which mode it is: ") {
		t.Errorf("of nothing it says %+v", seen)
	}
}
