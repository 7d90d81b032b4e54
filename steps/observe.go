package steps

import (
	"context"
	"encoding/json"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// serverNow is the time on the clock of Prometheus, as far as it is known.
func (m *Machine) serverNow() time.Time { return m.c.Clock.Now().Add(m.state.offset) }

// poll asks the probes and reads the controls, and writes both down.
func (m *Machine) poll(ctx context.Context, v Poll) error {
	o := m.c.Prober.Poll(ctx, m.c.Doc, v.Asks, v.Version)
	changed, down := m.readControls(ctx)
	body := &Observed{At: o.At, OffsetMS: o.Offset.Milliseconds(), Answers: o.Answers, Propagation: o.Propagation,
		Controls: changed, Redis: down, Gates: m.seen(o)}
	for _, part := range split(body) {
		if err := m.write(KindObserved, part, false); err != nil {
			return err
		}
	}
	return nil
}

// readControls gives the raw values that are not what the state knows, and why Redis
// could not be read.
func (m *Machine) readControls(ctx context.Context) (map[string]*string, string) {
	all := make([]*runbook.Control, len(m.c.Doc.Controls))
	for i := range m.c.Doc.Controls {
		all[i] = &m.c.Doc.Controls[i]
	}
	ctx, cancel := m.c.Clock.Deadline(ctx, exchangeLimit)
	defer cancel()
	read, err := m.c.Controls.Read(ctx, all)
	if err != nil {
		return nil, audit.Cut(err.Error(), 512)
	}
	changed := map[string]*string{}
	for _, c := range all {
		known := m.state.Control(c.Name)
		if raw := read[c.Name].Raw; !known.Known || !equalRaw(known.Raw, raw) {
			changed[c.Name] = raw
		}
	}
	return changed, ""
}

// seen gives the verdict of every watching gate on a poll that is not folded yet.
func (m *Machine) seen(o probes.Observation) []GateSeen {
	p := &poll{at: o.At, seenAt: m.c.Clock.Now(), answers: map[probes.Ask]*probes.Answer{}}
	for i := range o.Answers {
		p.answers[o.Answers[i].Ask] = &o.Answers[i]
	}
	var list []GateSeen
	for _, w := range m.state.watches() {
		asks := probes.Asks(m.state.Doc, w.Gate, w.From, w.To)
		if !p.has(asks) {
			continue
		}
		t := *m.state.track(w)
		m.state.count(&t, w, asks, p)
		list = append(list, GateSeen{Gate: w.ID, Verdict: t.last.Verdict.String(), Passes: t.passes, Of: w.Passes, Findings: t.last.Findings})
	}
	return list
}

// split cuts a poll into parts that fit into one record each.
func split(o *Observed) []*Observed {
	parts := []*Observed{o}
	if size(o) <= audit.MaxBody {
		return parts
	}
	first := *o
	first.Answers, first.Gates = nil, nil
	parts = []*Observed{&first}
	room := audit.MaxBody - size(&first)
	part := func(n int) *Observed {
		if n > room {
			next := &Observed{At: o.At, OffsetMS: o.OffsetMS, Redis: o.Redis}
			parts = append(parts, next)
			room = audit.MaxBody - size(next)
		}
		room -= n
		return parts[len(parts)-1]
	}
	for _, a := range o.Answers {
		p := part(size(a) + 1)
		p.Answers = append(p.Answers, a)
	}
	for _, g := range o.Gates {
		p := part(size(g) + 1)
		p.Gates = append(p.Gates, g)
	}
	for _, p := range parts[:len(parts)-1] {
		p.More = true
	}
	return parts
}

// size is the length of a body in the log. A body that cannot be written is reported
// when it is written.
func size(body any) int {
	b, err := json.Marshal(body)
	if err != nil {
		return 0
	}
	return len(b) + 32
}
