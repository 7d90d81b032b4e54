package actions

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rewarm/rewarm/actions/controls"
)

// says dials a server that reads once, says something and is silent, or closes the connection.
func says(reply string, closes bool) controls.DialFunc {
	return func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			if closes && reply == "" {
				return
			}
			_, _ = theirs.Read(make([]byte, 4096))
			_, _ = io.WriteString(theirs, reply)
			if !closes {
				_, _ = io.Copy(io.Discard, theirs)
			}
		}()
		return pipeEnd{ours}, nil
	}
}

func blackHole(ctx context.Context, _, _ string) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestFirstContact: whatever does not answer as Redis does is a wrong address; a Redis in trouble is none.
func TestFirstContact(t *testing.T) {
	for _, test := range []struct {
		name       string
		url        string
		dial       func(t *testing.T) controls.DialFunc
		unanswered bool
		hint       string
	}{
		{"refused", "redis://a:1", every(network{}.dial), true, "address is right"},
		{"dropped", "redis://a:1", every(blackHole), true, "address is right"},
		{"silent", "redis://a:1", every(says("", false)), true, "address is right"},
		{"silent with TLS", "rediss://a:1", every(says("", false)), true, "address is right"},
		{"TLS to a plain port", "rediss://a:1", every(says("-ERR unknown command\r\n", false)), true, "redis://"},
		{"closes", "redis://a:1", every(says("", true)), true, "rediss://"},
		{"half an answer", "redis://a:1", every(says("*2\r\n$5\r\npro", false)), true, "address is right"},
		{"half an answer and closes", "redis://a:1", every(says("*2\r\n$5\r\npro", true)), true, "address is right"},
		{"another protocol", "redis://a:1", every(says("HTTP/1.1 400 Bad Request\r\n\r\n", true)), true, ""},
		{"no such database", "redis://a:1/99", always("-ERR DB index is out of range\r\n"), true, "databases"},
		{"a cluster has one", "redis://a:1/1", always("-ERR SELECT is not allowed in cluster mode\r\n"), true, "databases"},
		{"loading", "redis://a:1", always("-LOADING Redis is loading the dataset in memory\r\n"), false, ""},
		{"readonly", "redis://a:1", always("-READONLY You can't write against a read only replica.\r\n"), false, ""},
		{"misconf", "redis://a:1", always("-MISCONF Errors writing to the AOF file\r\n"), false, ""},
		{"busy", "redis://a:1", always("-BUSY Redis is busy running a script.\r\n"), false, ""},
		{"no password", "redis://a:1", always("-NOAUTH Authentication required.\r\n"), false, ""},
		{"a proxy's error", "redis://a:1", always("-ERR the backend is away\r\n"), false, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := openStore(t, test.url, test.dial(t), 2*time.Second)
				_, err := s.Identity(t.Context())
				var failure *Failure
				got := errors.As(err, &failure) && failure.Unanswered()
				if got != test.unanswered {
					t.Errorf("unanswered %t: %v", got, err)
				}
				if got && (!strings.Contains(failure.Hint, test.hint) || strings.Contains(failure.Hint, "settle")) {
					t.Errorf("hint %q", failure.Hint)
				}
				_ = s.Close()
				time.Sleep(time.Minute) // virtual: lets the dials end
			})
		})
	}
}

func every(dial controls.DialFunc) func(*testing.T) controls.DialFunc {
	return func(*testing.T) controls.DialFunc { return dial }
}

// always is a Redis that answers all that follows its handshake in one way.
func always(reply string) func(*testing.T) controls.DialFunc {
	return func(t *testing.T) controls.DialFunc {
		return network{"a:1": {t: t, answer: func([]string) string { return reply }}}.dial
	}
}

// TestWhoCallsOffHasNotWaited: an interrupt at first contact says nothing of the address.
func TestWhoCallsOffHasNotWaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openStore(t, "redis://a:1", says("", false), time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err := s.Identity(ctx)
		var failure *Failure
		if errors.As(err, &failure) && failure.Unanswered() {
			t.Errorf("unanswered: %v", err)
		}
		_ = s.Close()
		time.Sleep(2 * time.Minute) // virtual: lets the read end
	})
}
