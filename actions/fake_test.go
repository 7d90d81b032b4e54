package actions

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rewarm/rewarm/actions/controls"
)

// testClock counts deadlines in real time.
type testClock struct{}

func (testClock) Now() time.Time { return time.Now() }

func (testClock) Wait(ctx context.Context, until time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	<-ctx.Done()
	return context.Cause(ctx)
}

func (testClock) Deadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d)
}

// node is a server that says what the test wants, and remembers what it was
// asked. It is stricter than Redis: the handshake must be HELLO, and a command
// that the test did not expect fails it.
type node struct {
	t      testing.TB
	answer func(args []string) string // raw RESP; "" hangs until the connection ends

	mu   sync.Mutex
	seen [][]string
}

// network dials nodes by address; other addresses refuse.
type network map[string]*node

func (n network) dial(_ context.Context, _, addr string) (net.Conn, error) {
	at, ok := n[addr]
	if !ok {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	}
	ours, theirs := net.Pipe()
	go at.serve(theirs)
	return pipeEnd{ours}, nil
}

// pipeEnd lets deadlines be set after the other end has gone, as on a socket;
// the next read or write tells.
type pipeEnd struct{ net.Conn }

func (p pipeEnd) SetReadDeadline(t time.Time) error {
	_ = p.Conn.SetReadDeadline(t)
	return nil
}

func (p pipeEnd) SetWriteDeadline(t time.Time) error {
	_ = p.Conn.SetWriteDeadline(t)
	return nil
}

func (n *node) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	in := bufio.NewReader(conn)
	for {
		args, err := readCommand(in)
		if err != nil {
			return
		}
		reply := n.reply(args)
		if reply == hangUp {
			return
		}
		if reply == "" {
			_, _ = io.Copy(io.Discard, in)
			return
		}
		if _, err := io.WriteString(conn, reply); err != nil {
			return
		}
	}
}

func (n *node) reply(args []string) string {
	n.mu.Lock()
	n.seen = append(n.seen, args)
	n.mu.Unlock()
	switch strings.ToLower(args[0]) {
	case "hello":
		return "*2\r\n$5\r\nproto\r\n:2\r\n"
	case "ping":
		if reply := n.answer(args); reply != pass {
			return reply
		}
		return "+PONG\r\n"
	}
	reply := n.answer(args)
	if reply == pass {
		n.t.Errorf("unexpected command %q", args)
		return "-ERR unexpected\r\n"
	}
	return reply
}

const (
	pass   = "pass"    // leaves an answer to the node
	hangUp = "hang up" // closes the connection instead of answering
)

// count says how many commands of this name were seen.
func (n *node) count(name string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	c := 0
	for _, args := range n.seen {
		if strings.EqualFold(args[0], name) {
			c++
		}
	}
	return c
}

// commands are the names of all commands seen, each once, sorted.
func (n *node) commands() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var names []string
	for _, args := range n.seen {
		names = append(names, strings.ToLower(args[0]))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func readCommand(in *bufio.Reader) ([]string, error) {
	n, err := readCount(in, '*')
	if err != nil {
		return nil, err
	}
	args := make([]string, n)
	for i := range args {
		size, err := readCount(in, '$')
		if err != nil {
			return nil, err
		}
		buf := make([]byte, size+2)
		if _, err := io.ReadFull(in, buf); err != nil {
			return nil, err
		}
		args[i] = string(buf[:size])
	}
	return args, nil
}

func readCount(in *bufio.Reader, kind byte) (int, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if line[0] != kind {
		return 0, fmt.Errorf("%q where %q was expected", line, kind)
	}
	return strconv.Atoi(strings.TrimSpace(line[1:]))
}

// words writes an array of bulk strings.
func words(items ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(items))
	for _, item := range items {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(item), item)
	}
	return b.String()
}

func openStore(t testing.TB, url string, dial controls.DialFunc, timeout time.Duration) *Store {
	t.Helper()
	s, err := Open(Options{URL: url, Dial: dial, Service: "catalog", Clock: testClock{}, Timeout: timeout})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
