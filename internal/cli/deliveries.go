package cli

import (
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/notify"
)

// deliveries is a file in a run's folder: up to which record each receiver has everything that it is told of. A resume
// goes on from there. It is a help and no record: where it is lost, a receiver may miss events or get them twice.
type deliveries struct {
	path   string
	logger *slog.Logger

	mu   sync.Mutex
	upTo map[string]uint64 // by receiver
}

func openDeliveries(dir string, logger *slog.Logger) *deliveries {
	d := &deliveries{path: filepath.Join(dir, "notified.json"), logger: logger, upTo: map[string]uint64{}}
	text, err := audit.ReadRegular(d.path, audit.MaxBeside)
	if err == nil {
		err = json.Unmarshal(text, &d.upTo)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		logger.Warn("it is not known what was delivered", "error", err)
	}
	if err != nil || d.upTo == nil { // a part of it, or null
		d.upTo = map[string]uint64{}
	}
	return d
}

// lacks reports whether it is known that a receiver does not have a record. Of one that is told for the first time
// nothing is known, and it is told of what is to come.
func (d *deliveries) lacks(receiver string, seq uint64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	upTo, known := d.upTo[receiver]
	return known && seq > upTo
}

// beginAt lets receivers that are new begin with a record.
func (d *deliveries) beginAt(seq uint64, couriers []*notify.Courier) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, courier := range couriers {
		if name := courier.Receiver().Name; d.upTo[name] == 0 {
			d.upTo[name] = seq - 1
		}
	}
	d.keep()
}

// note keeps that a receiver has everything up to a record.
func (d *deliveries) note(receiver string, seq uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.upTo[receiver] = max(d.upTo[receiver], seq)
	d.keep()
}

// keep writes the file in one piece.
func (d *deliveries) keep() {
	text, err := json.Marshal(d.upTo)
	if err == nil {
		err = os.WriteFile(d.path+".new", append(text, '\n'), 0o600)
	}
	if err == nil {
		err = os.Rename(d.path+".new", d.path)
	}
	if err != nil {
		d.logger.Warn("what was delivered is not kept", "error", err)
	}
}
