package evidence

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/rewarm/rewarm/steps"
)

// BundleFormat is the format of a bundle and its manifest.
const BundleFormat = "rewarm evidence v1"

// The files of a bundle beside the segments and the captures.
const (
	manifestFile = "manifest.json"
	headFile     = "head"
	keyFile      = "head.pub"
	runbookFile  = "runbook.yaml"
	figuresFile  = "figures.json"
	reportMD     = "report.md"
	reportHTML   = "report.html"
	timelineJSON = "timeline.jsonl"
	timelineCSV  = "timeline.csv"
)

// Manifest names every other file of a bundle with its SHA-256.
type Manifest struct {
	Format  string         `json:"format"`
	Run     string         `json:"run"`
	Version string         `json:"version"` // of the rewarm that made it
	Files   []ManifestFile `json:"files"`
}

// ManifestFile is one file of a bundle.
type ManifestFile struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// zipEpoch is the time of every entry of a bundle: the first that a zip can hold.
var zipEpoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// Build makes a bundle. It depends on the material and the version alone.
func Build(m Material, version string) ([]byte, error) {
	files, err := m.files()
	if err != nil {
		return nil, err
	}
	manifest, err := encode(manifestOf(m.Run, version, files))
	if err != nil {
		return nil, err
	}
	files[manifestFile] = manifest
	return pack(files)
}

// files gives everything in a bundle but its manifest.
func (m Material) files() (map[string][]byte, error) {
	figures, err := FiguresOf(m.Segments)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for i, segment := range m.Segments {
		files[segmentName(i+1)] = segment
	}
	for name, text := range m.Captures {
		files[capturesDir+"/"+name] = text
	}
	if m.Head != nil {
		files[headFile] = m.Head
	}
	if m.Key != nil {
		files[keyFile] = m.Key
	}
	if files[runbookFile], err = runbookOf(m.Segments); err != nil {
		return nil, err
	}
	if files[figuresFile], err = encode(figures); err != nil {
		return nil, err
	}
	report, err := newReport(figures, m)
	if err != nil {
		return nil, err
	}
	files[timelineJSON], files[timelineCSV] = report.timelineJSON(), report.timelineCSV()
	if files[reportMD], err = report.markdown(); err != nil {
		return nil, err
	}
	files[reportHTML], err = report.html()
	return files, err
}

// runbookOf gives the bytes of the runbook that the run began with.
func runbookOf(segments [][]byte) ([]byte, error) {
	var book []byte
	err := walkLog(segments, func(e entry, _ *steps.State) error {
		if b, ok := e.body.(*steps.Begun); ok {
			book = b.Runbook
			return errFound
		}
		return nil
	})
	if err != nil && err != errFound {
		return nil, err
	}
	return book, nil
}

func manifestOf(run, version string, files map[string][]byte) Manifest {
	m := Manifest{Format: BundleFormat, Run: run, Version: version}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		sum := sha256.Sum256(files[name])
		m.Files = append(m.Files, ManifestFile{Name: name, Size: int64(len(files[name])), SHA256: hex.EncodeToString(sum[:])})
	}
	return m
}

// pack writes a zip with sorted names, stored, and nothing in it of the machine that made it.
func pack(files map[string][]byte) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		header := &zip.FileHeader{Name: name, Method: zip.Store, Modified: zipEpoch}
		header.SetMode(0o644)
		to, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := to.Write(files[name]); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// mostBytes bounds what one file of a bundle may take when it is read.
const mostBytes = 1 << 30

// unpack reads a zip that pack has written, and only such a one: every byte of it must be what pack
// writes for its files.
func unpack(bundle []byte) (map[string][]byte, error) {
	r, err := zip.NewReader(bytes.NewReader(bundle), int64(len(bundle)))
	if err != nil {
		return nil, fmt.Errorf("this is no bundle: %w", err)
	}
	files := map[string][]byte{}
	for _, entry := range r.File {
		if _, twice := files[entry.Name]; twice {
			return nil, fmt.Errorf("%q is in the bundle twice", entry.Name)
		}
		if files[entry.Name], err = readEntry(entry); err != nil {
			return nil, fmt.Errorf("%q: %w", entry.Name, err)
		}
	}
	again, err := pack(files)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(again, bundle) {
		return files, fmt.Errorf("the zip is not as rewarm writes it: bytes between or around its files were changed")
	}
	return files, nil
}

func readEntry(entry *zip.File) ([]byte, error) {
	if entry.Method != zip.Store || entry.UncompressedSize64 > mostBytes {
		return nil, fmt.Errorf("it is not stored as rewarm stores files")
	}
	from, err := entry.Open()
	if err != nil {
		return nil, err
	}
	defer from.Close()
	return io.ReadAll(io.LimitReader(from, mostBytes))
}
