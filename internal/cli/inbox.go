package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/steps"
)

// letters is where the orders of a run lie.
type letters interface {
	Receive(ctx context.Context, run string) (letters []actions.Letter, lost int, err error)
	Witness(ctx context.Context, user, body string) (actions.Proof, bool, error)
}

// inbox takes orders from elsewhere out of Redis and hands them to the walk. It has a
// goroutine of its own: a walk never waits for it, and where Redis is away nothing comes.
type inbox struct {
	from   letters
	run    string
	clock  clock
	post   func(mail)
	logger *slog.Logger
	warn   func(text string)
	mu     sync.Mutex // one look at a time: orders are handed over as they came
	told   string     // the warning that was said last
	cancel context.CancelFunc
	ended  chan struct{}
}

const (
	inboxEvery = 200 * time.Millisecond // together with the walk's own work well inside a second
	inboxAgain = time.Second            // while Redis does not answer
)

// unreadable is what lay in an inbox and was no order.
type unreadable struct {
	count  int
	reason string // of the latest
}

func (b *inbox) start() {
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel, b.ended = cancel, make(chan struct{})
	go func() {
		defer close(b.ended)
		for ctx.Err() == nil {
			pause := b.look(ctx)
			_ = b.clock.Wait(ctx, b.clock.Now().Add(pause)) // the loop sees that the context has ended
		}
	}()
}

func (b *inbox) stop() {
	b.cancel()
	<-b.ended
}

// look takes what lies there now and says how long to wait for more.
func (b *inbox) look(ctx context.Context) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	list, lost, err := b.from.Receive(ctx, b.run)
	if err != nil {
		b.trouble(ctx, err)
		return inboxAgain
	}
	b.told = ""
	bad := unreadable{count: lost, reason: "more lay there than a run takes"}
	for _, entry := range list {
		l, err := readLetter(entry.Body, b.run)
		if err != nil {
			bad.count, bad.reason = bad.count+1, err.Error()
			continue
		}
		b.post(l.order(b.origin(ctx, entry, l)))
	}
	if bad.count > 0 {
		b.post(bad)
	}
	return inboxEvery
}

// origin says when an order was sent and, where that matters, whether it lies where only its
// user may write.
func (b *inbox) origin(ctx context.Context, entry actions.Letter, l letter) steps.Origin {
	origin := steps.Origin{Sent: entry.Sent.UTC(), WaitedMS: max(entry.Waited, 0).Milliseconds()}
	if !l.needsProof() {
		return origin
	}
	proof, found, err := b.from.Witness(ctx, l.By, entry.Body)
	switch {
	case err != nil:
		b.logger.Warn("it cannot be seen who approves", "error", err)
	case found:
		origin.Proof = proof
	}
	return origin
}

// trouble says once what only a person can mend; a Redis that is away is said by the walk.
func (b *inbox) trouble(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	b.logger.Debug("the inbox cannot be read", "error", err)
	var failure *actions.Failure
	if errors.As(err, &failure) && failure.Retry == 0 && b.told != failure.Sentence {
		b.told = failure.Sentence
		b.warn("orders from elsewhere do not arrive: " + failure.Sentence)
	}
}

// hearOrders lets orders from elsewhere come to the walk, and gives the driver the way back
// and a look of its own. On the lab nobody else can reach its Redis.
func (w *walk) hearOrders(d *driver) {
	if w.on.lab {
		d.answers = func(answered) {}
		return
	}
	run, screen := w.folder.run, w.p.err
	put := func(ctx context.Context, lines [][]byte) error { return w.on.store.Answer(ctx, run, lines) }
	back := startMirror(put, w.p.clock, w.p.log)
	w.closeLater(func() error { back.close(); return nil })
	answer := func(a answered) {
		line, err := json.Marshal(a)
		if err == nil {
			back.send(line)
		}
	}
	b := &inbox{from: w.on.store, run: run, clock: w.p.clock, post: w.mail.post, logger: w.p.log,
		warn: func(text string) { sayWarning(screen, text) }}
	b.start()
	w.closeLater(func() error {
		b.stop()
		turnAway(w.mail.take(), answer)
		return nil
	})
	d.answers, d.look = answer, func(ctx context.Context) { b.look(ctx) }
}

// turnAway answers the orders that a walk has not read before it stopped.
func turnAway(items []mail, answer func(answered)) {
	for _, item := range items {
		if o, ok := item.(steps.Order); ok {
			answer(answered{ID: o.Origin.ID, Refused: "the walk had stopped before it read this; nothing was done",
				Hint: "rewarm status says where the run stands"})
		}
	}
}

// receive hands an order from elsewhere to the machine, and the answer back.
func (d *driver) receive(o steps.Order) error {
	receipt, err := d.machine.Receive(o)
	if err != nil {
		return err
	}
	a := answered{ID: o.Origin.ID, Seq: receipt.Seq, Refused: receipt.Refused, Hint: receipt.Hint, Again: receipt.Again,
		Blocking: receipt.Blocking}
	if receipt.Refused == "" {
		a.Waits = d.undoWaits(o)
	}
	d.answers(a)
	return nil
}

// junk counts what lay in the inbox and was no order: a writer that floods it must not
// flood the log.
type junk struct {
	unreadable
	told time.Time
}

// junkEvery is how often such entries are noted at most.
const junkEvery = time.Minute

func (d *driver) refuseUnreadable(u unreadable) error {
	d.junk.count, d.junk.reason = d.junk.count+u.count, u.reason
	if now := d.clock.Now(); d.junk.told.IsZero() || now.Sub(d.junk.told) >= junkEvery {
		text := fmt.Sprintf("%s of the inbox refused: %s", entriesOf(d.junk.count), d.junk.reason)
		d.junk.count, d.junk.told = 0, now
		return d.note(text)
	}
	return nil
}

func entriesOf(n int) string {
	if n == 1 {
		return "1 entry"
	}
	return fmt.Sprintf("%d entries", n)
}
