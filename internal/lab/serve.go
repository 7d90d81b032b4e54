package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/rewarm/rewarm/actions/controls"
)

// RealClock is the time in which a lab on real ports lives.
type RealClock interface {
	Now() time.Time
	// Wait returns at that time, or with the context's error when it ends before.
	Wait(ctx context.Context, until time.Time) error
	// Deadline is context.WithTimeout on this clock.
	Deadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
}

// ServeOptions say where a lab on real ports listens. An empty address is a free
// port of the loopback interface.
type ServeOptions struct {
	Seed           uint64
	PrometheusAddr string
	RedisAddr      string
	MetricsAddr    string

	// RedisURL is a server to obey instead of one of the lab's own; RedisAddr
	// then does not count.
	RedisURL string
	Clock    RealClock
	// Scenario is what happens; nil for the case study.
	Scenario *Scenario
	// Speed is how many times faster than the clock the incident goes; 0 is 1.
	// Samples carry the clock's time, so rates are higher by as much, and limits
	// of a runbook only fit at 1.
	Speed float64
}

// Server is a lab on real ports.
type Server struct {
	PrometheusURL string
	RedisURL      string // of the lab's own Redis, or the one it obeys, without secrets
	MetricsURL    string

	foreign    bool // the Redis is not the lab's own
	clock      RealClock
	speed      float64
	prometheus net.Listener
	metrics    net.Listener
	redis      *miniredis.Miniredis
	reader     *controls.Reader

	mu      sync.Mutex // held while the world moves
	world   *world
	servers []*http.Server
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// Serve lets the scenario happen up to its start, listens, and goes on in real time
// until ctx ends or the server is closed. Errors name the address and repeat no
// secret.
func Serve(ctx context.Context, o ServeOptions) (*Server, error) {
	if o.Clock == nil {
		return nil, errors.New("a lab on real ports needs a clock")
	}
	if o.Speed == 0 {
		o.Speed = 1
	}
	if !(o.Speed > 0 && o.Speed <= 100) {
		return nil, fmt.Errorf("a lab on real ports goes up to 100 times as fast as the clock, not %v times", o.Speed)
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &Server{clock: o.Clock, speed: o.Speed, cancel: cancel}
	if err := s.open(ctx, o); err != nil {
		s.Close()
		return nil, err
	}
	var err error
	if s.world, err = newWorld(Options{Seed: o.Seed, Start: o.Clock.Now(), Scenario: o.Scenario}); err != nil {
		s.Close()
		return nil, err
	}
	s.world.obey(from(s.reader), s.reader)
	s.start(ctx)
	return s, nil
}

// open takes the ports and looks at the controls that stand in Redis now.
func (s *Server) open(ctx context.Context, o ServeOptions) (err error) {
	if s.prometheus, err = listen(o.PrometheusAddr); err != nil {
		return err
	}
	if s.metrics, err = listen(o.MetricsAddr); err != nil {
		return err
	}
	s.PrometheusURL = "http://" + s.prometheus.Addr().String()
	s.MetricsURL = "http://" + s.metrics.Addr().String() + "/metrics"
	address := o.RedisURL
	s.foreign = address != ""
	if s.foreign {
		s.RedisURL = withoutSecrets(address)
	} else {
		if err := s.openRedis(o); err != nil {
			return err
		}
		address = s.RedisURL
	}
	return s.openReader(ctx, address)
}

func (s *Server) openReader(ctx context.Context, address string) (err error) {
	s.reader, err = controls.NewReader(controls.ReaderOptions{
		Service: Service, URL: address,
		Fallback: protecting(&catalog), Absent: absent(&catalog), DeadMan: deadMan(), Now: s.clock.Now,
	})
	if err != nil {
		return err
	}
	ctx, cancel := s.clock.Deadline(ctx, firstLook)
	defer cancel()
	if err := s.reader.Refresh(ctx); err != nil {
		return fmt.Errorf("the lab cannot read its controls at %s: %w", s.RedisURL, err)
	}
	return nil
}

// firstLook bounds the first look at the controls.
const firstLook = 5 * time.Second

// start lets the world move and be asked.
func (s *Server) start(ctx context.Context) {
	mux := http.NewServeMux()
	mux.Handle("/metrics", metricsHandler{&s.mu, s.world})
	mux.Handle("POST /events", eventsHandler{s.Happen})
	s.serve(s.prometheus, newAPI(s.world.store, s.world.scrapeEvery, s.clock.Now))
	s.serve(s.metrics, mux)
	s.running.Go(func() { _ = s.reader.Run(ctx, s.clock) })
	s.running.Go(func() { s.run(ctx) })
}

func (s *Server) serve(l net.Listener, h http.Handler) {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	s.servers = append(s.servers, server)
	s.running.Go(func() { _ = server.Serve(l) })
}

func (s *Server) openRedis(o ServeOptions) error {
	address := o.RedisAddr
	if address == "" {
		address = loopback
	}
	s.redis = miniredis.NewMiniRedis()
	s.redis.SetTime(o.Clock.Now())
	s.redis.ClockTTL(true)
	if o.Scenario != nil {
		setControls(s.redis, o.Scenario.Controls)
	}
	if err := s.redis.StartAddr(address); err != nil {
		s.redis = nil
		return fmt.Errorf("the lab's redis cannot listen: %w", err)
	}
	s.RedisURL = "redis://" + s.redis.Addr()
	return nil
}

const loopback = "127.0.0.1:0"

func listen(address string) (net.Listener, error) {
	if address == "" {
		address = loopback
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("the lab cannot listen: %w", err)
	}
	return l, nil
}

// run moves the world on as the clock goes.
func (s *Server) run(ctx context.Context) {
	real := s.clock.Now()
	step := time.Duration(float64(tickLength) / s.speed)
	for ctx.Err() == nil {
		real = real.Add(step)
		if s.clock.Wait(ctx, real) != nil {
			return
		}
		// After a pause of the machine the world goes on from where it stood:
		// samples of a time that nobody lived through would be invented.
		if late := s.clock.Now().Sub(real); late > time.Second {
			real = real.Add(late)
		}
		s.tick(real)
	}
}

func (s *Server) tick(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.redis != nil {
		s.redis.SetTime(now)
	}
	s.world.tickAt(now)
}

// Ready is the line that says where everything is.
func (s *Server) Ready() string {
	line := fmt.Sprintf("ready prometheus=%s redis=%s metrics=%s", s.PrometheusURL, s.RedisURL, s.MetricsURL)
	if s.foreign {
		return line + " (obeys this redis; all figures are a model's)"
	}
	return line + " (all figures are a model's)"
}

// Close ends everything that Serve began.
func (s *Server) Close() {
	s.cancel()
	for _, l := range []net.Listener{s.prometheus, s.metrics} {
		if l != nil {
			_ = l.Close()
		}
	}
	for _, server := range s.servers {
		_ = server.Close()
	}
	if s.reader != nil {
		_ = s.reader.Close()
	}
	s.running.Wait()
	if s.redis != nil {
		s.redis.Close()
	}
}

// withoutSecrets is a URL without its user and query.
func withoutSecrets(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "redis"
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
