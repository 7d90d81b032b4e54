package audit

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// rescue collects what was written but may not be on disk, so that the emergency
// sink gets everything that the disk may lose. What cannot be read back is left
// out: a check will name the gap.
func (l *Log) rescue() {
	if l.emergency == nil || l.written.size == l.durable.size {
		return
	}
	unsure := make([]byte, l.written.size-l.durable.size)
	if _, err := l.file.ReadAt(unsure, l.durable.size); err != nil {
		return
	}
	var lines [][]byte
	w := &walker{path: l.path, end: l.durable.link, visit: func(envelope, digest) error { return nil }}
	for line := range bytes.Lines(unsure) {
		line = bytes.TrimSuffix(line, []byte{'\n'})
		if w.look(line, true) != nil {
			return
		}
		lines = append(lines, line)
	}
	if w.end == l.written.link {
		l.pending = lines
	}
}

// addEmergency goes on in the emergency sink: same numbers, same chain.
func (l *Log) addEmergency(r Record, line []byte) (Record, error) {
	broken := fmt.Errorf("%w: %s: %w", ErrBroken, show(l.path), l.broken)
	if l.emergency == nil {
		return Record{}, broken
	}
	r.Emergency = true
	l.written.link = linkOf(r, line)
	l.pending = append(l.pending, line)
	for len(l.pending) > 0 {
		if err := l.emergency(l.pending[0]); err != nil {
			return Record{}, fmt.Errorf("%w; nor does the emergency log take records: %w", broken, err)
		}
		l.pending = l.pending[1:]
	}
	l.durable.link = l.written.link
	return r, nil
}

// EmergencyFile is an emergency sink on another disk. The file is made when the
// first line comes. It is a segment: [Verify] takes it after the broken log, and
// [Open] goes on with it when the broken log is named in Options.Earlier.
type EmergencyFile struct {
	mu     sync.Mutex
	path   string
	file   File
	broken error
}

// NewEmergencyFile names the file. It must be empty or missing when it is needed.
func NewEmergencyFile(path string) *EmergencyFile {
	return &EmergencyFile{path: path}
}

// Put writes a line and waits for the disk. Its first failure is final.
func (f *EmergencyFile) Put(line []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.broken == nil {
		f.broken = f.put(line)
	}
	return f.broken
}

func (f *EmergencyFile) put(line []byte) error {
	if f.file == nil {
		if err := f.open(); err != nil {
			return err
		}
	}
	if _, err := f.file.Write(append(bytes.Clone(line), '\n')); err != nil {
		return err
	}
	return f.file.Sync()
}

func (f *EmergencyFile) open() error {
	dir := filepath.Dir(f.path)
	if err := makeDir(dir); err != nil {
		return err
	}
	opened, err := os.OpenFile(f.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	f.file = opened
	if err := lock(opened); err != nil {
		return err
	}
	info, err := opened.Stat()
	if err == nil && info.Size() > 0 {
		err = fmt.Errorf("%s holds something already: name a new file", show(f.path))
	}
	return errors.Join(err, syncDir(dir))
}

// Close gives the file back, if it was ever needed.
func (f *EmergencyFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.file == nil {
		return nil
	}
	err := f.file.Close()
	f.file, f.broken = nil, ErrClosed
	return err
}
