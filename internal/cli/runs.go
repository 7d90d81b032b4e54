package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rewarm/rewarm/audit"
)

// runFolder is where one run keeps its log and head.
type runFolder struct{ dir, run string }

func (f runFolder) logPath() string  { return filepath.Join(f.dir, "audit.jsonl") }
func (f runFolder) headPath() string { return filepath.Join(f.dir, "head") }

// head is the signed head beside the log, unopened; nil when there is none, or it cannot be read.
func (f runFolder) head() ([]byte, error) {
	signed, err := audit.ReadRegular(f.headPath(), audit.MaxBeside)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return signed, err
}

// runShape is the form of a run's id; nothing else in the folder of runs is one.
var runShape = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[0-9]{8}T[0-9]{6}Z-[a-z0-9][a-z0-9._-]{0,200}$`)
})

func (p *program) runsHome() (string, error) {
	home, err := p.stateHome()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, "runs"), nil
}

func (p *program) keysHome() (string, error) {
	home, err := p.stateHome()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, "keys"), nil
}

func (p *program) newRunFolder(run string) (runFolder, error) {
	home, err := p.runsHome()
	if err != nil {
		return runFolder{}, err
	}
	return runFolder{dir: filepath.Join(home, run), run: run}, nil
}

// runFolders gives every run, oldest first.
func (p *program) runFolders() ([]runFolder, error) {
	home, err := p.runsHome()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(home)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fail(exitError, err, "make the state directory readable, or give another --state-dir")
	}
	var folders []runFolder
	for _, entry := range entries {
		if entry.IsDir() && runShape().MatchString(entry.Name()) {
			folders = append(folders, runFolder{dir: filepath.Join(home, entry.Name()), run: entry.Name()})
		}
	}
	slices.SortFunc(folders, olderRun)
	return folders, nil
}

// olderRun orders runs by the second in which they began, which their ids begin with, and those of one
// second by their first records. On the lab these have a modelled time, the same for all: there it is by when
// they were written to last.
func olderRun(a, b runFolder) int {
	const second = len("20060102T150405Z")
	if byID := strings.Compare(a.run[:second], b.run[:second]); byID != 0 {
		return byID
	}
	return cmp.Or(a.began().Compare(b.began()), a.written().Compare(b.written()), strings.Compare(a.run, b.run))
}

// began is the time of the first record; the zero time when there is none.
func (f runFolder) began() time.Time {
	for record, err := range audit.Records(f.logPath()) {
		if err == nil {
			return record.At
		}
		break
	}
	return time.Time{}
}

// written is when the log was written to last; the zero time when there is none.
func (f runFolder) written() time.Time {
	info, err := os.Stat(f.logPath())
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// byHand reports whether it is the log of one flip by hand.
func (f runFolder) byHand() bool { return handShape().MatchString(f.run) }

var handShape = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]{8}T[0-9]{6}Z-` + byHand + `-[0-9a-f]{4}$`) })

// lastRun is the last walk or, where nothing was walked, the last flip by hand: a flip between two looks at a walk must
// not take its name.
func lastRun(folders []runFolder) runFolder {
	for _, f := range slices.Backward(folders) {
		if !f.byHand() {
			return f
		}
	}
	return folders[len(folders)-1]
}

// errNoRun says that nothing here has the name that was given.
var errNoRun = errors.New("there is no run")

// findRun finds a run by its id, by the beginning or end of it when that is enough to
// tell, or as `last`.
func (p *program) findRun(name string) (runFolder, error) {
	folders, err := p.runFolders()
	if err != nil {
		return runFolder{}, err
	}
	if len(folders) == 0 {
		home, err := p.runsHome()
		return runFolder{}, errors.Join(usage(fmt.Errorf("%w in %s", errNoRun, home),
			"rewarm demo makes one; another place is given by --state-dir"), err)
	}
	if name == latest {
		return lastRun(folders), nil
	}
	return matchRun(folders, name)
}

func matchRun(folders []runFolder, name string) (runFolder, error) {
	var found []runFolder
	for _, f := range folders {
		switch {
		case f.run == name:
			return f, nil
		case name != "" && (strings.HasPrefix(f.run, name) || strings.HasSuffix(f.run, name)):
			found = append(found, f)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return runFolder{}, usage(fmt.Errorf("%w %q", errNoRun, name),
			"rewarm runs lists them; the latest walk is called last")
	}
	var names []string
	for _, f := range found {
		names = append(names, f.run)
	}
	return runFolder{}, usage(fmt.Errorf("run %q is not the only one: %s", name, strings.Join(names, ", ")),
		"give more of its id")
}

// newProcessName names a process as no other is, of whatever host and run: two machines may have one name, and
// processes of two containers one number.
func newProcessName(random io.Reader) (string, error) {
	var name [8]byte
	if _, err := io.ReadFull(random, name[:]); err != nil {
		return "", fmt.Errorf("name the process: %w", err)
	}
	return fmt.Sprintf("%x", name), nil
}

// newRunID names a run: when it began, what it walks, and four hex digits that tell
// runs of the same second apart.
// newRun names a run of a runbook.
func (p *program) newRun(book string) (string, error) {
	return newRunID(p.clock.Now(), book, p.where.random)
}

func newRunID(now time.Time, book string, random io.Reader) (string, error) {
	var tail [2]byte
	if _, err := io.ReadFull(random, tail[:]); err != nil {
		return "", fmt.Errorf("name the run: %w", err)
	}
	return fmt.Sprintf("%s-%s-%x", now.UTC().Format("20060102T150405Z"), book, tail), nil
}
