package cli

import (
	"errors"
	"iter"
	"os"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/gameday"
	"github.com/rewarm/rewarm/steps"
)

// stagedJournal is the log of a run that a game day walks on real servers: that of an ordinary
// run, with its folder, its mirror in Redis and its signed heads.
type stagedJournal struct {
	*journal
	walk *walk
}

// journal begins the log of a run.
func (s *stage) journal(run string, _ gameday.Clock) (gameday.Journal, error) {
	folder, err := s.p.newRunFolder(run)
	if err != nil {
		return nil, err
	}
	w := &stagedJournal{walk: &walk{p: s.p, doc: s.day.Book, on: s.on, folder: folder}}
	err = w.open(func(o audit.Options) (*audit.Log, error) { return audit.Create(folder.logPath(), s.on.clock, o) })
	if err != nil {
		return nil, fail(exitError, err, "make the state directory writable, or give another --state-dir")
	}
	s.walks = append(s.walks, w)
	return w, nil
}

func (j *stagedJournal) open(open func(audit.Options) (*audit.Log, error)) error {
	w := j.walk
	options, err := w.auditOptions(w.folder.run, nil)
	if err != nil {
		return err
	}
	if w.log, err = open(options); err != nil {
		return err
	}
	w.closeLater(w.log.Close)
	j.journal = &journal{
		log: w.log, mirror: w.mirror(w.folder.run), key: w.p.headKey(), logger: w.p.log,
		publish: func(audit.Head, []byte) {},
	}
	return nil
}

// Reopen goes on after the process of the walk was killed.
func (j *stagedJournal) Reopen() (iter.Seq2[audit.Record, error], error) {
	if err := j.walk.close(); err != nil {
		return nil, err
	}
	err := j.open(func(o audit.Options) (*audit.Log, error) {
		return audit.Open(j.walk.folder.logPath(), j.walk.on.clock, o)
	})
	if err != nil {
		return nil, err
	}
	return j.walk.log.Records(), nil
}

// Close may be called again. A run that never began leaves no folder.
func (j *stagedJournal) Close() error {
	_, begun := j.walk.log.Head()
	err := j.walk.close()
	if !begun {
		err = errors.Join(err, os.RemoveAll(j.walk.folder.dir))
	}
	return err
}

var _ steps.Journal = (*stagedJournal)(nil)
