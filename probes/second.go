package probes

import (
	"context"
	"sync"
	"time"

	"github.com/rewarm/rewarm/runbook"
)

// secondSource is what another Prometheus is asked in the same round, for the probes that
// name it.
type secondSource struct {
	url    string
	asks   []Ask
	poller *Poller
	seen   Observation
	err    error // why it cannot be asked at all
}

// secondSources asks every second source of a round beside the first.
type secondSources struct {
	list []*secondSource
	stop context.CancelFunc
	done sync.WaitGroup
}

// askSeconds starts to ask the second sources of a round. Their answers are waited for only
// where the first source leaves something open.
func (p *Poller) askSeconds(
	ctx context.Context, doc *runbook.Document, asks []Ask, version int64, timeout time.Duration,
) *secondSources {
	all := &secondSources{}
	ctx, all.stop = context.WithCancel(ctx)
	for _, a := range asks {
		if probe := doc.Probe(a.Probe); probe != nil && probe.Second != "" {
			source := all.of(probe.Second)
			source.asks = append(source.asks, a)
		}
	}
	for _, source := range all.list {
		if source.poller, source.err = p.second(source.url); source.err == nil {
			all.done.Go(func() { source.seen = source.poller.observe(ctx, doc, source.asks, version, timeout) })
		}
	}
	return all
}

func (all *secondSources) of(url string) *secondSource {
	for _, source := range all.list {
		if source.url == url {
			return source
		}
	}
	source := &secondSource{url: url}
	all.list = append(all.list, source)
	return source
}

// second gives the poller of another Prometheus, which has a clock and rules of its own
// and is asked with the same HTTP settings.
func (p *Poller) second(url string) (*Poller, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.seconds[url]; known != nil {
		return known, nil
	}
	options := p.options
	options.URL = url
	made, err := NewPoller(options, p.clock)
	if err == nil {
		p.seconds[url] = made
	}
	return made, err
}

// fill puts the second sources' answers where the first has given none that a bound could
// be held against. When the first has, it counts, whatever the second says.
func (all *secondSources) fill(o *Observation, doc *runbook.Document) {
	fresh := Freshness{StaleAfter: longestStale(doc)}
	if !all.needed(o, doc, fresh) {
		all.stop()
	}
	all.done.Wait()
	all.stop()
	for i := range o.Answers {
		first := &o.Answers[i]
		probe := doc.Probe(first.Ask.Probe)
		if probe == nil || probe.Second == "" || first.Usable(probe, fresh) {
			continue
		}
		if all.of(probe.Second).replace(first, o.Offset, probe, fresh) {
			o.Reason, o.Detail = "", ""
		}
	}
	all.obeying(o)
}

func (all *secondSources) needed(o *Observation, doc *runbook.Document, fresh Freshness) bool {
	if len(all.list) > 0 && o.Propagation != nil && o.Propagation.Reason != "" {
		return true
	}
	for i := range o.Answers {
		probe := doc.Probe(o.Answers[i].Ask.Probe)
		if probe != nil && probe.Second != "" && !o.Answers[i].Usable(probe, fresh) {
			return true
		}
	}
	return false
}

// replace gives a second source's answer in the place of one of the first, its times on the
// first's clock, as far as that is known. Where it has none either, both reasons are told.
func (s *secondSource) replace(first *Answer, offset time.Duration, probe *runbook.Probe, fresh Freshness) bool {
	_, detail := first.trouble(fresh)
	if s.err != nil {
		first.addDetail(detail, printable(s.err.Error(), longestText))
		return false
	}
	second := s.seen.Answer(first.Ask)
	if !second.Usable(probe, fresh) {
		_, why := second.trouble(fresh)
		first.addDetail(detail, why)
		return false
	}
	second.shift(offset - s.seen.Offset)
	second.Source, second.Instead = s.poller.Address(), detail
	*first = *second
	return true
}

// addDetail tells of an answer that has no value why the second source has none either.
func (a *Answer) addDetail(first, second string) {
	if a.Reason != "" {
		a.Detail = first + "; the second source: " + second
	}
}

// obeying lets a second source say how far the service obeys where the first cannot.
func (all *secondSources) obeying(o *Observation) {
	if o.Propagation == nil || o.Propagation.Reason == "" {
		return
	}
	for _, s := range all.list {
		if seen := s.seen.Propagation; s.err == nil && seen != nil && seen.Reason == "" && seen.Reported {
			o.Propagation = seen
			if !seen.Oldest.IsZero() {
				seen.Oldest = seen.Oldest.Add(o.Offset - s.seen.Offset)
			}
			return
		}
	}
}

// shift moves all times of an answer onto another clock.
func (a *Answer) shift(by time.Duration) {
	move := func(t time.Time) time.Time {
		if t.IsZero() {
			return t
		}
		return t.Add(by)
	}
	a.At, a.WindowStart, a.Oldest, a.Stalest = move(a.At), move(a.WindowStart), move(a.Oldest), move(a.Stalest)
	for i := range a.Newest {
		a.Newest[i] = move(a.Newest[i])
	}
}

// longestStale is the age up to which some gate of the runbook can use an answer.
func longestStale(doc *runbook.Document) time.Duration {
	longest := doc.Defaults.StaleAfter
	for step := range doc.Steps() {
		longest = max(longest, step.Timing.StaleAfter)
	}
	return longest
}
