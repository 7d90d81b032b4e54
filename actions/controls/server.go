package controls

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// DialFunc opens a connection, like net.Dialer's DialContext.
type DialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// ServerOptions says how a Server sends.
type ServerOptions struct {
	Dial    DialFunc      // nil for the network
	Timeout time.Duration // of a connect, a write or a read; 0 is 2 s
	Retries int           // of a command whose answer did not come; 0 for writes
	Certain bool          // spend a round trip more to know whether a command was sent
}

const (
	defaultTimeout = 2 * time.Second
	// sentinelLimit is how long one sentinel may keep a command waiting whose
	// master is known: a dead sentinel must not hold a brake back.
	sentinelLimit = 200 * time.Millisecond
	mostRedirects = 5
	connections   = 4
)

// Server sends commands to the one node that holds a service's keys, and goes
// after that node when it moves: it asks a sentinel, follows MOVED and ASK,
// and tries the next address when one cannot be reached. Whatever may have
// reached a node is sent again only when Retries allows it.
//
// It asks no topology of the server (CLUSTER, COMMAND, INFO, CLIENT), so an ACL
// need not allow that. Methods may be called from several goroutines.
type Server struct {
	target Target
	opts   ServerOptions

	addr atomic.Pointer[string] // of the node that was used last, nil before the first

	mu       sync.Mutex
	client   *node                 // nil before the first command and after losing the node
	sentinel *redis.SentinelClient // that is asked before each command; nil when it has to be chosen
	watcher  int                   // index of the address of that sentinel
}

// NewServer makes a Server; it connects at the first command.
func NewServer(t Target, o ServerOptions) *Server {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{KeepAlive: 15 * time.Second}).DialContext
	}
	return &Server{target: t, opts: o}
}

// Address is the node that was used last, "" before the first command.
func (s *Server) Address() string {
	if addr := s.addr.Load(); addr != nil {
		return *addr
	}
	return ""
}

// Close drops the connections.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.dropSentinel()
	if s.client != nil {
		err = errors.Join(s.client.Close(), err)
		s.client = nil
	}
	return err
}

// drop makes the next command connect anew. Calls that are on their way keep their connections: one that was given up
// may find out only now that its node hung, and the others have reached it since.
func (s *Server) drop() {
	if s.client == nil {
		return
	}
	go s.client.closeUnused()
	s.client = nil
}

// node is the client of one address.
type node struct {
	*redis.Client
	calls sync.WaitGroup // that are on their way; none is added once the server has dropped it
}

func (n *node) closeUnused() {
	n.calls.Wait()
	_ = n.Client.Close()
}

// NotSentError says that a command did not leave this machine.
type NotSentError struct{ Err error }

func (e *NotSentError) Error() string { return e.Err.Error() }
func (e *NotSentError) Unwrap() error { return e.Err }

// Do sends the commands in one round trip, in their order but not as a
// transaction, and returns the first error among them. It returns when ctx
// ends, even in the middle of a command; the commands must not be looked at
// then. A *NotSentError means that none of them left this machine and none will.
func (s *Server) Do(ctx context.Context, cmds ...redis.Cmder) error {
	return s.do(&call{ctx: ctx, cmds: cmds})
}

// Script sends a script by its name, and whole, on the same connection, when the node says
// that it does not know the name and so did nothing. Named has NOSCRIPT as its error then.
func (s *Server) Script(ctx context.Context, named, whole redis.Cmder) error {
	return s.do(&call{ctx: ctx, cmds: []redis.Cmder{named}, whole: whole})
}

func (s *Server) do(call *call) error {
	ctx := call.ctx
	done := make(chan error, 1)
	go func() { done <- s.follow(call) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		if call.leave() {
			return &NotSentError{ctx.Err()}
		}
		return ctx.Err()
	}
}

// call is one Do. Its state decides between sending and giving up, so that a
// caller that was told "not sent" can rely on it.
type call struct {
	ctx   context.Context
	cmds  []redis.Cmder
	whole redis.Cmder // instead of them when the node does not know the script that they name; nil without one
	ask   bool        // the node wants ASKING before each command
	state atomic.Int32
}

const (
	notYet int32 = iota
	sending
	given
)

// begin is asked before each sending: false when the caller has left.
func (c *call) begin() bool {
	return c.state.CompareAndSwap(notYet, sending) || c.state.Load() == sending
}

// leave is true when nothing was sent, and then nothing will be.
func (c *call) leave() bool {
	return c.state.CompareAndSwap(notYet, given)
}

// follow sends the commands to one node after the other, as long as each node
// says that it did nothing, and who will.
func (s *Server) follow(c *call) error {
	var err error
	for range mostRedirects + len(s.target.Addrs) {
		client, locateErr := s.locate(c.ctx)
		if locateErr != nil {
			return &NotSentError{locateErr}
		}
		err = s.send(c, client.Client)
		client.calls.Done()
		moved, asked, addr := redirection(err)
		switch {
		case moved || asked:
			c.ask = asked
			c.state.CompareAndSwap(sending, notYet)
			s.use(client, addr)
		case !s.elsewhere(client, err) || c.ctx.Err() != nil:
			return err
		}
	}
	return err
}

// elsewhere leaves a node that cannot be reached or has been demoted, and
// reports whether there is another address to try now.
func (s *Server) elsewhere(client *node, err error) bool {
	var notSent *NotSentError
	unreached, demoted := errors.As(err, &notSent), isReadOnly(err)
	if !unreached && !demoted {
		return false
	}
	s.leave(client) // a pooled connection must not outlive the demotion
	return len(s.target.Addrs) > 1 || demoted && s.target.MasterName != ""
}

// send passes the commands to one client. When Certain is asked for, a PING on
// the same connection comes first, so that a node that hangs or cannot be
// reached is found out before the commands are sent.
func (s *Server) send(c *call, client *redis.Client) error {
	if !s.opts.Certain {
		if !c.begin() {
			return &NotSentError{c.ctx.Err()}
		}
		return classify(exec(c, client))
	}
	conn := client.Conn()
	defer func() { _ = conn.Close() }() // it only goes back to the pool
	var answer redis.Error
	switch err := conn.Ping(c.ctx).Err(); {
	case err == nil:
	case !errors.As(err, &answer):
		return &NotSentError{classify(err)}
	case strings.HasPrefix(answer.Error(), "NOAUTH"):
		return err // a longer command would be refused as a protocol error
	}
	if !c.begin() {
		return &NotSentError{c.ctx.Err()}
	}
	return classify(exec(c, conn))
}

// sender is what a client and one of its connections have in common.
type sender interface {
	Process(ctx context.Context, cmd redis.Cmder) error
	Pipeline() redis.Pipeliner
}

func exec(c *call, to sender) error {
	err := execOnce(c, to)
	if c.whole != nil && err != nil && strings.HasPrefix(err.Error(), "NOSCRIPT") {
		c.cmds, c.whole = []redis.Cmder{c.whole}, nil
		return execOnce(c, to)
	}
	return err
}

func execOnce(c *call, to sender) error {
	for _, cmd := range c.cmds {
		cmd.SetErr(nil)
	}
	if len(c.cmds) == 1 && !c.ask {
		return to.Process(c.ctx, c.cmds[0])
	}
	pipe := to.Pipeline()
	for _, cmd := range c.cmds {
		if c.ask {
			pipe.Do(c.ctx, "asking")
		}
		if err := pipe.Process(c.ctx, cmd); err != nil {
			return err
		}
	}
	_, err := pipe.Exec(c.ctx)
	return err
}

// classify marks the errors of which it is sure that nothing was sent.
func classify(err error) error {
	var dial *dialError
	if errors.As(err, &dial) {
		return &NotSentError{dial.err}
	}
	return err
}

// locate returns the node that is used now, or the one at the next address. Where there
// are sentinels, they say which node that is. The caller is among its calls until Done.
func (s *Server) locate(ctx context.Context) (*node, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.choose(ctx); err != nil {
		return nil, err
	}
	s.client.calls.Add(1)
	return s.client, nil
}

// choose sees to it that there is a client of the right node.
func (s *Server) choose(ctx context.Context) error {
	if len(s.target.Addrs) == 0 {
		return errors.New("no address of a Redis server is given")
	}
	if s.target.MasterName != "" {
		return s.chooseMaster(ctx)
	}
	if s.client != nil {
		return nil
	}
	addr, err := s.answering(ctx)
	if err != nil {
		return err
	}
	s.connect(addr)
	return nil
}

// answering gives the address of a node that answers, where there are several: any node of a
// cluster says who has the keys.
func (s *Server) answering(ctx context.Context) (string, error) {
	if len(s.target.Addrs) == 1 {
		return s.target.Addrs[0], nil
	}
	return firstAnswer(ctx, s.target.Addrs, func(ctx context.Context, addr string) (string, error) {
		client := redis.NewClient(s.options(addr, s.target.Username, s.target.Password))
		defer func() { _ = client.Close() }() // it has answered, or not
		var refused redis.Error
		if err := client.Ping(ctx).Err(); err != nil && !errors.As(err, &refused) {
			return "", err
		}
		return addr, nil
	})
}

// chooseMaster asks a sentinel before every command. A master that was replaced goes on
// answering and taking writes for seconds, all of which are lost when it learns of it.
// While no sentinel answers, the master that is known is used.
func (s *Server) chooseMaster(ctx context.Context) error {
	if s.client != nil {
		if master, err := s.askSentinel(ctx); err == nil && master != s.Address() {
			s.drop()
			s.connect(master)
		}
		return nil
	}
	limit, known := s.opts.Timeout, s.Address()
	if known != "" {
		limit = sentinelLimit
	}
	master, err := s.askSentinels(ctx, limit)
	switch {
	case err == nil:
		s.connect(master)
	case known != "" && !errors.Is(err, errNoMaster):
		s.connect(known)
	default:
		return err
	}
	return nil
}

func (s *Server) connect(addr string) {
	s.addr.Store(&addr)
	s.client = &node{Client: redis.NewClient(s.options(addr, s.target.Username, s.target.Password))}
}

// askSentinel asks one sentinel, the next one after one that has failed.
func (s *Server) askSentinel(ctx context.Context) (string, error) {
	if s.sentinel == nil {
		s.sentinel = redis.NewSentinelClient(s.sentinelOptions(s.target.Addrs[s.watcher%len(s.target.Addrs)], sentinelLimit))
	}
	found, err := s.sentinel.GetMasterAddrByName(ctx, s.target.MasterName).Result()
	if err != nil || len(found) != 2 {
		_ = s.dropSentinel()
		s.watcher++
		return "", errors.Join(err, errors.New("no address"))
	}
	return net.JoinHostPort(found[0], found[1]), nil
}

func (s *Server) dropSentinel() error {
	if s.sentinel == nil {
		return nil
	}
	err := s.sentinel.Close()
	s.sentinel = nil
	return err
}

// use goes to another address, unless somebody else has left the client already.
func (s *Server) use(was *node, addr string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client != was {
		return
	}
	s.drop()
	s.connect(addr)
}

// leave drops the client so that the next command looks for the node again.
func (s *Server) leave(was *node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == was {
		s.drop()
	}
}

var errNoMaster = errors.New("see its SENTINEL MASTERS")

// askSentinels asks all sentinels for the address of the master, each for so long.
func (s *Server) askSentinels(ctx context.Context, limit time.Duration) (string, error) {
	name := s.target.MasterName
	master, err := firstAnswer(ctx, s.target.Addrs, func(ctx context.Context, addr string) (string, error) {
		sentinel := redis.NewSentinelClient(s.sentinelOptions(addr, limit))
		defer func() { _ = sentinel.Close() }() // it has answered, or not
		found, err := sentinel.GetMasterAddrByName(ctx, name).Result()
		switch {
		case errors.Is(err, redis.Nil):
			return "", fmt.Errorf("it knows no master named %s, %w", quote(name), errNoMaster)
		case err == nil && len(found) != 2:
			return "", errors.New("no address")
		case err != nil:
			return "", err
		}
		return net.JoinHostPort(found[0], found[1]), nil
	})
	if err != nil && !errors.Is(err, errNoMaster) {
		return "", fmt.Errorf("no sentinel of master %s answers: %w", quote(name), err)
	}
	return master, err
}

func (s *Server) sentinelOptions(addr string, limit time.Duration) *redis.Options {
	o := s.options(addr, s.target.SentinelUsername, s.target.SentinelPassword)
	o.DB, o.MaxRetries = 0, -1
	o.DialTimeout, o.ReadTimeout, o.WriteTimeout = limit, limit, limit
	return o
}

func (s *Server) options(addr, username, password string) *redis.Options {
	retries := s.opts.Retries
	if retries == 0 {
		retries = -1 // 0 would mean the library's default of three
	}
	return &redis.Options{
		Network: s.target.Network, Addr: addr, DB: s.target.DB,
		Username: username, Password: password,
		Protocol: 2, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		Dialer:                   s.dial, DialerRetries: 1,
		DialTimeout: s.opts.Timeout, ReadTimeout: s.opts.Timeout, WriteTimeout: s.opts.Timeout,
		ContextTimeoutEnabled: true, MaxRetries: retries,
		PoolSize: connections, PipelinePoolSize: -1,
	}
}

// dialError marks an error of connecting, before any command.
type dialError struct{ err error }

func (e *dialError) Error() string { return e.err.Error() }
func (e *dialError) Unwrap() error { return e.err }

func (s *Server) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := s.opts.Dial(ctx, network, addr)
	if err != nil {
		return nil, &dialError{err}
	}
	if s.target.TLS == nil {
		return conn, nil
	}
	secure := tls.Client(conn, tlsFor(s.target.TLS, addr))
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, &dialError{err}
	}
	return secure, nil
}

func tlsFor(c *tls.Config, addr string) *tls.Config {
	if c.ServerName != "" {
		return c
	}
	c = c.Clone()
	c.ServerName, _, _ = net.SplitHostPort(addr)
	return c
}

// redirection reads "MOVED 3999 host:port" and "ASK 3999 host:port".
func redirection(err error) (moved, asked bool, addr string) {
	var answer redis.Error
	if !errors.As(err, &answer) {
		return false, false, ""
	}
	f := strings.Fields(answer.Error())
	if len(f) != 3 || strings.HasPrefix(f[2], ":") {
		return false, false, ""
	}
	return f[0] == "MOVED", f[0] == "ASK", f[2]
}

func isReadOnly(err error) bool {
	var answer redis.Error
	return errors.As(err, &answer) && strings.HasPrefix(answer.Error(), "READONLY")
}
