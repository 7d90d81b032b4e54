package actions

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
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

// TestTheClientsLogKeepsSecrets: the client logs the errors of servers, which may repeat what they were told, as they are
// and quoted, and of any store of the process.
func TestTheClientsLogKeepsSecrets(t *testing.T) {
	for _, url := range []string{"redis://op:s3cr%22t@a:1", "redis://op:s3cr%22t-and-more@a:1"} {
		openStore(t, url, network{}.dial, 0)
	}
	var logged bytes.Buffer
	log := clientLog{slog.New(slog.NewJSONHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))}
	for _, told := range []string{`s3cr"t`, `s3cr"t-and-more`} {
		log.Printf(t.Context(), "push: %v, line %q", errors.New("ERR no "+told), told)
	}
	if text := logged.String(); strings.Contains(text, "s3cr") || strings.Contains(text, "more") || strings.Count(text, "no ***, line") != 2 {
		t.Errorf("the log has %s", text)
	}
}
