package freeport

import (
	"net"
	"strconv"
	"testing"
)

func TestTake(t *testing.T) {
	taken := map[string]bool{}
	for range 50 {
		port := Take(t)
		if n, err := strconv.Atoi(port); err != nil || n < first || n >= end {
			t.Fatalf("port %s, want one from %d to %d", port, first, end-1)
		}
		if taken[port] {
			t.Fatalf("port %s was given twice", port)
		}
		taken[port] = true
		l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
	}
}
