package cli

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/notify"
	"github.com/rewarm/rewarm/runbook"
)

// notifyLast is how long a walk that has ended goes on trying to deliver what is left.
const notifyLast = 3 * time.Second

// withoutNotify is the way out of a walk whose receivers cannot be read: nothing may stand before a brake.
const withoutNotify = `; --notify "" walks without it`

// receivers reads --notify.
func (p *program) receivers() ([]notify.Receiver, error) {
	file := p.settings.notify
	if file == "" {
		return nil, nil
	}
	source, err := os.ReadFile(file)
	if err != nil {
		return nil, usage(fmt.Errorf("--notify: %w", err), "make the file readable"+withoutNotify)
	}
	list, err := notify.Parse(file, source, notify.Secrets{Env: p.where.getenv, File: func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(file), name)
		}
		return os.ReadFile(name)
	}})
	var problems runbook.Problems
	if errors.As(err, &problems) {
		problems[len(problems)-1].Hint += withoutNotify
	}
	return list, err
}

// notifier tells others what happens in a walk. Each receiver has a goroutine of its own: neither the walk nor another
// receiver waits for it.
type notifier struct {
	run      string
	words    *transcript
	couriers []*notify.Courier
	got      *deliveries
	signed   string // the newest signed head, as a note
	live     bool   // a record of this process was told

	running sync.WaitGroup
	cancel  context.CancelFunc
}

// notifies begins to tell others of a run, where somebody is to be told.
func (w *walk) notifies(run string) {
	if len(w.receivers) == 0 {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	n := &notifier{run: run, words: briefWords(), got: openDeliveries(w.folder.dir, w.p.log), cancel: cancel}
	transport, idle := w.p.outside()
	post := w.mail.post
	for _, receiver := range w.receivers {
		courier := notify.NewCourier(receiver, notify.Options{
			Run: run, Service: w.doc.Service, Lab: w.on.lab, Clock: w.p.clock, Transport: transport, Jitter: rand.Float64,
			Delivered: n.got.note,
			Trouble:   func(r notify.Receiver, words string) { post(undelivered{receiverName(r) + " " + words}) },
		})
		n.couriers = append(n.couriers, courier)
		n.running.Go(func() { courier.Run(ctx) })
	}
	w.watchers = append(w.watchers, n)
	w.notifier = n
	w.closeLater(func() error {
		n.close(w)
		idle()
		return nil
	})
}

// outside carries what others are told; idle closes what it keeps open.
func (p *program) outside() (transport http.RoundTripper, idle func()) {
	if p.where.outside != nil {
		return p.where.outside, func() {}
	}
	network := http.DefaultTransport.(*http.Transport).Clone()
	return network, network.CloseIdleConnections
}

// receiverName names a receiver without its secrets.
func receiverName(r notify.Receiver) string { return "receiver " + r.Name + " (" + r.Place() + ")" }

// undelivered says that a receiver does not take messages, or does again.
type undelivered struct{ text string }

// hears writes down what becomes of what others are told, and says it to the person.
func (d *driver) hears(u undelivered) error {
	sayWarning(d.say, u.text)
	return d.note(u.text)
}

// shown tells of a record of this process.
func (n *notifier) shown(record audit.Record, body any) {
	if !n.live {
		n.live = true
		n.got.beginAt(record.Seq, n.couriers)
	}
	event, ok := n.event(record, body)
	if !ok {
		return
	}
	for _, courier := range n.couriers {
		courier.Send(event, n.signed)
	}
}

// replayed tells of a record of a process before this one, where it is known that a receiver does not have it.
func (n *notifier) replayed(record audit.Record, body any) {
	event, ok := n.event(record, body)
	if !ok {
		return
	}
	for _, courier := range n.couriers {
		if n.got.lacks(courier.Receiver().Name, record.Seq) {
			courier.Send(event, "")
		}
	}
}

func (n *notifier) event(record audit.Record, body any) (notify.Event, bool) {
	lines := n.words.heard(record, body)
	if len(lines) == 0 {
		return notify.Event{}, false
	}
	said := notify.Said{Where: oneLine(lines[0].where), Text: oneLine(lines[0].text)}
	for _, row := range lines[0].rows {
		said.Rows = append(said.Rows, oneLine(row))
	}
	return notify.Tell(n.run, record, body, said)
}

// close gives what is left a moment, and says what was not delivered. Who leaves at once does not wait for it.
func (n *notifier) close(w *walk) {
	p := w.p
	patience := notifyLast
	if w.hurried {
		patience = 0
	}
	last, stop := p.clock.Deadline(context.Background(), patience)
	defer stop()
	for _, courier := range n.couriers {
		courier.End()
	}
	ended := make(chan struct{})
	go func() {
		n.running.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-last.Done():
	}
	n.cancel()
	<-ended
	for _, courier := range n.couriers {
		if s := courier.Stats(); s.Undelivered() > 0 {
			r := courier.Receiver()
			sayWarning(p.err, fmt.Sprintf("%s of this walk did not reach %s%s",
				countOf(s.Undelivered(), "event"), receiverName(r), also(": ", s.Last)))
			p.log.Warn("events were not delivered", "receiver", r.Name, "events", s.Undelivered(), "why", s.Last)
		}
	}
}
