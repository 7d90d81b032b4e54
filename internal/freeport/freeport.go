// Package freeport finds ports on loopback for servers that tests start.
package freeport

import (
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
)

// Linux gives outgoing connections and listeners on port 0 their ports from 32768 on, and others from 49152 on. A port
// from there may be taken again between the look at it and the start of the server, so these lie below.
const (
	first = 10000
	end   = 32768
)

// Tests of several packages run at once, each a process of its own, and begin at different places.
var next = newCursor(os.Getpid())

func newCursor(process int) *atomic.Int64 {
	c := new(atomic.Int64)
	c.Store(int64(process) * 97)
	return c
}

// Take gives a port on 127.0.0.1 where nothing listens, and that it has not given before to this process.
func Take(t testing.TB) string {
	t.Helper()
	for range end - first {
		port := strconv.FormatInt(first+next.Add(1)%(end-first), 10)
		if l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port)); err == nil {
			_ = l.Close()
			return port
		}
	}
	t.Fatalf("no port from %d to %d is free on 127.0.0.1", first, end-1)
	return ""
}
