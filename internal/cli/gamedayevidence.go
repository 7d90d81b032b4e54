package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rewarm/rewarm/internal/gameday"
)

// dayKeeper keeps the logs of a game day on disk until bundles of evidence are made of them.
type dayKeeper struct {
	p    *program
	to   string // the folder of the bundles
	logs string
}

func newDayKeeper(p *program, to string) (*dayKeeper, error) {
	logs, err := os.MkdirTemp(to, ".logs-")
	if err != nil {
		return nil, fail(exitError, err, "give another folder with --evidence")
	}
	return &dayKeeper{p, to, logs}, nil
}

func (k *dayKeeper) close() { _ = os.RemoveAll(k.logs) }

func (k *dayKeeper) folder(run string) runFolder {
	return runFolder{run: run, dir: filepath.Join(k.logs, run)}
}

func (k *dayKeeper) journal(run string, clock gameday.Clock) (gameday.Journal, error) {
	if err := os.RemoveAll(k.folder(run).dir); err != nil { // of a walk that could not begin
		return nil, err
	}
	return gameday.FileJournal(k.folder(run).logPath(), clock)
}

// ended captures what can vanish and writes the bundle of one run.
func (k *dayKeeper) ended(ctx context.Context, e gameday.Ended) error {
	folder := k.folder(e.Run)
	c := &capturer{dir: folder.dir, state: e.State, probes: e.Prober, store: e.Store, clock: e.Clock}
	if err := c.capture(ctx); err != nil {
		return err
	}
	return k.p.writeBundle(k.to, folder)
}

// writeBundle writes the bundle of a run of a game day into a folder.
func (p *program) writeBundle(dir string, folder runFolder) error {
	to, err := os.Create(filepath.Join(dir, folder.run+".evidence.zip"))
	if err != nil {
		return fail(exitError, err, "give another folder with --evidence")
	}
	if err := errors.Join(p.bundle(to, []runFolder{folder}), to.Close()); err != nil {
		return fmt.Errorf("the evidence: %w", err)
	}
	return nil
}
