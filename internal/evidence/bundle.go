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
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

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

// Manifest names every other file of a bundle but its own signature, with its SHA-256.
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

// Build makes a bundle. It depends on the material, the version and the key alone. With a signer the
// manifest is signed; nil is for a machine without a key.
func Build(m Material, version string, signer note.Signer) ([]byte, error) {
	files, err := m.files()
	if err != nil {
		return nil, err
	}
	manifest, err := encode(manifestOf(m.Run, version, files))
	if err != nil {
		return nil, err
	}
	files[manifestFile] = manifest
	if signer != nil {
		if files[signatureFile], err = signManifest(m.Run, manifest, signer); err != nil {
			return nil, err
		}
	}
	return pack(files)
}

// files gives everything in a bundle but its manifest and the signature of that.
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

// mostBytes bounds what all files of a bundle together may take when it is read.
const mostBytes = 1 << 30

// unpack reads the files of a zip. exact is false when the zip is not byte for byte what pack writes for
// them: it was packed by something else, or has bytes besides its files.
func unpack(bundle []byte) (files map[string][]byte, exact bool, err error) {
	r, err := zip.NewReader(bytes.NewReader(bundle), int64(len(bundle)))
	if err != nil {
		return nil, false, fmt.Errorf("this is no bundle: %w", err)
	}
	files = map[string][]byte{}
	room := int64(mostBytes)
	for _, entry := range r.File {
		if strings.HasSuffix(entry.Name, "/") && entry.UncompressedSize64 == 0 {
			continue // a folder, which other programs write down
		}
		if _, twice := files[entry.Name]; twice {
			return nil, false, fmt.Errorf("%q is in the bundle twice", entry.Name)
		}
		text, err := readEntry(entry, room)
		if err != nil {
			return nil, false, fmt.Errorf("%q: %w", entry.Name, err)
		}
		files[entry.Name] = text
		room -= int64(len(text))
	}
	again, err := pack(files)
	return files, bytes.Equal(again, bundle), err
}

func readEntry(entry *zip.File, room int64) ([]byte, error) {
	from, err := entry.Open()
	if err != nil {
		return nil, err
	}
	defer from.Close()
	text, err := io.ReadAll(io.LimitReader(from, room+1))
	if err == nil && int64(len(text)) > room {
		err = fmt.Errorf("the bundle holds more than %d bytes", mostBytes)
	}
	return text, err
}
