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

	foreign bool
	world   *world
	mu      sync.Mutex // held while the world moves
	redis   *miniredis.Miniredis
	reader  *controls.Reader
	clock   RealClock
	speed   float64
	servers []*http.Server
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// Serve lets the case happen up to 10:07:30, listens, and goes on in real time
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
	w, err := newWorld(Options{Seed: o.Seed, Start: o.Clock.Now()})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	s := &Server{world: w, clock: o.Clock, speed: o.Speed, cancel: cancel}
	if err := s.open(ctx, o); err != nil {
		s.Close()
		return nil, err
	}
	s.mu.Lock()
	w.obey(s.reader)
	s.mu.Unlock()
	s.running.Go(func() { _ = s.reader.Run(ctx, o.Clock) })
	s.running.Go(func() { s.run(ctx) })
	return s, nil
}

// open brings up what the lab listens on, and the reader with the controls that
// stand in Redis now.
func (s *Server) open(ctx context.Context, o ServeOptions) (err error) {
	if s.PrometheusURL, err = s.listen(o.PrometheusAddr, newAPI(s.world.store, s.world.scrapeEvery, o.Clock.Now)); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", metricsHandler{&s.mu, s.world})
	if s.MetricsURL, err = s.listen(o.MetricsAddr, mux); err != nil {
		return err
	}
	s.MetricsURL += "/metrics"
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
	s.reader, err = controls.NewReader(controls.ReaderOptions{
		Service: service, URL: address,
		Fallback: protecting(), Absent: absent(), DeadMan: deadMan(), Now: o.Clock.Now,
	})
	if err != nil {
		return err
	}
	ctx, cancel := o.Clock.Deadline(ctx, firstLook)
	defer cancel()
	if err := s.reader.Refresh(ctx); err != nil {
		return fmt.Errorf("the lab cannot read its controls at %s: %w", s.RedisURL, err)
	}
	return nil
}

// firstLook bounds the first look at the controls.
const firstLook = 5 * time.Second

func (s *Server) openRedis(o ServeOptions) error {
	address := o.RedisAddr
	if address == "" {
		address = loopback
	}
	s.redis = miniredis.NewMiniRedis()
	s.redis.SetTime(o.Clock.Now())
	s.redis.ClockTTL(true)
	if err := s.redis.StartAddr(address); err != nil {
		s.redis = nil
		return fmt.Errorf("the lab's redis cannot listen: %w", err)
	}
	s.RedisURL = "redis://" + s.redis.Addr()
	return nil
}

const loopback = "127.0.0.1:0"

func (s *Server) listen(address string, h http.Handler) (string, error) {
	if address == "" {
		address = loopback
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return "", fmt.Errorf("the lab cannot listen: %w", err)
	}
	server := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	s.servers = append(s.servers, server)
	s.running.Go(func() { _ = server.Serve(l) })
	return "http://" + l.Addr().String(), nil
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
