package evidence

import (
	"archive/zip"
	"errors"
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
	Run     string         `json:"run,omitempty"`
	Runs    []string       `json:"runs,omitempty"` // of an incident of several runs, each in a folder of its name
	Version string         `json:"version"`        // of the rewarm that made it
	Files   []ManifestFile `json:"files"`
}

// of says what a bundle is of.
func (m Manifest) of() string {
	if m.Run != "" {
		return m.Run
	}
	return strings.Join(m.Runs, " ")
}

// ManifestFile is one file of a bundle.
type ManifestFile struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// files are the contents of a bundle, or of one folder of it, by name.
type files map[string]Source

// zipEpoch is the time of every entry of a bundle: the first that a zip can hold.
var zipEpoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// Build writes a bundle. It depends on the material, the version and the key alone. With a signer the
// manifest is signed; nil is for a machine without a key.
func Build(to io.Writer, m Material, version string, signer note.Signer) error {
	list, _, err := m.bundled(version, signer)
	if err != nil {
		return err
	}
	return pack(to, list)
}

// bundled gives all files of the bundle of one run.
func (m Material) bundled(version string, signer note.Signer) (files, *Figures, error) {
	list, figures, err := m.files()
	if err != nil {
		return nil, nil, err
	}
	return list, figures, list.seal(Manifest{Run: m.Run, Version: version}, signer)
}

// seal adds the manifest and, with a signer, its signature.
func (list files) seal(m Manifest, signer note.Signer) error {
	made, err := manifestOf(m, list)
	if err != nil {
		return err
	}
	text, err := encode(made)
	if err != nil {
		return err
	}
	list[manifestFile] = held(text)
	if signer == nil {
		return nil
	}
	signed, err := signManifest(made.of(), text, signer)
	list[signatureFile] = held(signed)
	return err
}

// files gives everything in the bundle of one run but its manifest and the signature of that.
func (m Material) files() (files, *Figures, error) {
	list := files{}
	m.Segments = slices.Clone(m.Segments)
	for i, segment := range m.Segments {
		m.Segments[i] = summedOnce(segment)
		list[segmentName(i+1)] = m.Segments[i]
	}
	figures, err := FiguresOf(m.Segments)
	if err != nil {
		return nil, nil, err
	}
	for name, text := range m.Captures {
		list[capturesDir+"/"+name] = held(text)
	}
	if m.Head != nil {
		list[headFile] = held(m.Head)
	}
	if m.Key != nil {
		list[keyFile] = held(m.Key)
	}
	return list, figures, list.derive(m, figures)
}

// derive adds what follows from the records and the captures.
func (list files) derive(m Material, figures *Figures) error {
	begun, err := Begun(m)
	if err != nil {
		return err
	}
	list[runbookFile] = held(begun.Runbook)
	text, err := encode(figures)
	if err != nil {
		return err
	}
	list[figuresFile] = held(text)
	report, err := newReport(figures, m)
	if err != nil {
		return err
	}
	list[timelineJSON], list[timelineCSV] = held(timelineLines(report.Timeline)), held(timelineTable(report.Timeline))
	return list.render(report, runTemplates)
}

// Begun gives what a run began with.
func Begun(m Material) (*steps.Begun, error) {
	var begun *steps.Begun
	err := decodeLog(m.Segments, func(e entry) error {
		begun, _ = e.body.(*steps.Begun)
		return errFound
	})
	switch {
	case !errors.Is(err, errFound):
		return nil, err
	case begun == nil:
		return nil, errors.New("the log does not start with a begun record")
	}
	return begun, nil
}

// manifestOf completes a manifest with its format and the files.
func manifestOf(m Manifest, list files) (Manifest, error) {
	m.Format, m.Files = BundleFormat, nil
	for _, name := range slices.Sorted(maps.Keys(list)) {
		size, sum, err := sumOf(list[name])
		if err != nil {
			return m, fmt.Errorf("%q: %w", named(name), err)
		}
		m.Files = append(m.Files, ManifestFile{Name: name, Size: size, SHA256: sum})
	}
	return m, nil
}

// pack writes a zip with sorted names, stored, and nothing in it of the machine that made it.
func pack(out io.Writer, list files) error {
	w := zip.NewWriter(out)
	for _, name := range slices.Sorted(maps.Keys(list)) {
		to, err := w.CreateHeader(headerOf(name))
		if err != nil {
			return err
		}
		if _, err := pour(to, list[name]); err != nil {
			return fmt.Errorf("%q: %w", named(name), err)
		}
	}
	return w.Close()
}

// headerOf is what a bundle says about one of its files.
func headerOf(name string) *zip.FileHeader {
	header := &zip.FileHeader{Name: name, Method: zip.Store, Modified: zipEpoch}
	header.SetMode(0o644)
	return header
}

// mostBytes bounds what all files of a bundle together may take.
const mostBytes = 16 << 30

// unpack finds the files of a zip.
func unpack(bundle io.ReaderAt, size int64) (files, error) {
	r, err := zip.NewReader(bundle, size)
	if errors.Is(err, zip.ErrFormat) {
		return nil, errors.New("this is no bundle: no zip, or one that was cut off or changed at its end")
	}
	if err != nil {
		return nil, fmt.Errorf("this is no bundle: %w", err)
	}
	list := files{}
	room := uint64(mostBytes)
	for _, entry := range r.File {
		if strings.HasSuffix(entry.Name, "/") && entry.UncompressedSize64 == 0 {
			continue // a folder, which other programs write down
		}
		if _, twice := list[entry.Name]; twice {
			return nil, fmt.Errorf("%q is in the bundle twice", named(entry.Name))
		}
		if entry.UncompressedSize64 > room {
			return nil, fmt.Errorf("the bundle holds more than %d bytes", mostBytes)
		}
		room -= entry.UncompressedSize64
		list[entry.Name] = &summed{Source: packed{entry}}
	}
	return list, nil
}
