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
	"github.com/rewarm/rewarm/steps"
)

// Check says what a bundle is held against beside itself.
type Check struct {
	Head    *audit.Head     // one that was kept elsewhere, nil when there is none
	Keys    []note.Verifier // keys that are known to be the right ones; empty when none are
	Version string          // of this rewarm: reports are rendered again only by the version that made them
}

// Verified is what was found about a bundle that holds.
type Verified struct {
	Run        string   `json:"run"`
	Version    string   `json:"version"` // that made it
	Files      int      `json:"files"`
	Head       string   `json:"head"`
	SignedBy   string   `json:"signed_by,omitempty"`          // the head: name and hash of the key
	ManifestBy string   `json:"manifest_signed_by,omitempty"` // the same of who exported
	Pinned     bool     `json:"pinned"`                       // the signatures are by keys that were given
	Claims     []string `json:"claims"`                       // files that the log does not prove: whoever exported says so
	Sentences  []string `json:"sentences"`
}

// Summary is one line: what was checked, and what nothing but its signature stands for.
func (v Verified) Summary() string {
	text := fmt.Sprintf("run %s verifies: %d files, head %s", v.Run, v.Files, v.Head)
	switch {
	case len(v.Claims) == 0:
		return text + "; every file follows from the log"
	case v.ManifestBy == "":
		return text + "; NOT proved and NOT signed: " + strings.Join(v.Claims, ", ")
	}
	return text + "; the word of who exported, signed by " + v.ManifestBy + ": " + strings.Join(v.Claims, ", ")
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

// Verify checks a bundle by itself, without a network: the zip, every hash, the signature of the manifest,
// the chain, the signed head, that the runbook is the one of the log, and that the figures, the timeline and
// the reports follow from the records. The first thing that does not hold is the error.
func Verify(bundle []byte, check Check) (Verified, error) {
	files, exact, err := unpack(bundle)
	if err != nil {
		return Verified{}, &Broken{Why: err.Error()}
	}
	manifest, err := checkManifest(files)
	if err != nil {
		return Verified{}, err
	}
	v := Verified{Run: manifest.Run, Version: manifest.Version, Files: len(files), Claims: []string{}}
	if err := v.checkContents(files, check); err != nil {
		return v, err
	}
	if !exact {
		return v, &Broken{Why: "packed anew: its contents verify and are unchanged, but the zip is not byte for byte as rewarm writes it"}
	}
	return v, nil
}

func (v *Verified) checkContents(files map[string][]byte, check Check) error {
	material, err := materialOf(v.Run, files)
	if err != nil {
		return err
	}
	keys, err := v.keysFor(material, check.Keys)
	if err != nil {
		return err
	}
	if err := v.checkSignature(files, keys); err != nil {
		return err
	}
	if err := checkRun(material); err != nil {
		return err
	}
	if err := v.checkLog(material, check.Head, keys); err != nil {
		return err
	}
	return v.checkDerived(files, material, check.Version)
}

// keysFor gives the keys that were given, or else the one in the bundle.
func (v *Verified) keysFor(m Material, pinned []note.Verifier) ([]note.Verifier, error) {
	v.Pinned = len(pinned) > 0
	if v.Pinned || m.Key == nil {
		return pinned, nil
	}
	key, err := note.NewVerifier(strings.TrimSpace(string(m.Key)))
	if err != nil {
		return nil, broken(keyFile, "it is no key: %v", err)
	}
	return []note.Verifier{key}, nil
}

// checkRun finds the log of another run.
func checkRun(m Material) error {
	line, _, _ := bytes.Cut(m.Segments[0], []byte("\n"))
	first, err := audit.ParseRecord(line)
	if err != nil {
		return nil // what is wrong with the log, its own check says better
	}
	body, err := steps.DecodeBody(first.Kind, first.Body)
	if begun, ok := body.(*steps.Begun); err == nil && ok && begun.Run != m.Run {
		return broken(segmentName(1), "it is the log of another run, %s: the bundle is of %s", begun.Run, m.Run)
	}
	return nil
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
	delete(rest, signatureFile)
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
	known := []string{manifestFile, signatureFile, headFile, keyFile, runbookFile, figuresFile, reportMD, reportHTML, timelineJSON, timelineCSV}
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
func (v *Verified) checkLog(m Material, kept *audit.Head, keys []note.Verifier) error {
	options := audit.VerifyOptions{Run: m.Run}
	signed, err := v.openHead(m, keys)
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
	if kept != nil {
		options.Head = kept
		if report, err = verifySegments(m.Segments, options); err != nil {
			return err
		}
		v.say("the head %s that was kept elsewhere is in the log", kept)
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
	v.sayExporter()
	return nil
}

// sayExporter tells what stands behind the files that the log does not prove.
func (v *Verified) sayExporter() {
	switch {
	case v.ManifestBy == "":
		v.say("NO signature of the manifest: captures, and reports of another version, may have been changed after the export without a trace")
	case v.SignedBy != "" && v.ManifestBy != v.SignedBy:
		v.say("the manifest is signed by %s, ANOTHER key than the head's: nothing was changed after they exported it", v.ManifestBy)
	default:
		v.say("the manifest is signed by %s: nothing was changed after the export by whoever does not have that key", v.ManifestBy)
	}
}

func (v *Verified) say(format string, args ...any) {
	v.Sentences = append(v.Sentences, fmt.Sprintf(format, args...))
}

// openHead opens the signed head, nil when there is none.
func (v *Verified) openHead(m Material, keys []note.Verifier) (*audit.Head, error) {
	switch {
	case m.Head == nil && v.Pinned:
		return nil, broken(headFile, "it is missing, so the keys that were given prove nothing")
	case m.Head == nil:
		return nil, nil
	case len(keys) == 0:
		return nil, broken(keyFile, "it is missing, and with it what the head is signed with: give the key with --key")
	}
	var unknown error
	for _, key := range keys {
		head, err := audit.OpenHead(m.Head, key)
		stranger := (*audit.UnknownKeyError)(nil)
		switch {
		case errors.As(err, &stranger):
			unknown = broken(headFile, "%v", notSignedBy(stranger.Key, keys))
			continue
		case err != nil:
			return nil, broken(headFile, "%v", err)
		case head.Run != m.Run:
			return nil, broken(headFile, "it is the head of another run, %s: the bundle is of %s", head.Run, m.Run)
		}
		v.SignedBy = keyID(key.Name(), key.KeyHash())
		return &head, nil
	}
	return nil, unknown
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
	derived, reports := []string{figuresFile, timelineJSON, timelineCSV}, []string{reportMD, reportHTML}
	for name := range m.Captures {
		v.Claims = append(v.Claims, capturesDir+"/"+name)
	}
	slices.Sort(v.Claims)
	if version == v.Version {
		derived = append(derived, reports...)
	} else {
		v.Claims = append(v.Claims, reports...)
		v.say("the reports were made by rewarm %s and were not rendered again by this one", v.Version)
	}
	for _, name := range derived {
		if bytes.Equal(again[name], files[name]) {
			continue
		}
		if slices.Contains(reports, name) && len(m.Captures) > 0 && v.ManifestBy == "" {
			return broken(name, "it does not follow from the records and the captures: one of them was changed, and no signature tells which")
		}
		return broken(name, "it does not follow from the records")
	}
	v.say("the runbook is the one of the log, and %s follow from the records", strings.Join(derived, ", "))
	return nil
}

// IsBroken reports whether an error says that a bundle does not hold, and not that it could not be looked at.
func IsBroken(err error) bool {
	var b *Broken
	return errors.As(err, &b)
}
