package gameday

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/runbook"
)

// prometheus stands between the walk and the lab's Prometheus, and fails for a while.
type prometheus struct {
	source http.RoundTripper        // while nothing is wrong
	freeze func() http.RoundTripper // answers from what was scraped until now
	clock  Clock

	mu     sync.Mutex
	fault  string
	until  time.Time
	frozen http.RoundTripper
}

// fail begins a fault, which ends what was wrong before.
func (p *prometheus) fail(fault string, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault, p.until, p.frozen = fault, until, nil
	if fault == runbook.PrometheusStale {
		p.frozen = p.freeze()
	}
}

var errAway = errors.New("connect: connection refused")

// RoundTrip answers as the fault lets it.
func (p *prometheus) RoundTrip(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	fault, frozen := p.fault, p.frozen
	if !p.clock.Now().Before(p.until) {
		fault = ""
	}
	p.mu.Unlock()
	switch fault {
	case runbook.PrometheusAway:
		return nil, errAway
	case runbook.PrometheusStale:
		return frozen.RoundTrip(r)
	case runbook.PrometheusPartial:
		answer, err := p.source.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		return partial(answer)
	}
	return p.source.RoundTrip(r)
}

// partial adds the warning of an answer that has holes.
func partial(answer *http.Response) (*http.Response, error) {
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	const success, holes = `{"status":"success",`, `"warnings":["partial response: a store did not answer"],`
	body = bytes.Replace(body, []byte(success), []byte(success+holes), 1)
	answer.Body, answer.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return answer, nil
}

// redisLine is the way to the lab's Redis, which may be cut.
type redisLine struct {
	lab *lab.Lab

	mu   sync.Mutex
	cut  bool
	open map[net.Conn]bool
}

// dial connects while the way is open.
func (l *redisLine) dial(ctx context.Context, network, address string) (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errAway}
	}
	c, err := l.lab.DialRedis(ctx, network, address)
	if err == nil {
		l.open[c] = true
	}
	return c, err
}

// sever closes the way and every connection on it, or opens the way again.
func (l *redisLine) sever(cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = cut
	if cut {
		for c := range l.open {
			_ = c.Close()
		}
		clear(l.open)
	}
}
