package evidence

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rewarm/rewarm/audit"
)

// Material is everything that a bundle is made of.
type Material struct {
	Run      string
	Segments []Source          // of the log, in order
	Head     []byte            // the signed head, nil when there is none
	Key      []byte            // the public key that it claims to be signed with, nil when there is none
	Captures map[string][]byte // by file name
}

// capturesDir is the folder of captures inside a run's folder.
const capturesDir = "captures"

// Read takes the material of a run from its files. The head and the captures lie beside the first segment. The
// head is read first: a log that is ahead of it is normal.
func Read(run string, segments []string, key []byte) (Material, error) {
	m := Material{Run: run, Captures: map[string][]byte{}}
	if key != nil {
		m.Key = []byte(keyText(key))
	}
	dir := filepath.Dir(segments[0])
	head, err := audit.ReadRegular(filepath.Join(dir, "head"), audit.MaxBeside)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return m, fmt.Errorf("the head: %w", err)
	}
	m.Head = head
	for _, path := range segments {
		log, err := storedAt(path)
		if err != nil {
			return m, fmt.Errorf("the log: %w", err)
		}
		m.Segments = append(m.Segments, log)
	}
	return m, m.readCaptures(filepath.Join(dir, capturesDir))
}

// keyText is the one way in which a bundle has a public key: a line.
func keyText(key []byte) string { return strings.TrimSpace(string(key)) + "\n" }

func (m *Material) readCaptures(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the captures: %w", err)
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() || !isCapture(entry.Name()) {
			continue
		}
		text, err := audit.ReadRegular(filepath.Join(dir, entry.Name()), mostBytes)
		if err != nil {
			return fmt.Errorf("the captures: %w", err)
		}
		m.Captures[entry.Name()] = text
	}
	return nil
}

// isCapture reports whether a file of the captures' folder is one that this package has written.
func isCapture(name string) bool { return slices.Contains(captureNames, name) }

// segmentName is the name of a segment inside a bundle, counted from 1.
func segmentName(number int) string {
	if number == 1 {
		return "audit.jsonl"
	}
	return fmt.Sprintf("audit-%d.jsonl", number)
}

// segmentNumber is the inverse of segmentName, 0 for other names.
func segmentNumber(name string) int {
	for number := 1; number <= mostSegments; number++ {
		if segmentName(number) == name {
			return number
		}
	}
	return 0
}

// mostSegments bounds how many segments a bundle can have.
const mostSegments = 99

// captureOf gives the name of a capture in a bundle without its folder, "" for other files.
func captureOf(name string) string {
	if rest, ok := strings.CutPrefix(name, capturesDir+"/"); ok {
		return rest
	}
	return ""
}

// Unbundle gives the material in a bundle, run by run. It checks nothing: Verify does.
func Unbundle(bundle io.ReaderAt, size int64) ([]Material, error) {
	list, err := unpack(bundle, size)
	if err != nil {
		return nil, &Broken{Why: err.Error()}
	}
	manifest, err := checkManifest(list)
	if err != nil {
		return nil, err
	}
	if len(manifest.Runs) == 0 {
		m, err := materialOf(manifest.Run, list)
		return []Material{m}, err
	}
	of, _, err := list.runFolders(manifest.Runs)
	if err != nil {
		return nil, err
	}
	var runs []Material
	for _, run := range manifest.Runs {
		m, err := materialOf(run, of[run])
		if err != nil {
			return nil, err
		}
		runs = append(runs, m)
	}
	return runs, nil
}
