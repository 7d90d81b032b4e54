package gameday

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/runbook"
)

// staged is a service that calls break and mend, and a machine whose processes can be killed
// before any of their deeds. A program that a killed process has left behind goes on, and
// breaks the service as late as its timeout lets it.
type staged struct {
	t       *testing.T
	now     time.Time
	records []audit.Record
	broken  []string
	late    map[string]time.Time // what a program that was left behind breaks, and when
	deeds   int                  // that may still be done before the process is killed; negative for all
	refuses int                  // how many undos fail
	mended  []string             // in the order in which it was
}

// killed is the panic that ends a process.
type killed struct{}

func (s *staged) deed() {
	if s.deeds == 0 {
		panic(killed{})
	}
	s.deeds--
}

func (s *staged) Now() time.Time { return s.now }

func (s *staged) Wait(ctx context.Context, until time.Time) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.deed()
	if until.After(s.now) {
		s.now = until
	}
	for name, at := range s.late {
		if !at.After(s.now) {
			delete(s.late, name)
			s.breaks(name)
		}
	}
	return nil
}

func (s *staged) Deadline(ctx context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

func (s *staged) breaks(name string) {
	if !slices.Contains(s.broken, name) {
		s.broken = append(s.broken, name)
	}
}

// Commit is a log whose records outlive their process.
func (s *staged) Commit(actor, kind string, body any) (audit.Record, error) {
	s.deed()
	raw, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	r := audit.Record{Seq: uint64(len(s.records) + 1), At: s.now, Actor: actor, Kind: kind, Body: raw}
	s.records = append(s.records, r)
	return r, nil
}

// read reads the log as the next process does.
func (s *staged) read() []*OpenInjection {
	_, open, err := ReadDay(func(yield func(audit.Record, error) bool) {
		for _, r := range s.records {
			if !yield(r, nil) {
				return
			}
		}
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return open
}

// call is a program: `break NAME` or `mend NAME`.
func (s *staged) call(ctx context.Context, inv runbook.Invocation, timeout time.Duration) actions.CallOutcome {
	name := inv.Args[1]
	if inv.Args[0] == "mend" {
		s.deed()
		if s.refuses > 0 {
			s.refuses--
			return actions.CallOutcome{Err: "mend ended with exit status 1", Output: "not now"}
		}
		s.broken = slices.DeleteFunc(s.broken, func(b string) bool { return b == name })
		s.mended = append(s.mended, name)
		s.deed()
		return actions.CallOutcome{OK: true}
	}
	if !slices.ContainsFunc(s.read(), func(o *OpenInjection) bool { return o.Do.Args[1] == name }) {
		s.t.Errorf("%s is broken before its undo is written down", name)
	}
	s.late[name] = s.now.Add(timeout) // in case that the process is killed meanwhile
	s.deed()
	delete(s.late, name)
	s.breaks(name)
	s.deed()
	return actions.CallOutcome{OK: true, Output: "broken"}
}

// process runs something that may be killed after so many deeds; true when it was.
func (s *staged) process(deeds int, do func()) (wasKilled bool) {
	s.deeds = deeds
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(killed); !ok {
				panic(r)
			}
			wasKilled = true
		}
		s.deeds = -1
	}()
	do()
	return false
}

func callOn(name string) *runbook.Call {
	return &runbook.Call{Do: &runbook.Invocation{Args: []string{"break", name}}, Undo: &runbook.Invocation{Args: []string{"mend", name}}, Timeout: 30 * time.Second}
}

// play makes two injections, takes one back, and ends by taking back the rest.
func (s *staged) play() {
	i := NewInjector(s, s, s.call, "tester", nil)
	a, _, _ := i.Inject(s.t.Context(), 1, callOn("a"))
	_, _, _ = i.Inject(s.t.Context(), 2, callOn("b"))
	_, _, _ = i.Inject(s.t.Context(), 3, callOn("c"))
	_ = i.Undo(s.t.Context(), a)
	_ = i.UndoAll(s.t.Context())
}

// undo is a process that takes back what the one before it has left.
func (s *staged) undo() {
	_ = NewInjector(s, s, s.call, "tester", s.read()).UndoAll(s.t.Context())
}

func newStaged(t *testing.T) *staged {
	return &staged{t: t, now: time.Date(2026, 11, 29, 10, 0, 0, 0, time.UTC), late: map[string]time.Time{}, deeds: -1}
}

// However early a day is killed, and however early what undoes it, in the end nothing is broken.
func TestKilledAnywhereEverythingIsTakenBack(t *testing.T) {
	tried := 0
	for first := 0; ; first++ {
		s := newStaged(t)
		if !s.process(first, s.play) {
			break
		}
		for second := 0; ; second++ {
			s := newStaged(t)
			s.process(first, s.play)
			again := s.process(second, s.undo)
			s.process(-1, s.undo)
			_ = s.Wait(t.Context(), s.now.Add(time.Hour)) // whatever was left behind has done its worst
			if len(s.broken) > 0 || len(s.read()) > 0 {
				t.Fatalf("killed after %d deeds, its undo after %d: broken are %q, open are %v", first, second, s.broken, s.read())
			}
			tried++
			if !again {
				break
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d ways to be killed were tried", tried)
	}
}

func TestUndoIsInReverse(t *testing.T) {
	s := newStaged(t)
	s.play()
	if want := []string{"a", "c", "b"}; !slices.Equal(s.mended, want) {
		t.Errorf("mended are %q, in order %q", s.mended, want)
	}
}

func TestUndoIsTriedAgain(t *testing.T) {
	for refuses, want := range map[int]string{
		0: "", undoTries - 1: "",
		undoTries: "injection 2, break b was not taken back: mend ended with exit status 1: not now",
	} {
		s := newStaged(t)
		i := NewInjector(s, s, s.call, "tester", nil)
		_, _, _ = i.Inject(t.Context(), 1, callOn("a"))
		_, _, _ = i.Inject(t.Context(), 2, callOn("b"))
		s.refuses = refuses
		err := i.UndoAll(t.Context())
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("after %d refusals: %v", refuses, err)
		}
		if open := (want != ""); (len(i.Open()) == 1) != open || (len(s.read()) == 1) != open || slices.Contains(s.broken, "a") {
			t.Errorf("after %d refusals %v are open, %v by the log, and broken are %q", refuses, i.Open(), s.read(), s.broken)
		}
	}
}

// A log that fails injects nothing, and does not keep anything from being taken back.
func TestBrokenLog(t *testing.T) {
	s := newStaged(t)
	i := NewInjector(brokenLog{}, s, s.call, "tester", nil)
	if _, _, err := i.Inject(t.Context(), 1, callOn("a")); err == nil || !strings.Contains(err.Error(), "nothing was injected") || len(s.broken) > 0 {
		t.Errorf("%v, broken are %q", err, s.broken)
	}
	s.broken = []string{"b"}
	i = NewInjector(brokenLog{}, s, s.call, "tester", []*OpenInjection{{Injection: Injection{Number: 4, Undo: Command{Args: []string{"mend", "b"}}}}})
	if err := i.UndoAll(t.Context()); err == nil || len(s.broken) > 0 {
		t.Errorf("%v, broken are %q", err, s.broken)
	}
}

type brokenLog struct{}

func (brokenLog) Commit(string, string, any) (audit.Record, error) {
	return audit.Record{}, errors.New("the disk is full")
}

func TestCommandsAreTypedAsShellsReadThem(t *testing.T) {
	for want, c := range map[string]Command{
		"redis-cli HSET rewarm:x a=1":   {Args: []string{"redis-cli", "HSET", "rewarm:x", "a=1"}},
		`sh -c 'echo '\''$HOME'\''' ''`: {Args: []string{"sh", "-c", "echo '$HOME'", ""}},
		"POST http://127.0.0.1/break":   {Method: "POST", URL: "http://127.0.0.1/break"},
	} {
		if got := fmt.Sprint(c); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
