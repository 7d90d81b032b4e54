package probes

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rewarm/rewarm/runbook"
)

// round is one poll under way: what is to be asked, and what came back.
type round struct {
	poller  *Poller
	doc     *runbook.Document
	at      time.Time
	timeout time.Duration

	inquiries []inquiry
	queries   map[string]bool // data, alive and witness queries
	questions map[string]bool // measurements
	recorded  []selector      // those that rules may stand behind

	slots    chan struct{}
	mu       sync.Mutex
	replies  map[string]reply
	measured measurements
}

// inquiry is an ask with everything that its answer rests on.
type inquiry struct {
	ask       Ask
	probe     *runbook.Probe
	query     string
	selectors []selector
	alive     *inquiry // nil when the probe has no alive query
	witness   *inquiry // nil when the probe has no witness
	reason    Reason   // why it cannot be asked
	detail    string
}

func newRound(p *Poller, doc *runbook.Document, at time.Time, timeout time.Duration) *round {
	return &round{
		poller: p, doc: doc, at: at, timeout: timeout,
		queries: map[string]bool{}, questions: map[string]bool{},
		slots: make(chan struct{}, inFlight), replies: map[string]reply{},
		measured: measurements{known: map[string]measured{}},
	}
}

func (r *round) plan(asks []Ask, version int64) {
	for _, a := range asks {
		r.inquiries = append(r.inquiries, r.inquire(a))
	}
	if version > 0 {
		for _, q := range propagationQuestions(r.doc.Service, version) {
			r.questions[q] = true
		}
	}
}

// inquire finds the probe's query and those of its witness and alive query.
func (r *round) inquire(a Ask) inquiry {
	in := inquiry{ask: a, probe: r.doc.Probe(a.Probe)}
	if in.probe == nil {
		in.reason, in.detail = NotAsked, "the runbook has no probe of this name"
		return in
	}
	query, err := in.probe.Expand(a.From, a.To)
	if err != nil {
		in.reason, in.detail = Rejected, printable(err.Error(), longestText)
		return in
	}
	in.query = query
	r.want(&in)
	if in.probe.Alive != "" {
		in.alive = &inquiry{probe: in.probe, query: in.probe.Alive}
		r.want(in.alive)
	}
	if in.probe.Absent != nil {
		if w := r.doc.Probe(in.probe.Absent.Witness); w != nil {
			witness := &inquiry{probe: w, ask: askFor(w, a.From, a.To)}
			if witness.query, err = w.Expand(witness.ask.From, witness.ask.To); err == nil {
				in.witness = witness
				r.want(witness)
			}
		}
	}
	return in
}

// want puts a query and the ages of its selectors on the list.
func (r *round) want(in *inquiry) {
	a := r.poller.analyse(in.query)
	if a.err != nil {
		in.reason, in.detail = Rejected, "the query cannot be judged: "+printable(a.err.Error(), longestText)
		return
	}
	in.selectors = a.selectors
	r.queries[in.query] = true
	for _, s := range in.selectors {
		r.questions[s.newest()] = true
		r.questions[s.stalest()] = true
		if s.instant() {
			r.questions[s.oldest()] = true
		}
		if in.probe.Sources > 0 {
			r.questions[s.sources()] = true
		}
		if s.recorded() {
			r.recorded = append(r.recorded, s)
		}
	}
}

// ask sends everything at once and waits for all of it; the deadline is the context's.
func (r *round) ask(ctx context.Context) {
	var wg sync.WaitGroup
	for query := range r.queries {
		wg.Go(func() {
			growStack(0)
			answer := r.query(ctx, query)
			r.mu.Lock()
			defer r.mu.Unlock()
			r.replies[query] = answer
		})
	}
	for _, group := range batches(slices.Sorted(maps.Keys(r.questions))) {
		wg.Go(func() {
			growStack(0)
			r.measured.measure(ctx, r.query, group)
		})
	}
	wg.Go(func() {
		growStack(0)
		r.poller.measureOffset(ctx, r.timeout)
	})
	if len(r.recorded) > 0 {
		wg.Go(func() { r.poller.rules.learn(ctx, r.poller.client, r.recorded, r.at, r.timeout) })
	}
	wg.Wait()
}

func (r *round) query(ctx context.Context, query string) reply {
	r.slots <- struct{}{}
	defer func() { <-r.slots }()
	return r.poller.client.query(ctx, query, r.at, r.timeout)
}

// answer puts together what the round learned for one inquiry. The first thing that
// is wrong with it is its reason.
func (r *round) answer(in inquiry) Answer {
	a := Answer{Ask: in.ask, Query: in.query, At: r.at}
	if a.doubt(in.reason, in.detail); a.Reason != "" {
		return a
	}
	got := r.replies[in.query]
	a.Warnings, a.Infos = got.warnings, got.infos
	a.doubt(got.reason, got.detail)
	a.doubt(warned(got.warnings))
	if a.Reason != "" {
		return a
	}
	a.take(got.samples)
	r.addAges(&a, &in)
	r.checkAlive(&a, &in)
	r.checkSources(&a, &in)
	if a.Count == 0 {
		r.assume(&a, &in)
	}
	return a
}

// doubt notes why the answer cannot be judged, unless that is known already.
func (a *Answer) doubt(reason Reason, detail string) {
	if a.Reason == "" {
		a.Reason, a.Detail = reason, detail
	}
}

// take keeps the samples' values and notes those that no bound can be held against.
func (a *Answer) take(samples []sample) {
	var readings []Reading
	for _, s := range samples {
		switch {
		case s.histogram:
			a.doubt(Histogram, "a native histogram where a number was expected, in "+s.series)
			continue
		case math.IsNaN(s.value):
			a.doubt(NotANumber, "NaN in "+s.series)
		case math.IsInf(s.value, 0):
			a.doubt(Infinite, s.raw+" in "+s.series)
		}
		readings = append(readings, Reading{Series: s.series, Value: s.value, Raw: s.raw})
	}
	a.SetReadings(readings)
	a.Count = len(samples)
}

// addAges says what stretch of time the answer rests on.
func (r *round) addAges(a *Answer, in *inquiry) {
	plain := !slices.ContainsFunc(in.selectors, selector.recorded)
	for _, s := range in.selectors {
		newest, stalest := r.measured.get(s.newest()), r.measured.get(s.stalest())
		a.doubt(unmeasured(s, newest))
		a.doubt(unmeasured(s, stalest))
		a.Newest = append(a.Newest, newest.moment())
		if stalest.found {
			a.Stalest = earlier(a.Stalest, stalest.moment().Add(s.shift()))
		}
		memory, known := r.poller.rules.reach(s)
		switch {
		case !known && in.probe.Memory > 0, plain && in.probe.Memory > 0:
			memory = in.probe.Memory
		case !known:
			a.doubt(Unresolved, "how far back "+printable(s.vector, longestText)+
				" looks is not known: no rule of the server explains it; give the probe a memory")
		}
		if !s.instant() {
			a.WindowStart = earlier(a.WindowStart, r.at.Add(-s.reach()-memory))
			continue
		}
		oldest := r.measured.get(s.oldest())
		a.doubt(unmeasured(s, oldest))
		if oldest.found {
			a.Oldest = earlier(a.Oldest, oldest.moment().Add(-memory))
		}
	}
}

func unmeasured(s selector, m measured) (Reason, string) {
	if m.reason == "" {
		return "", ""
	}
	return m.reason, "how old the samples of " + printable(s.vector, longestText) + " are is not known: " + m.detail
}

// earlier is the earlier of two moments; zero stands for none.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// checkAlive wants data from the probe's alive query, and rests the answer on it too.
func (r *round) checkAlive(a *Answer, in *inquiry) {
	if in.alive == nil {
		return
	}
	a.doubt(in.alive.reason, "the alive query: "+in.alive.detail)
	got := r.replies[in.alive.query]
	switch {
	case in.alive.reason != "":
		return
	case got.reason != "":
		a.doubt(NotAlive, "the alive query was not answered: "+got.detail)
	case len(got.samples) == 0:
		a.doubt(NotAlive, "the alive query has no data: "+printable(in.alive.query, longestText))
	}
	a.doubt(warned(got.warnings))
	r.addAges(a, in.alive)
}

// checkSources wants enough series behind every selector of the query.
func (r *round) checkSources(a *Answer, in *inquiry) {
	if in.probe.Sources == 0 {
		return
	}
	for _, s := range in.selectors {
		m := r.measured.get(s.sources())
		a.doubt(unmeasured(s, m))
		if int(m.value) < in.probe.Sources {
			a.doubt(SourceCount, fmt.Sprintf("%d series behind %s, at least %d are needed",
				int(m.value), printable(s.vector, longestText), in.probe.Sources))
		}
	}
}

// assume gives an empty answer the value that the runbook names, while the witness
// has data; the answer then rests on the witness's samples.
func (r *round) assume(a *Answer, in *inquiry) {
	if in.probe.Absent == nil {
		a.doubt(NoData, "the query matched no series: "+printable(in.query, longestText))
		return
	}
	name := in.probe.Absent.Witness
	if in.witness == nil || in.witness.reason != "" {
		a.doubt(NotAlive, "the query matched no series, and its witness "+name+" cannot be asked")
		return
	}
	w := r.answer(*in.witness)
	if w.Reason != "" {
		a.doubt(NotAlive, "the query matched no series, and its witness "+name+" does not vouch for it: "+w.Detail)
		return
	}
	if a.Reason != "" {
		return
	}
	a.Assumed = true
	a.SetReadings([]Reading{NewReading("{}", in.probe.Absent.As)})
	a.WindowStart = earlier(a.WindowStart, w.WindowStart)
	a.Oldest = earlier(a.Oldest, w.Oldest)
	a.Stalest = earlier(a.Stalest, w.Stalest)
	a.Newest = append(a.Newest, w.Newest...)
}

// propagationQuestions ask how many processes report a version of the controls, how
// many have reached this one, and how old the oldest sample is that says so.
func propagationQuestions(service string, version int64) [3]string {
	reported := fmt.Sprintf("rewarm_controls_version{service=%q}", service)
	obeying := fmt.Sprintf("%s >= %d", reported, version)
	return [3]string{
		"count(" + reported + ")",
		"count(" + obeying + ")",
		"min(timestamp(" + reported + ") and (" + obeying + "))",
	}
}

func (r *round) propagation(version int64) *Propagation {
	questions := propagationQuestions(r.doc.Service, version)
	p := &Propagation{Version: version}
	processes, obeying, oldest := r.measured.get(questions[0]), r.measured.get(questions[1]), r.measured.get(questions[2])
	for _, m := range []measured{processes, obeying, oldest} {
		if m.reason != "" {
			p.Reason, p.Detail = m.reason, "how far the service obeys is not known: "+strings.TrimSpace(m.detail)
			return p
		}
	}
	p.Processes, p.Obeying, p.Oldest = int(processes.value), int(obeying.value), oldest.moment()
	p.Reported = p.Processes > 0
	return p
}
