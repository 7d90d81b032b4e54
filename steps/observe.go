package steps

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// serverNow is the time on the clock of Prometheus, as far as it is known.
func (m *Machine) serverNow() time.Time { return m.c.Clock.Now().Add(m.state.offset) }

// poll asks the probes and reads the controls, and writes both down with the verdict
// of every gate that watches. The state takes the observation in first, so that each
// gate judges it once; what it keeps is what a fold of the records gives.
func (m *Machine) poll(ctx context.Context, v Poll) error {
	o := m.c.Prober.Poll(ctx, m.c.Doc, v.Asks, v.Version)
	body := &Observed{At: o.At, OffsetMS: o.Offset.Milliseconds(), Answers: answered(v.Asks, o),
		Propagation: o.Propagation}
	changed := m.readControls(ctx, body)
	if left := ctx.Err(); left != nil { // what was broken off is not an observation
		return left
	}
	m.state.replaceUnseen(body.Answers, m.c.Clock.Now())
	for i := range body.Answers {
		shortenAnswer(&body.Answers[i])
	}
	body.Controls, body.ControlsBase64 = changed.split()
	m.state.LastAt = m.c.Clock.Now()
	m.state.observed(body)
	body.Gates = m.state.gatesSeen()
	for i := range body.Gates {
		body.Gates[i].Findings = shortFindings(body.Gates[i].Findings)
	}
	return inParts(body, func(part *Observed) error {
		record, err := m.append(m.actor(), KindObserved, part, false)
		if err != nil {
			return err
		}
		m.state.observedAt(record)
		m.tell(record, part)
		return nil
	})
}

// inParts writes a poll as one record, or as several when the log says that it is too long for one.
func inParts(o *Observed, write func(*Observed) error) error {
	err := write(o)
	var long *audit.TooLongError
	if !errors.As(err, &long) {
		return err
	}
	for _, part := range split(o) {
		if err := write(part); err != nil {
			return err
		}
	}
	return nil
}

// answered gives the answers of an observation, and "not asked" for what is missing.
func answered(asks []probes.Ask, o probes.Observation) []probes.Answer {
	for _, ask := range asks {
		if o.Answer(ask) == nil {
			o.Answers = append(o.Answers, probes.Answer{Ask: ask, At: o.At, Reason: probes.NotAsked})
		}
	}
	return o.Answers
}

// observedAt gives the latest poll the time of its record.
func (s *State) observedAt(r audit.Record) {
	s.Seq, s.LastAt, s.lastPoll = r.Seq, r.At, r.At
	s.Broken = s.Broken || r.Emergency
	s.polls[len(s.polls)-1].seenAt = r.At
}

// readAll reads every control of the runbook in one exchange.
func (m *Machine) readAll(ctx context.Context) (map[string]actions.Live, error) {
	all := make([]*runbook.Control, len(m.c.Doc.Controls))
	for i := range m.c.Doc.Controls {
		all[i] = &m.c.Doc.Controls[i]
	}
	ctx, cancel := m.c.Clock.Deadline(ctx, exchangeLimit)
	defer cancel()
	return m.c.Controls.Read(ctx, all)
}

// readControls writes into the body what the controls are, or why they could not be read,
// and gives their raw values as seenIn does.
func (m *Machine) readControls(ctx context.Context, body *Observed) rawValues {
	read, err := m.readAll(ctx)
	if err != nil {
		body.Redis = audit.Cut(err.Error(), 512)
		return nil
	}
	return m.seenIn(read, body)
}

// seenIn gives the raw values that are not what the state knows, and writes into the
// body what Redis has lost or is to lose, and what other runs have left.
func (m *Machine) seenIn(read map[string]actions.Live, body *Observed) rawValues {
	changed := rawValues{}
	for name, live := range read {
		known := m.state.Control(name)
		if raw := kept(live.Raw); !known.Known || !equalRaw(known.Raw, raw) {
			changed[name] = raw
		}
		// It is of the hash, and the same for all.
		body.ExpiresMS = max(body.ExpiresMS, live.Expires.Milliseconds())
		if leftByReaders(m.c.Doc.Control(name), live) {
			body.Lapsed = append(body.Lapsed, name)
		}
	}
	slices.Sort(body.Lapsed)
	body.Lost, body.Returned, body.Left = m.state.lostOf(read), m.state.returnedOf(read), m.state.leftOf(read)
	if len(body.Lost) > 0 { // a record may be written long after
		body.LostAt = m.c.Clock.Now().Add(time.Duration(body.OffsetMS) * time.Millisecond).UTC()
	}
	return changed
}

// notice writes down what was read before a flip of the controls of this run and nobody knew of
// yet: Redis may be away before they are read again. It reports whether one was lost, for the
// flip may stand on that.
func (m *Machine) notice(read map[string]actions.Live) (lost bool, err error) {
	body := &Observed{At: m.serverNow(), OffsetMS: m.state.offset.Milliseconds()}
	changed := m.seenIn(read, body)
	lost = slices.ContainsFunc(body.Lost, func(name string) bool { return !slices.Contains(m.state.lost, name) })
	moved := false
	for name := range changed {
		moved = moved || m.state.Control(name).Ours
	}
	if !lost && !moved {
		return false, nil
	}
	return lost, m.writeSeen(body, changed)
}

// writeSeen writes down what was seen of the controls between two polls.
func (m *Machine) writeSeen(body *Observed, changed rawValues) error {
	body.Controls, body.ControlsBase64 = changed.split()
	return inParts(body, func(part *Observed) error { return m.write(KindObserved, part, true) })
}

// leftOf names the controls that are away from their steady value by another run's flip. What a hand has set since is
// drift, as it was or would have been for that run, unless the hand has lifted what the flip had put on.
func (s *State) leftOf(read map[string]actions.Live) (left []Left) {
	for i := range s.Doc.Controls {
		c := &s.Doc.Controls[i]
		live := read[c.Name]
		if live.Meta == nil || live.Meta.Since == 0 || s.liftedByHand(c, live) || s.Control(c.Name).Ours || s.openIntent(c.Name) != nil {
			continue
		}
		l := Left{Control: c.Name, Run: audit.Cut(live.Meta.Run, 128), Since: time.UnixMilli(live.Meta.Since).UTC()}
		if live.Edited {
			l.Edited, l.Wrote = true, kept(live.Meta.After)
		}
		if live.Meta.ReviewAt != 0 {
			l.ReviewAt = time.UnixMilli(live.Meta.ReviewAt).UTC()
		}
		left = append(left, l)
	}
	return left
}

// liftedByHand reports whether a hand has brought a control back to its steady value. Under the run that this one takes
// over from that held the releases, and it goes on to do so.
func (s *State) liftedByHand(c *runbook.Control, live actions.Live) bool {
	over := s.Begun.Over
	return live.Edited && live.Invalid == "" && live.Value.Equal(c.Steady) && (over == nil || over.Run != live.Meta.Run)
}

// lostOf names the controls of this run that are gone together with their meta, or with
// all the others, as after a restart without the data or when a time to live has ended; and
// those whose meta has gone back behind the last flip, as after a failover to a replica that
// had not seen it. A hand changes a value and leaves its meta.
func (s *State) lostOf(read map[string]actions.Live) (lost []string) {
	var deleted []string
	whole := true
	for i := range s.Doc.Controls {
		name := s.Doc.Controls[i].Name
		live, known := read[name], s.Control(name)
		whole = whole && live.Raw == nil
		switch {
		case !known.Ours:
		case known.Version > 0 && (live.Meta == nil || live.Meta.Version < known.Version):
			lost = append(lost, name)
		case equalRaw(kept(live.Raw), known.Expected):
		case live.Raw == nil && live.Meta == nil:
			lost = append(lost, name)
		case live.Raw == nil:
			deleted = append(deleted, name)
		}
	}
	if whole && len(lost)+len(deleted) > 1 { // of a single field nobody knows whether a hand has deleted it
		return append(lost, deleted...)
	}
	return lost
}

// returnedOf gives the controls of which Redis had lost a release and has an earlier flip of this run again: while it
// fails over a node can answer that lags far behind, and the next one has more. The meta tells it from a hand's edit.
func (s *State) returnedOf(read map[string]actions.Live) map[string]int64 {
	var returned map[string]int64
	for i := range s.Doc.Controls {
		name := s.Doc.Controls[i].Name
		live, known := read[name], s.Control(name)
		if !known.Reverted || live.Meta == nil || live.Edited || equalRaw(kept(live.Raw), known.Expected) {
			continue
		}
		if s.flipWith(name, live.Meta.Digest) != nil {
			returned = with(returned, name, live.Meta.Version)
		}
	}
	return returned
}

// flipWith finds a flip that this run has made of a control, nil when it made none with that digest.
func (s *State) flipWith(control, digest string) *FlipState {
	for _, f := range slices.Backward(s.flips) {
		if f.Plan.Control == control && f.Digest == digest && !f.Nothing {
			return f
		}
	}
	return nil
}

// gatesSeen gives the verdict of every gate that judged the latest poll.
func (s *State) gatesSeen() []GateSeen {
	var list []GateSeen
	latest := s.polls[len(s.polls)-1]
	for _, w := range s.watches() {
		seen := GateSeen{Gate: w.ID, Of: w.Passes}
		if w.ID == exitID {
			x := s.followExit()
			if x.latest != latest {
				continue
			}
			seen.Verdict, seen.Findings = x.last.Verdict.String(), x.last.judgement().Findings
			if x.passesNow {
				seen.Passes = 1
			}
		} else {
			t := s.track(w)
			if t.latest != latest && t.seen() {
				continue
			}
			seen.Verdict, seen.Passes, seen.Findings = t.last.Verdict.String(), t.passes, t.last.judgement().Findings
		}
		list = append(list, seen)
	}
	return list
}

// split cuts a poll into parts that fit into one record each.
func split(o *Observed) []*Observed {
	first := *o
	first.Answers, first.Gates, first.Controls, first.ControlsBase64, first.Left = nil, nil, nil, nil, nil
	s := splitter{whole: o, parts: []*Observed{&first}, room: audit.MaxBody - size(&first)}
	for _, name := range slices.Sorted(maps.Keys(o.Controls)) {
		p := s.part(size(name) + size(o.Controls[name]))
		p.Controls = with(p.Controls, name, o.Controls[name])
	}
	for _, name := range slices.Sorted(maps.Keys(o.ControlsBase64)) {
		p := s.part(size(name) + size(o.ControlsBase64[name]))
		p.ControlsBase64 = with(p.ControlsBase64, name, o.ControlsBase64[name])
	}
	for _, l := range o.Left {
		p := s.part(size(l))
		p.Left = append(p.Left, l)
	}
	for _, a := range o.Answers {
		p := s.part(size(a))
		p.Answers = append(p.Answers, a)
	}
	for _, g := range o.Gates {
		p := s.part(size(g))
		p.Gates = append(p.Gates, g)
	}
	for _, p := range s.parts[:len(s.parts)-1] {
		p.More = true
	}
	return s.parts
}

// splitter fills one part after another.
type splitter struct {
	whole *Observed
	parts []*Observed
	room  int // bytes that are left in the last part
}

// part gives the part that has room for n more bytes.
func (s *splitter) part(n int) *Observed {
	if n > s.room {
		next := &Observed{At: s.whole.At, OffsetMS: s.whole.OffsetMS, Lost: s.whole.Lost, LostAt: s.whole.LostAt,
			Returned: s.whole.Returned, Lapsed: s.whole.Lapsed, ExpiresMS: s.whole.ExpiresMS, Redis: s.whole.Redis}
		s.parts = append(s.parts, next)
		s.room = audit.MaxBody - size(next)
	}
	s.room -= n
	return s.parts[len(s.parts)-1]
}

func with[V any](m map[string]V, name string, v V) map[string]V {
	if m == nil {
		m = map[string]V{}
	}
	m[name] = v
	return m
}

// size is about what a value takes in the log, rather more than less. A body that cannot
// be written is reported when it is written.
func size(v any) int {
	b, err := json.Marshal(v)
	if err != nil {
		return 0
	}
	return len(b) + 64
}
