package lab

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/rewarm/rewarm/actions/controls"
)

// Options say how a lab begins.
type Options struct {
	// Seed makes two labs alike: the same seed gives the same metrics.
	Seed uint64
	// Start is the virtual time at which the lab is handed over; zero for a
	// fixed day.
	Start time.Time
	// From is the time of day in the case at that moment, from 09:58 on; zero
	// for the start of the scenario.
	From time.Duration
	// ScrapeEvery is the distance of samples, whole multiples of 50 ms; zero for a second.
	ScrapeEvery time.Duration
	// Scenario is what happens; nil for the case study.
	Scenario *Scenario
	// Variation changes the Service, to see what depends on what.
	Variation Variation

	begin time.Duration // of the model; zero for before the case
}

// Lab is the modelled service with Redis' protocol and Prometheus' HTTP
// interface in front of it, in virtual time.
type Lab struct {
	clock  *Clock
	redis  *miniredis.Miniredis
	reader *controls.Reader
	api    http.Handler

	mu      sync.Mutex // held while time moves
	world   *world
	mortal  [len(mortals)]string // values of those controls
	touched atomic.Bool          // a client has spoken to Redis since the last refresh
	calls   []string
}

// New lets the case happen up to Options.From and hands the lab over.
func New(o Options) (*Lab, error) {
	if o.Start.IsZero() {
		o.Start = time.Date(2026, 11, 29, 10, 7, 30, 0, time.UTC)
	}
	w, err := newWorld(o)
	if err != nil {
		return nil, err
	}
	l := &Lab{world: w, redis: miniredis.NewMiniRedis()}
	l.redis.SetTime(o.Start)
	setControls(l.redis, w.model.story.Controls)
	l.redis.ClockTTL(true)
	l.clock = &Clock{lab: l, now: o.Start}
	l.reader, err = controls.NewReader(controls.ReaderOptions{
		Service: Service, URL: "redis://lab", Dial: l.dialOwn,
		Fallback: protecting(w.model.p), Absent: absent(w.model.p), DeadMan: deadMan(), Now: l.clock.Now,
	})
	if err == nil {
		err = l.reader.Refresh(context.Background())
	}
	if err != nil {
		l.redis.Close()
		return nil, fmt.Errorf("the lab's reader: %w", err)
	}
	w.obey(as(l.reader), l.reader)
	l.api = newAPI(w.store, w.scrapeEvery, l.clock.Now)
	return l, nil
}

// setControls writes controls as an earlier hand left them.
func setControls(redis *miniredis.Miniredis, values map[string]string) {
	for control, value := range values {
		redis.HSet(controlsKey, control, value)
	}
}

// Close ends the lab's Redis.
func (l *Lab) Close() {
	_ = l.reader.Close()
	l.redis.Close()
}

// Clock is the lab's time.
func (l *Lab) Clock() *Clock { return l.clock }

// nextTick is when the model moves next.
func (l *Lab) nextTick() time.Time { return l.world.now.Add(tickLength) }

// tick moves the model on by one tick, to the given time. The reader asks Redis
// when a client has spoken to it, and otherwise once a second, for that is all
// that can have changed. In between only what is mortal can end.
func (l *Lab) tick(ctx context.Context, now time.Time) error {
	l.redis.SetTime(now)
	asks := l.touched.Swap(false) || l.world.atSecond()
	if asks {
		if err := l.reader.Refresh(ctx); err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if asks || l.world.source().mortal() && l.ended() {
		l.world.source = as(l.reader)
		l.noteMortals()
	}
	l.world.tick()
	return nil
}

// ended reports whether one of the controls that end by themselves has another value than
// when all were looked at last.
func (l *Lab) ended() bool {
	for i, control := range mortals {
		if raw, _ := l.reader.Get(control); raw != l.mortal[i] {
			return true
		}
	}
	return false
}

func (l *Lab) noteMortals() {
	for i, control := range mortals {
		l.mortal[i], _ = l.reader.Get(control)
	}
}

// DialRedis connects to the lab's Redis; network and address do not matter.
func (l *Lab) DialRedis(_ context.Context, _, _ string) (net.Conn, error) {
	c, err := l.redis.Dial()
	if err != nil {
		return nil, err
	}
	return newConn(c, &l.touched), nil
}

// dialOwn connects the lab's own reader.
func (l *Lab) dialOwn(context.Context, string, string) (net.Conn, error) { return l.redis.Dial() }

// Transport answers Prometheus' HTTP interface without a network; the host of
// the URL does not matter.
func (l *Lab) Transport() http.RoundTripper { return transport{l.api} }

type transport struct{ handler http.Handler }

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	own := *r
	if r.Body != nil {
		defer r.Body.Close()
	} else {
		own.Body = http.NoBody
	}
	w := &recorder{header: http.Header{}, status: http.StatusOK}
	t.handler.ServeHTTP(w, &own)
	return &http.Response{
		Status:     fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)),
		StatusCode: w.status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        w.header,
		Body:          io.NopCloser(&w.body),
		ContentLength: int64(w.body.Len()),
		Request:       r,
	}, nil
}

// recorder keeps what a handler writes.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(status int)      { r.status = status }
func (r *recorder) Write(b []byte) (int, error) { return r.body.Write(b) }

// Metrics is the service's page of metrics, with job and instance, to be
// scraped with honor_labels.
func (l *Lab) Metrics() http.Handler { return metricsHandler{&l.mu, l.world} }

// Call answers an action of a runbook that would run a command or ask a URL:
// the lab records it, and nothing is executed. Its operators obey `deployctl
// freeze`, `thaw` and `rollback`, `planctl pin` and `batchctl pause`.
func (l *Lab) Call(args ...string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(args) >= 2 {
		l.world.model.obeyCall(args[0], args[1])
	}
	call := fmt.Sprintf("%q", args)
	l.calls = append(l.calls, call)
	return "the lab recorded " + strings.Trim(call, "[]") + ", nothing was executed"
}

// Calls lists what Call recorded, oldest first.
func (l *Lab) Calls() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.calls...)
}

// Check reports the first count of the model that does not add up.
func (l *Lab) Check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.world.model.check()
}

// Unserved is how many reads have ended with a refusal or an error so far.
func (l *Lab) Unserved() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.world.model.outcomes[rejected] + l.world.model.outcomes[failed]
}

// Cold is how many keys have no fresh value in their cell.
func (l *Lab) Cold() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, c := range l.world.model.cells {
		n += c.keys() - c.warmKeys()
	}
	return n
}

// WarmMisses is how many refreshes a second the warm keys ask for: the steady
// misses, less the part of those that fell to keys that are cold now.
func (l *Lab) WarmMisses() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.world.model
	warm := 0
	for _, c := range m.cells {
		warm += c.warmKeys()
	}
	return float64(warm) / (m.p.SoftTTL.Seconds() * (1 - m.p.EarlyRefresh))
}
