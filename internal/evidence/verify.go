package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/rewarm/rewarm/audit"
)

// Check says what a bundle is held against beside itself.
type Check struct {
	Head    *audit.Head     // one that was kept elsewhere, nil when there is none
	Keys    []note.Verifier // keys that are known to be the right ones; empty when none are
	Version string          // of this rewarm: reports are rendered again only by the version that made them
}

// Verified is what was found about a bundle that holds.
type Verified struct {
	Run       string   `json:"run"`
	Version   string   `json:"version"` // that made it
	Files     int      `json:"files"`
	Head      string   `json:"head"`
	SignedBy  string   `json:"signed_by,omitempty"`
	Pinned    bool     `json:"pinned"` // the signature is by a key that was given
	Sentences []string `json:"sentences"`
}

// Broken is why a bundle does not hold.
type Broken struct {
	File string // in the bundle, "" for the bundle itself
	Why  string
}

func (e *Broken) Error() string {
	if e.File == "" {
		return e.Why
	}
	return e.File + ": " + e.Why
}

func broken(file, format string, args ...any) error {
	return &Broken{File: file, Why: fmt.Sprintf(format, args...)}
}

// Verify checks a bundle by itself, without a network: the zip, every hash, the chain, the signed head,
// that the runbook is the one of the log, and that the figures, the timeline and the reports follow from
// the records. The first thing that does not hold is the error.
func Verify(bundle []byte, check Check) (Verified, error) {
	files, err := unpack(bundle)
	if err != nil {
		return Verified{}, &Broken{Why: err.Error()}
	}
	manifest, err := checkManifest(files)
	if err != nil {
		return Verified{}, err
	}
	v := Verified{Run: manifest.Run, Version: manifest.Version, Files: len(files)}
	material, err := materialOf(manifest.Run, files)
	if err != nil {
		return v, err
	}
	if err := v.checkLog(material, check); err != nil {
		return v, err
	}
	return v, v.checkDerived(files, material, check.Version)
}

// checkManifest holds every file against its hash. The order and the spelling of the manifest are
// checked too, by writing it anew.
func checkManifest(files map[string][]byte) (Manifest, error) {
	var m Manifest
	text, ok := files[manifestFile]
	if !ok {
		return m, broken(manifestFile, "it is missing")
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, broken(manifestFile, "it cannot be read: %v", err)
	}
	if m.Format != BundleFormat {
		return m, broken(manifestFile, "its format is %q, this rewarm reads %q", m.Format, BundleFormat)
	}
	rest := maps.Clone(files)
	delete(rest, manifestFile)
	for _, file := range m.Files {
		if _, there := rest[file.Name]; !there {
			return m, broken(file.Name, "the manifest names it and the bundle does not have it")
		}
	}
	made := manifestOf(m.Run, m.Version, rest)
	for i, file := range made.Files {
		if !slices.ContainsFunc(m.Files, func(f ManifestFile) bool { return f.Name == file.Name }) {
			return m, broken(file.Name, "the bundle has it and the manifest does not name it")
		}
		if i < len(m.Files) && m.Files[i].Name == file.Name && m.Files[i] != file {
			return m, broken(file.Name, "it was changed: its SHA-256 is not the one of the manifest")
		}
	}
	if again, err := encode(made); err != nil || !bytes.Equal(again, text) {
		return m, broken(manifestFile, "it is not as rewarm writes it")
	}
	return m, nil
}

// materialOf takes a bundle apart again. Files that no bundle has are refused.
func materialOf(run string, files map[string][]byte) (Material, error) {
	m := Material{Run: run, Head: files[headFile], Key: files[keyFile], Captures: map[string][]byte{}}
	known := []string{manifestFile, headFile, keyFile, runbookFile, figuresFile, reportMD, reportHTML, timelineJSON, timelineCSV}
	for name, text := range files {
		switch capture := captureOf(name); {
		case segmentNumber(name) > 0:
		case isCapture(capture):
			m.Captures[capture] = text
		case !slices.Contains(known, name):
			return m, broken(name, "no bundle has such a file")
		}
	}
	for number := 1; files[segmentName(number)] != nil; number++ {
		m.Segments = append(m.Segments, files[segmentName(number)])
	}
	if len(m.Segments) == 0 {
		return m, broken(segmentName(1), "it is missing")
	}
	return m, nil
}

// checkLog checks the chain and the heads.
func (v *Verified) checkLog(m Material, check Check) error {
	options := audit.VerifyOptions{Run: m.Run}
	signed, err := v.openHead(m, check.Keys)
	if err != nil {
		return err
	}
	if signed != nil {
		options.Head = signed
	}
	report, err := verifySegments(m.Segments, options)
	if err != nil {
		return err
	}
	if check.Head != nil {
		options.Head = check.Head
		if report, err = verifySegments(m.Segments, options); err != nil {
			return err
		}
		v.say("the head %s that was kept elsewhere is in the log", check.Head)
	}
	v.Head = report.Head.String()
	v.Sentences = append(v.Sentences, report.Sentences()...)
	switch {
	case signed == nil:
		v.say("NO signed head: whoever could write this bundle could have written the whole log; only a head or a mirror kept elsewhere tells")
	case !v.Pinned:
		v.say("head %s is signed by the key in the bundle, %s: whether that key is theirs, only --key or --head tells", signed, v.SignedBy)
	default:
		v.say("head %s is signed by %s, a key that was given", signed, v.SignedBy)
	}
	return nil
}

func (v *Verified) say(format string, args ...any) {
	v.Sentences = append(v.Sentences, fmt.Sprintf(format, args...))
}

// openHead opens the signed head with the keys that were given, or else with the one in the bundle.
func (v *Verified) openHead(m Material, pinned []note.Verifier) (*audit.Head, error) {
	switch {
	case m.Head == nil && len(pinned) > 0:
		return nil, broken(headFile, "it is missing, so the keys that were given prove nothing")
	case m.Head == nil:
		return nil, nil
	}
	keys := pinned
	v.Pinned = len(pinned) > 0
	if !v.Pinned {
		key, err := note.NewVerifier(strings.TrimSpace(string(m.Key)))
		if err != nil {
			return nil, broken(keyFile, "it is no key: %v", err)
		}
		keys = []note.Verifier{key}
	}
	for _, key := range keys {
		if head, err := audit.OpenHead(m.Head, key); err == nil {
			v.SignedBy = key.Name()
			return &head, nil
		}
	}
	return nil, broken(headFile, "it is not signed by %s", namesOf(keys))
}

func namesOf(keys []note.Verifier) string {
	var names []string
	for _, key := range keys {
		names = append(names, key.Name())
	}
	return strings.Join(names, " or ")
}

// verifySegments puts the segments where the log's own check can read them.
func verifySegments(segments [][]byte, options audit.VerifyOptions) (audit.Report, error) {
	dir, err := os.MkdirTemp("", "rewarm-verify-")
	if err != nil {
		return audit.Report{}, err
	}
	defer os.RemoveAll(dir)
	var paths []string
	for i, segment := range segments {
		path := filepath.Join(dir, segmentName(i+1))
		if err := os.WriteFile(path, segment, 0o600); err != nil {
			return audit.Report{}, err
		}
		paths = append(paths, path)
	}
	report, err := audit.Verify(paths, options)
	if err != nil {
		return report, &Broken{File: "the log", Why: strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")}
	}
	return report, nil
}

// checkDerived works out again what follows from the records.
func (v *Verified) checkDerived(files map[string][]byte, m Material, version string) error {
	again, err := m.files()
	if err != nil {
		return &Broken{File: "the log", Why: err.Error()}
	}
	if !bytes.Equal(again[runbookFile], files[runbookFile]) {
		return broken(runbookFile, "it is not the runbook that the run began with")
	}
	derived := []string{figuresFile, timelineJSON, timelineCSV}
	if version == v.Version {
		derived = append(derived, reportMD, reportHTML)
	} else {
		v.say("the reports were made by rewarm %s and were not rendered again by this one", v.Version)
	}
	for _, name := range derived {
		if !bytes.Equal(again[name], files[name]) {
			return broken(name, "it does not follow from the records")
		}
	}
	v.say("the runbook is the one of the log, and %s follow from the records", strings.Join(derived, ", "))
	return nil
}

// IsBroken reports whether an error says that a bundle does not hold, and not that it could not be looked at.
func IsBroken(err error) bool {
	var b *Broken
	return errors.As(err, &b)
}
