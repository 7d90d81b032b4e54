package actions

import (
	"log/slog"
	"sync"
	"testing"
)

// TestLoggerIsSetInAnyOrder opens stores before and after a logger was given, whichever is
// the first to touch the client's: neither may wait for the other.
func TestLoggerIsSetInAnyOrder(t *testing.T) {
	open := func() {
		s, err := Open(Options{URL: "redis://in-process:6379", Service: "catalog", Clock: testClock{}})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	logTo := func() { LogTo(slog.New(slog.DiscardHandler)) }
	t.Cleanup(func() { quietClient = sync.Once{} })
	for _, order := range [][]func(){{open}, {open, logTo, open}, {logTo, open, logTo}} {
		quietClient = sync.Once{}
		for _, do := range order {
			do()
		}
	}
}
