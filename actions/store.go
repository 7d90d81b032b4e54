package actions

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/rewarm/rewarm/actions/controls"
)

const (
	// LeaseTime is how long a commander's lease and a dead man's value last
	// without being renewed, by the server's clock.
	LeaseTime = 15 * time.Second
	// RenewEvery is how often they are to be renewed.
	RenewEvery = 5 * time.Second

	defaultTimeout = 2 * time.Second
	readRetries    = 2
)

// Options says where the controls are and whose.
type Options struct {
	URL        string // of Redis; not together with ConfigFile
	ConfigFile string // see Config
	Dial       controls.DialFunc
	Service    string
	Clock      Clock
	Timeout    time.Duration // of one operation with all its retries and redirections; 0 is 2 s
}

// Store reads and flips the controls of one service. Its methods may be called
// from several goroutines.
type Store struct {
	target   controls.Target
	keys     controls.KeyNames
	clock    Clock
	dial     controls.DialFunc
	timeout  time.Duration
	reads    *controls.Server // may repeat what was not answered
	writes   *controls.Server // sends everything once
	silence  silence
	warnings []string
}

// Open prepares a store. It does not connect: a Redis that is down must not keep
// a run from starting. An error says what is wrong with the options, without
// secrets.
func Open(o Options) (*Store, error) {
	quietClient.Do(func() { redis.SetLogger(clientLog{slog.New(slog.DiscardHandler)}) })
	if err := controls.CheckService(o.Service); err != nil {
		return nil, err
	}
	if o.Clock == nil {
		return nil, errors.New("a store needs a clock")
	}
	target, err := o.target()
	if err != nil {
		return nil, err
	}
	s := &Store{target: target, keys: controls.Keys(o.Service), clock: o.Clock, dial: o.Dial, timeout: o.Timeout}
	if s.timeout <= 0 {
		s.timeout = defaultTimeout
	}
	s.reads = controls.NewServer(target, controls.ServerOptions{Dial: o.Dial, Timeout: s.timeout, Retries: readRetries})
	s.writes = controls.NewServer(target, controls.ServerOptions{Dial: o.Dial, Timeout: s.timeout, Certain: true})
	if target.TLS != nil && target.TLS.InsecureSkipVerify {
		s.warnings = append(s.warnings, "the certificate of redis is NOT VERIFIED (insecure_skip_verify): "+
			"whoever answers at its address can take the controls")
	}
	return s, nil
}

// target is where to go. What its servers are told is taken out of the client's log from now on.
func (o Options) target() (controls.Target, error) {
	target, err := o.named()
	if err == nil {
		told.add(target)
	}
	return target, err
}

func (o Options) named() (controls.Target, error) {
	switch {
	case o.URL != "" && o.ConfigFile != "":
		return controls.Target{}, errors.New("give a redis URL or a redis config file, not both")
	case o.ConfigFile != "":
		return LoadConfig(o.ConfigFile)
	case o.URL != "":
		return controls.ParseURL(o.URL)
	}
	return controls.Target{}, errors.New("no redis is given, use --redis URL or --redis-config FILE")
}

// stranger goes to the same Redis without saying who it is.
func (s *Store) stranger() *controls.Server {
	nobody := s.target
	nobody.Username, nobody.Password = "", ""
	return controls.NewServer(nobody, controls.ServerOptions{Dial: s.dial, Timeout: s.timeout})
}

// Close drops the connections.
func (s *Store) Close() error { return errors.Join(s.reads.Close(), s.writes.Close()) }

// Warnings are sentences about the connection that a person must see.
func (s *Store) Warnings() []string { return s.warnings }

// Target is where the store looks for Redis, without secrets.
func (s *Store) Target() string { return plain(s.target.String(), false) }

// at names the node in sentences.
func (s *Store) at(server *controls.Server) string {
	if addr := server.Address(); addr != "" {
		return plain(addr, false)
	}
	return s.Target()
}

// fail explains what came of asking a server.
func (s *Store) fail(server *controls.Server, err error) *Failure {
	return fail(peerOf(s.target, s.at(server), server == s.reads), err)
}

func (s *Store) query(ctx context.Context, cmds ...redis.Cmder) error {
	return s.exchange(ctx, s.reads, func(ctx context.Context) error { return s.reads.Do(ctx, cmds...) })
}

func (s *Store) write(ctx context.Context, sc script, keys []string, args ...any) (words []string, err error) {
	err = s.exchange(ctx, s.writes, func(ctx context.Context) error {
		words, err = sc.run(ctx, s.writes, keys, args...)
		return err
	})
	if err != nil {
		return nil, s.fail(s.writes, err)
	}
	return words, nil
}

// append sends commands once that may be sent again.
func (s *Store) append(ctx context.Context, cmds ...redis.Cmder) error {
	err := s.exchange(ctx, s.writes, func(ctx context.Context) error { return s.writes.Do(ctx, cmds...) })
	if err != nil {
		return s.fail(s.writes, err)
	}
	return nil
}

var quietClient sync.Once

// LogTo sends what the Redis client has to say, which it would otherwise write
// to standard error, to a logger at level debug. It counts for the whole program.
func LogTo(logger *slog.Logger) {
	quietClient.Do(func() {})
	redis.SetLogger(clientLog{logger})
}
