package gameday

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// Target is real servers that a day is played on, in real time.
type Target struct {
	Clock Clock
	// Prober and Store open ways to Prometheus and to the controls, for those who judge.
	Prober func() (*probes.Poller, error)
	Store  func() (*actions.Store, error)
	// Process makes a process of a run.
	Process  func(Walk) (Process, error)
	Injector *Injector
	// Stop is done when the day is to end early. Its walk is then stopped in order; the
	// injections are taken back by whoever made the Injector.
	Stop context.Context
}

// ErrStopped says that a day was ended early, so that nothing is known of what it expects.
var ErrStopped = errors.New("the game day was interrupted: it is not judged, so it has neither passed nor failed")

// servers is a ground of real servers. The calls of the timeline run in goroutines of their own; what they
// bring is taken in once a second.
type servers struct {
	w       *world
	target  *Target
	reader  *actions.Store
	live    map[string]actions.Live // what the controls are, nil while they cannot be read
	calling context.Context         // of all calls
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu   sync.Mutex
	mail []func() error
}

func newServers(w *world) (*servers, error) {
	t := w.options.Target
	reader, err := t.Store()
	if err != nil {
		return nil, err
	}
	s := &servers{w: w, target: t, reader: reader}
	s.calling, s.cancel = context.WithCancel(t.Stop)
	w.clock = t.Clock
	return s, nil
}

// close ends the calls that are under way, and waits for them.
func (s *servers) close() {
	s.cancel()
	s.running.Wait()
	_ = s.reader.Close()
}

func (s *servers) witness() (*probes.Poller, error)   { return s.target.Prober() }
func (s *servers) store() (*actions.Store, error)     { return s.target.Store() }
func (s *servers) process(walk Walk) (Process, error) { return s.target.Process(walk) }

// end: the logs of the runs are with whoever made their processes.
func (s *servers) end(context.Context) error { return nil }

// figures: real servers tell theirs to nobody but Prometheus.
func (s *servers) figures() (lab.Figures, bool) { return lab.Figures{}, false }

// value is what the store held at the beginning of this second.
func (s *servers) value(c *runbook.Control) (runbook.Value, bool) {
	live, known := s.live[c.Name]
	return live.Value, known && live.Invalid == ""
}

// second takes in what calls have brought, and reads the controls.
func (s *servers) second(ctx context.Context) error {
	s.mu.Lock()
	mail := s.mail
	s.mail = nil
	s.mu.Unlock()
	for _, take := range mail {
		if err := take(); err != nil {
			return err
		}
	}
	controls := s.w.day.Book.Controls
	all := make([]*runbook.Control, len(controls))
	for i := range controls {
		all[i] = &controls[i]
	}
	live, err := s.reader.Read(ctx, all)
	if s.live = live; err != nil {
		s.live = nil // unknown is not what it was before
	}
	return nil
}

func (s *servers) post(take func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mail = append(s.mail, take)
}

// befall injects what a call of the timeline breaks.
func (s *servers) befall(h *runbook.Happening, _ lab.Event) (outcome, detail string) {
	s.running.Go(func() {
		made, end, err := s.target.Injector.Inject(s.calling, h.Pos.Line, h.Call)
		s.post(func() error { return s.injected(h, made, end, err) })
	})
	return "began", commandOf(h.Call.Do).String()
}

// injected hears how an injection ended. A day whose fault did not happen proves nothing.
func (s *servers) injected(h *runbook.Happening, made *OpenInjection, end actions.CallOutcome, err error) error {
	switch {
	case err != nil:
		return fmt.Errorf("line %d: %w", h.Pos.Line, err)
	case !end.OK:
		return fmt.Errorf("line %d: %s failed: %s%s", h.Pos.Line, made, end.Err, saying(end.Output))
	}
	s.w.tell(Event{Event: h.Event, Outcome: "done", Detail: made.Do.String() + saying(end.Output)})
	if h.For > 0 {
		s.w.later(h.For, func() { s.takeBack(made) })
	}
	return nil
}

func saying(output string) string {
	if output == "" {
		return ""
	}
	return ": " + output
}

// takeBack undoes an injection during the day. When that fails, it is tried again at its end.
func (s *servers) takeBack(made *OpenInjection) {
	s.running.Go(func() {
		err := s.target.Injector.Undo(s.calling, made)
		s.post(func() error {
			e := Event{Event: "undo", Outcome: "done", Detail: made.Undo.String()}
			if err != nil {
				e.Outcome, e.Detail = "failed", err.Error()
			}
			s.w.tell(e)
			return nil
		})
	})
}
