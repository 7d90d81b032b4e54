package controls

import (
	"bufio"
	"context"
	"errors"
	"net"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
)

// A call that was given up learns only later that its node hung. What has reached the node since keeps its connection.
func TestACallThatWasGivenUpBreaksNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		accepted := make(chan net.Conn, 2)
		s := NewServer(Target{Network: "tcp", Addrs: []string{"hung:6379"}}, ServerOptions{
			Certain: true, Timeout: time.Hour,
			Dial: func(context.Context, string, string) (net.Conn, error) {
				client, server := net.Pipe()
				accepted <- server
				return client, nil
			},
		})
		t.Cleanup(func() { _ = s.Close() })

		ctx, giveUp := context.WithCancel(t.Context())
		first := make(chan error, 1)
		go func() { first <- s.Do(ctx, redis.NewCmd(ctx, "incr", "a")) }()
		hung := <-accepted
		awaitCommand(t, hung, bufio.NewReader(hung), "ping")
		giveUp()
		var notSent *NotSentError
		if err := <-first; !errors.As(err, &notSent) {
			t.Fatalf("a call that was given up: %v, want that nothing was sent", err)
		}

		second := make(chan error, 1)
		go func() { second <- s.Do(t.Context(), redis.NewCmd(t.Context(), "incr", "b")) }()
		alive := <-accepted
		commands := bufio.NewReader(alive)
		awaitCommand(t, alive, commands, "ping")
		_ = hung.Close()
		synctest.Wait() // the first call learns of it, and the server leaves the node
		if s.client != nil {
			t.Fatal("the node that hung is still used")
		}
		answer(t, alive, "+PONG\r\n")
		awaitCommand(t, alive, commands, "incr")
		answer(t, alive, ":1\r\n")
		if err := <-second; err != nil {
			t.Errorf("the call after it: %v", err)
		}
	})
}

// awaitCommand refuses what a client sends, its greeting among it, until a command has come.
func awaitCommand(t *testing.T, conn net.Conn, r *bufio.Reader, name string) {
	t.Helper()
	for {
		got := strings.ToLower(readCommand(t, r))
		if got == name {
			return
		}
		answer(t, conn, "-ERR unknown command '"+got+"'\r\n")
	}
}

// readCommand gives the name of the next command, without its arguments.
func readCommand(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	var words []string
	for left := 1; left > 0; left-- {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("reading a command: %v", err)
		}
		line = strings.TrimSpace(line)
		if n, isArray := strings.CutPrefix(line, "*"); isArray {
			count, _ := strconv.Atoi(n)
			left += 2 * count // a length and a text each
			continue
		}
		words = append(words, line)
	}
	return words[1]
}

func answer(t *testing.T, conn net.Conn, text string) {
	t.Helper()
	if _, err := conn.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}
