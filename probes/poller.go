package probes

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/rewarm/rewarm/runbook"
)

const (
	longestPoll = 2 * time.Second
	inFlight    = 32 // questions at once
)

// Poller asks one Prometheus, again and again. It is safe for use by several goroutines.
type Poller struct {
	client  *client
	options Options
	clock   Clock
	rules   ruleBook

	mu       sync.Mutex
	offset   time.Duration // the server's clock less ours
	measured bool
	analyses map[string]analysis // by expanded query
	seconds  map[string]*Poller  // of second sources, by address
}

type analysis struct {
	selectors []selector
	err       error
}

// NewPoller checks the address and the settings and makes a Poller; nothing is asked
// yet. Errors name the address without user, password or query.
func NewPoller(o Options, clock Clock) (*Poller, error) {
	c, err := newClient(o)
	if err != nil {
		return nil, err
	}
	return &Poller{client: c, options: o, clock: clock, analyses: map[string]analysis{},
		seconds: map[string]*Poller{}}, nil
}

// Address is the address that is asked, without user, password or query.
func (p *Poller) Address() string { return p.client.shown }

// Poll makes one observation: every ask, with the witnesses, alive queries, and ages
// that judging it needs, at one evaluation time and under one deadline, which is the
// document's `every` and at most 2 s. A version above zero also asks how far the service obeys
// that version. Second sources are asked at the same time, and answer where this server
// cannot. Poll does not fail: what went wrong is the Reason of each answer.
func (p *Poller) Poll(ctx context.Context, doc *runbook.Document, asks []Ask, version int64) Observation {
	timeout := longestPoll
	if every := doc.Defaults.Every; every > 0 && every < timeout {
		timeout = every
	}
	ctx, cancel := p.clock.Deadline(ctx, timeout)
	defer cancel()

	seconds := p.askSeconds(ctx, doc, asks, version, timeout)
	o := p.observe(ctx, doc, asks, version, timeout)
	seconds.fill(&o, doc)
	return o
}

// observe asks this server alone.
func (p *Poller) observe(
	ctx context.Context, doc *runbook.Document, asks []Ask, version int64, timeout time.Duration,
) Observation {
	if reason, detail := p.measureFirst(ctx, timeout); reason != "" {
		return p.blind(doc, asks, version, reason, detail)
	}
	offset := p.lastOffset()
	r := newRound(p, doc, p.clock.Now().Add(offset).Truncate(time.Millisecond).UTC(), timeout)
	r.plan(asks, version)
	r.ask(ctx)

	o := Observation{At: r.at, Offset: offset}
	for _, in := range r.inquiries {
		o.Answers = append(o.Answers, r.answer(in))
	}
	if version > 0 {
		o.Propagation = r.propagation(version)
	}
	return o
}

// blind is the observation of a server whose clock could not even be asked.
func (p *Poller) blind(doc *runbook.Document, asks []Ask, version int64, reason Reason, detail string) Observation {
	o := Observation{At: p.clock.Now().UTC(), Reason: reason, Detail: detail}
	for _, a := range asks {
		query := ""
		if probe := doc.Probe(a.Probe); probe != nil {
			query, _ = probe.Expand(a.From, a.To)
		}
		o.Answers = append(o.Answers, Answer{Ask: a, Query: query, At: o.At, Reason: reason, Detail: detail})
	}
	if version > 0 {
		o.Propagation = &Propagation{Version: version, Reason: reason, Detail: detail}
	}
	return o
}

func (p *Poller) lastOffset() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.offset
}

// measureFirst learns the server's clock when that was never done.
func (p *Poller) measureFirst(ctx context.Context, timeout time.Duration) (Reason, string) {
	p.mu.Lock()
	known := p.measured
	p.mu.Unlock()
	if known {
		return "", ""
	}
	return p.measureOffset(ctx, timeout)
}

// measureOffset asks for the server's present. The answer was true at some moment
// between question and answer; as long as the offset that is known fits into that span
// it is kept, so that a slow answer does not shake the evaluation times.
func (p *Poller) measureOffset(ctx context.Context, timeout time.Duration) (Reason, string) {
	before := p.clock.Now()
	r := p.client.query(ctx, "time()", time.Time{}, timeout)
	after := p.clock.Now()
	if r.reason != "" {
		return r.reason, r.detail
	}
	if len(r.samples) != 1 || math.IsNaN(r.samples[0].value) || math.IsInf(r.samples[0].value, 0) ||
		r.samples[0].value <= 0 {
		return Malformed, p.client.shown + " does not tell its time"
	}
	server := time.UnixMilli(int64(r.samples[0].value * 1000))
	earliest, latest := server.Sub(after), server.Sub(before)

	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.measured || p.offset < earliest || p.offset > latest {
		p.offset = earliest + (latest-earliest)/2
	}
	p.measured = true
	return "", ""
}

// analyse remembers what each query selects; a document has only so many.
func (p *Poller) analyse(query string) analysis {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a, ok := p.analyses[query]; ok {
		return a
	}
	selectors, err := analyse(query)
	if len(p.analyses) > 4096 {
		clear(p.analyses)
	}
	p.analyses[query] = analysis{selectors, err}
	return p.analyses[query]
}

// longestSkew is the difference of clocks above which people should know about it.
const longestSkew = 30 * time.Second

// Skew is a sentence about clocks that differ by more than 30 s, or "".
func (o Observation) Skew() string {
	switch {
	case o.Offset > longestSkew:
		return fmt.Sprintf("the clock of prometheus is %s ahead of ours: its own is used", o.Offset.Round(time.Second))
	case o.Offset < -longestSkew:
		return fmt.Sprintf("the clock of prometheus is %s behind ours: its own is used", (-o.Offset).Round(time.Second))
	}
	return ""
}

// Answer finds the answer to an ask, or nil.
func (o *Observation) Answer(a Ask) *Answer {
	if o == nil {
		return nil
	}
	for i := range o.Answers {
		if o.Answers[i].Ask == a {
			return &o.Answers[i]
		}
	}
	return nil
}
