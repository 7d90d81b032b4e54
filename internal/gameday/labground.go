package gameday

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// labGround is the lab, with what stands between it and the tools.
type labGround struct {
	w       *world
	lab     *lab.Lab
	metrics *prometheus
	line    *redisLine
	runs    map[string]*labRun
	copies  []replica // of Redis, oldest first; only while a failover is to come
}

// labURL is the address of a lab in this process; its host does not matter.
const labURL = "http://lab"

// dayOfPlays is the day on which plays are, so that two of them are equal.
var dayOfPlays = time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)

// newLabGround starts the lab, whose time is then that of the day.
func newLabGround(w *world) (*labGround, error) {
	story := w.day.Story
	date := dayOfPlays
	if !w.options.Date.IsZero() {
		date = w.options.Date
	}
	l, err := lab.New(lab.Options{Seed: w.options.Seed, Scenario: story, Start: date.Add(story.Start)})
	if err != nil {
		return nil, fmt.Errorf("the lab: %w", err)
	}
	w.clock = l.Clock()
	g := &labGround{w: w, lab: l, runs: map[string]*labRun{}, line: &redisLine{lab: l, open: map[net.Conn]bool{}}}
	g.metrics = &prometheus{source: l.Transport(), freeze: l.Frozen, clock: w.clock}
	if past := w.day.past; past != nil {
		began := w.clock.Now()
		g.metrics.source = past.Transport(began, time.Time{}, w.clock.Now)
		g.metrics.freeze = func() http.RoundTripper { return past.Transport(began, w.clock.Now(), w.clock.Now) }
	}
	return g, nil
}

func (g *labGround) close() {
	for _, run := range g.runs {
		_ = run.journal.Close()
	}
	g.lab.Close()
}

// prober opens the way to the metrics that a run takes, and that the day may cut.
func (g *labGround) prober() (*probes.Poller, error) {
	return probes.NewPoller(probes.Options{URL: labURL, Transport: g.metrics}, g.w.clock)
}

func (g *labGround) witness() (*probes.Poller, error) {
	return probes.NewPoller(probes.Options{URL: labURL, Transport: g.metrics.source}, g.w.clock)
}

func (g *labGround) store() (*actions.Store, error) {
	return actions.Open(actions.Options{URL: "redis://lab:6379", Dial: g.line.dial, Service: g.service(),
		Clock: g.w.clock})
}

func (g *labGround) service() string { return g.w.day.Book.Service }

// call has the lab answer a call; nothing is executed.
func (g *labGround) call(c steps.CallRequest, answer func(steps.CallDone)) {
	words := c.Do.Args
	if len(words) == 0 {
		words = []string{c.Do.Method, c.Do.URL}
	}
	answer(steps.CallDone{Step: c.Step, Undo: c.Undo, Instead: c.Instead, OK: true, Output: g.lab.Call(words...)})
}

// figures are those of the lab's service, which on a day with a past is not the one of the day.
func (g *labGround) figures() (lab.Figures, bool) { return g.lab.Figures(), g.w.day.past == nil }

func (g *labGround) second(context.Context) error {
	g.keepReplica()
	return nil
}

// befall lets the lab, its Redis or its Prometheus suffer something.
func (g *labGround) befall(h *runbook.Happening, fault lab.Event) (outcome, detail string) {
	until := g.w.clock.Now().Add(h.For)
	switch h.Event {
	case runbook.PrometheusAway, runbook.PrometheusStale, runbook.PrometheusPartial:
		g.metrics.fail(h.Event, until)
	case runbook.RedisAway:
		g.line.sever(true)
		g.w.later(h.For, func() { g.line.sever(false) })
	case runbook.RedisRefuses:
		g.lab.RefuseWrites(h.With)
		g.w.later(h.For, func() { g.lab.RefuseWrites("") })
	case runbook.RedisFailover:
		g.failOver(h.For)
	case runbook.EditControl:
		return "done", g.edit(h.Control, h.To)
	case runbook.RestoreAll:
		return "done", g.restoreAll()
	default:
		g.lab.Happen(fault)
	}
	return "done", ""
}

// edit writes a control past every run, and says what it was.
func (g *labGround) edit(c *runbook.Control, to *runbook.Value) string {
	before, set := g.lab.Control(g.service(), c.Name)
	if !set {
		before = "absent"
	}
	if to == nil {
		g.lab.Edit(g.service(), c.Name, nil)
		return c.Name + " " + before + " -> absent"
	}
	raw := actions.Encode(*to)
	g.lab.Edit(g.service(), c.Name, &raw)
	return c.Name + " " + before + " -> " + raw
}

// restoreAll writes the steady value of every control that has another.
func (g *labGround) restoreAll() string {
	written := 0
	for i := range g.w.day.Book.Controls {
		c := &g.w.day.Book.Controls[i]
		if v, ok := g.value(c); !ok || !v.Equal(c.Steady) {
			g.edit(c, &c.Steady)
			written++
		}
	}
	if written == 1 {
		return "1 control"
	}
	return fmt.Sprintf("%d controls at once", written)
}

func (g *labGround) value(c *runbook.Control) (runbook.Value, bool) {
	raw, set := g.lab.Control(g.service(), c.Name)
	if !set {
		return c.Absent, true
	}
	v, err := actions.Decode(c, raw)
	return v, err == nil
}

// replica is what a replica of Redis has at a time.
type replica struct {
	at       time.Time
	failOver func()
}

// keepReplica keeps a copy of Redis a second, as long ago as a failover of the day reaches.
func (g *labGround) keepReplica() {
	if g.w.losing == 0 {
		return
	}
	now := g.w.clock.Now()
	g.copies = append(g.copies, replica{now, g.lab.Replica()})
	for len(g.copies) > 1 && !g.copies[1].at.Add(g.w.losing).After(now) {
		g.copies = g.copies[1:]
	}
}

// failOver lets a replica take over that lacks what was written in the last time.
func (g *labGround) failOver(lost time.Duration) {
	now := g.w.clock.Now()
	for _, c := range slices.Backward(g.copies) {
		if now.Sub(c.at) >= lost {
			g.line.sever(true)
			c.failOver()
			g.line.sever(false)
			return
		}
	}
}
