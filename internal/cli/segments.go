package cli

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rewarm/rewarm/audit"
)

// The log of a run is audit.jsonl and, where it went on from the mirror in Redis, further
// segments that are named by the number of their first record.
const segmentPrefix, segmentSuffix = "audit-", ".jsonl"

// nextPath is the segment that begins with a record.
func (f runFolder) nextPath(first uint64) string {
	return filepath.Join(f.dir, segmentPrefix+strconv.FormatUint(first, 10)+segmentSuffix)
}

// files are the segments in a run's folder, in order. The last may hold no record yet.
func (f runFolder) files() []string {
	type segment struct {
		path  string
		first uint64
	}
	var found []segment
	paths, _ := filepath.Glob(filepath.Join(f.dir, segmentPrefix+"*"+segmentSuffix)) // the pattern is well formed
	for _, path := range paths {
		number := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), segmentPrefix), segmentSuffix)
		if first, err := strconv.ParseUint(number, 10, 63); err == nil {
			found = append(found, segment{path, first})
		}
	}
	slices.SortFunc(found, func(a, b segment) int { return cmp.Compare(a.first, b.first) })
	list := []string{f.logPath()}
	for _, s := range found {
		list = append(list, s.path)
	}
	return list
}

// segments are the files of a run's log that have records, in order. The emergency log is one
// of them when it goes on where the log broke.
func (p *program) segments(folder runFolder) []string {
	files := folder.files()
	if last := len(files) - 1; last > 0 && !audit.Holds(files[last]) {
		files = files[:last]
	}
	emergency := p.settings.emergencyLog
	if emergency == "" {
		return files
	}
	if info, err := os.Stat(emergency); err != nil || info.Size() == 0 {
		return files
	}
	both := append(files, emergency)
	if _, err := audit.Verify(both, audit.VerifyOptions{}); err != nil {
		return files
	}
	return both
}

// keep puts the records that only the mirror has on this machine's disk, as a segment that
// the run goes on behind.
func (l *runLog) keep() error {
	if len(l.mirrored) == 0 {
		return nil
	}
	path := l.folder.logPath()
	if len(l.files) > 0 {
		path = l.folder.nextPath(l.mirrored[0].Seq)
	}
	if !audit.Holds(path) && !beingWritten(path) { // its writer was stopped before its first record
		_ = os.Remove(path) // where it stays, nothing can be placed, which is said
	}
	if err := audit.Place(path, l.mirrored); err != nil {
		return fail(exitError, err, "make the state directory writable, or give another --state-dir: the run then goes on from the mirror there")
	}
	l.files, l.mirrored, l.placed = append(l.files, path), nil, true
	return nil
}

// open opens the log for going on: behind what came from the mirror in a new segment, else
// where it ended.
func (l *runLog) open(
	clock audit.Clock, last uint64, options func(earlier []string) (audit.Options, error),
) (*audit.Log, error) {
	target, earlier := l.files[len(l.files)-1], l.files[:len(l.files)-1]
	all := l.folder.files()
	if begun := all[len(all)-1]; !slices.Contains(l.files, begun) {
		target, earlier = begun, l.files
	} else if l.placed {
		target, earlier = l.folder.nextPath(last+1), l.files
	}
	o, err := options(earlier)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(target); err != nil && l.placed {
		return audit.Create(target, clock, o)
	}
	return audit.Open(target, clock, o)
}

// span names the numbers of records.
func span(first, last uint64) string {
	if first == last {
		return fmt.Sprintf("record %d", first)
	}
	return fmt.Sprintf("records %d to %d", first, last)
}
