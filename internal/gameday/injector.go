package gameday

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/runbook"
)

// InjectionLog takes what a day does to real servers.
type InjectionLog interface {
	// Commit writes a record and returns when it is on disk.
	Commit(actor, kind string, body any) (audit.Record, error)
}

// CallFunc makes a call, as [actions.RunCall] does.
type CallFunc func(ctx context.Context, inv runbook.Invocation, timeout time.Duration) actions.CallOutcome

// Injector makes injections and takes them back. Nothing is made before its undo is on disk.
// Its methods may be called from several goroutines.
type Injector struct {
	log   InjectionLog
	clock Clock
	call  CallFunc
	actor string

	mu   sync.Mutex
	last int
	open []*OpenInjection
}

// NewInjector takes up what earlier processes have left open, in the order in which it was made.
func NewInjector(log InjectionLog, clock Clock, call CallFunc, actor string, open []*OpenInjection) *Injector {
	i := &Injector{log: log, clock: clock, call: call, actor: actor, open: slices.Clone(open)}
	for _, made := range open {
		i.last = max(i.last, made.Number)
	}
	return i
}

// An undo that fails is tried so often, and so long after one another.
const (
	undoTries = 3
	undoPause = 2 * time.Second
)

// Inject makes one injection. The error says why it was not made, or that nobody could write
// down how it ended; an injection that failed is open as well, as nobody knows what it did.
func (i *Injector) Inject(
	ctx context.Context, line int, call *runbook.Call,
) (*OpenInjection, actions.CallOutcome, error) {
	made, err := i.intend(line, call)
	if err != nil {
		return nil, actions.CallOutcome{}, fmt.Errorf("nothing was injected, as its undo could not be written down: %w", err)
	}
	outcome := i.call(ctx, *call.Do, call.Timeout)
	_, err = i.log.Commit(i.actor, KindInjected, endOf(made, outcome))
	return made, outcome, err
}

// intend puts an injection and its undo on disk.
func (i *Injector) intend(line int, call *runbook.Call) (*OpenInjection, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	made := &OpenInjection{At: i.clock.Now(), Injection: Injection{Number: i.last + 1, Line: line,
		Do: commandOf(call.Do), Undo: commandOf(call.Undo), TimeoutMS: call.Timeout.Milliseconds()}}
	if _, err := i.log.Commit(i.actor, KindInjecting, made.Injection); err != nil {
		return nil, err
	}
	i.last++
	i.open = append(i.open, made)
	return made, nil
}

func endOf(made *OpenInjection, o actions.CallOutcome) CallEnd {
	return CallEnd{Number: made.Number, OK: o.OK, Output: o.Output, Error: o.Err}
}

// Open are the injections that are not known to have been taken back, oldest first.
func (i *Injector) Open() []*OpenInjection {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.open)
}

// Undo takes one injection back. One that may still be under way, as its process was killed,
// is taken back at once, and again when its time is over.
func (i *Injector) Undo(ctx context.Context, made *OpenInjection) error {
	until := made.At.Add(made.timeout())
	if made.Uncertain && i.clock.Now().Before(until) {
		if err := i.undo(ctx, made, true); err != nil {
			return err
		}
		if err := i.clock.Wait(ctx, until); err != nil {
			return fmt.Errorf("%s may still have been under way when it was taken back: %w", made, err)
		}
	}
	return i.undo(ctx, made, false)
}

// undo tries until it succeeds, some times.
func (i *Injector) undo(ctx context.Context, made *OpenInjection, again bool) error {
	var end CallEnd
	for try := range undoTries {
		if ctx.Err() != nil {
			return fmt.Errorf("%s was not taken back: it was interrupted", made)
		}
		if try > 0 && i.clock.Wait(ctx, i.clock.Now().Add(undoPause)) != nil {
			break
		}
		end = endOf(made, i.call(ctx, made.Injection.Undo.invocation(), made.timeout()))
		end.Again = again
		if _, err := i.log.Commit(i.actor, KindUndone, end); err != nil {
			return fmt.Errorf("%s: how its undo ended could not be written down: %w", made, err)
		}
		if end.OK {
			i.close(made, again)
			return nil
		}
	}
	return fmt.Errorf("%s was not taken back: %s%s", made, end.Error, saying(end.Output))
}

func (i *Injector) close(made *OpenInjection, again bool) {
	if again {
		return
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.open = slices.DeleteFunc(i.open, func(o *OpenInjection) bool { return o == made })
}

// UndoAll takes back everything that is open, the latest first. One that fails does not keep
// the others from being tried.
func (i *Injector) UndoAll(ctx context.Context) error {
	var errs []error
	for _, made := range slices.Backward(i.Open()) {
		errs = append(errs, i.Undo(ctx, made))
	}
	return errors.Join(errs...)
}
