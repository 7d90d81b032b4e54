package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/harmless"
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
	Run        string   `json:"run,omitempty"`
	Runs       []string `json:"runs,omitempty"` // of an incident of several
	Version    string   `json:"version"`        // that made it
	Files      int      `json:"files"`
	Head       string   `json:"head"`
	SignedBy   string   `json:"signed_by,omitempty"`          // the head: name and hash of the key
	ManifestBy string   `json:"manifest_signed_by,omitempty"` // the same of who exported
	Pinned     bool     `json:"pinned"`                       // the signatures are by keys that were given
	Claims     []string `json:"claims"`                       // files that the log does not prove: whoever exported says so
	Sentences  []string `json:"sentences"`

	Each    []Verified `json:"each,omitempty"` // of the runs of an incident
	figures *Figures
	keys    []note.Verifier // that the signatures were checked with
}

// Summary is one line: what was checked, and what nothing but its signature stands for.
func (v Verified) Summary() string {
	text := fmt.Sprintf("run %s verifies: %d files, head %s", v.Run, v.Files, v.Head)
	if len(v.Runs) > 0 {
		text = fmt.Sprintf("%d runs verify: %d files, %s", len(v.Runs), v.Files, strings.Join(v.heads(), ", "))
	}
	switch {
	case len(v.Claims) == 0:
		return text + "; every file follows from the log"
	case v.ManifestBy == "":
		return text + "; NOT proved and NOT signed: " + strings.Join(v.Claims, ", ")
	}
	return text + "; the word of who exported, signed by " + v.ManifestBy + ": " + strings.Join(v.Claims, ", ")
}

func (v Verified) heads() (heads []string) {
	for _, one := range v.Each {
		heads = append(heads, one.Run+" with head "+one.Head)
	}
	return heads
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
	return named(e.File) + ": " + e.Why
}

// broken says what does not hold. What a bundle calls its files, its run or its format may be of any length.
func broken(file, format string, args ...any) error {
	for i, arg := range args {
		if name, ok := arg.(string); ok {
			args[i] = named(name)
		}
	}
	return &Broken{File: file, Why: fmt.Sprintf(format, args...)}
}

// longestName bounds a name from outside in a sentence, in bytes: that of a run in whose folder a file lies has its
// place.
const longestName = 250

func named(name string) string { return harmless.Cut(name, longestName) }

// Verify checks a bundle by itself, without a network: the zip, every hash, the signature of the manifest,
// the chain, the signed head, that the runbook is the one of the log, and that the figures, the timeline and
// the reports follow from the records. The first thing that does not hold is the error.
func Verify(bundle io.ReaderAt, size int64, check Check) (Verified, error) {
	list, err := unpack(bundle, size)
	if err != nil {
		return Verified{}, &Broken{Why: err.Error()}
	}
	v, err := verifyFiles(list, check)
	if err != nil {
		return v, err
	}
	same, err := exact(bundle, size, list)
	if err == nil && !same {
		err = &Broken{Why: "packed anew: its contents verify and are unchanged, but the zip is not byte for byte as rewarm writes it"}
	}
	return v, err
}

// verifyFiles checks the contents of a bundle.
func verifyFiles(list files, check Check) (Verified, error) {
	manifest, err := checkManifest(list)
	if err != nil {
		return Verified{}, err
	}
	v := Verified{Run: manifest.Run, Runs: manifest.Runs, Version: manifest.Version, Files: len(list), Claims: []string{}}
	if len(v.Runs) > 0 {
		err = v.verifyIncident(list, check)
	} else {
		err = v.checkContents(list, check)
	}
	return v, err
}

// verifyRun checks what should be the files of one run.
func verifyRun(list files, check Check) (Verified, error) {
	v, err := verifyFiles(list, check)
	if err == nil && v.Run == "" {
		err = broken(manifestFile, "it names no run")
	}
	return v, err
}

func (v *Verified) checkContents(list files, check Check) error {
	material, err := materialOf(v.Run, list)
	if err != nil {
		return err
	}
	if v.keys, err = v.keysFor(material, check.Keys); err != nil {
		return err
	}
	if err := v.checkSignature(list, v.keys); err != nil {
		return err
	}
	if err := checkRun(material); err != nil {
		return err
	}
	if err := v.checkLog(material, check.Head, v.keys); err != nil {
		return err
	}
	v.sayExporter()
	return v.checkDerived(list, material, check.Version)
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
	if string(m.Key) != keyText(m.Key) {
		return nil, broken(keyFile, "it is not as rewarm writes it")
	}
	return []note.Verifier{key}, nil
}

// checkRun finds the log of another run.
func checkRun(m Material) error {
	var other error
	_ = decodeLog(m.Segments[:1], func(e entry) error { // what is wrong with the log, its own check says better
		if begun, ok := e.body.(*steps.Begun); ok && begun.Run != m.Run {
			other = broken(segmentName(1), "it is the log of another run, %s: the bundle is of %s", begun.Run, m.Run)
		}
		return errFound
	})
	return other
}

// checkManifest holds every file against its hash. The order and the spelling of the manifest are
// checked too, by writing it anew.
func checkManifest(list files) (Manifest, error) {
	var m Manifest
	if list[manifestFile] == nil {
		return m, broken(manifestFile, "it is missing")
	}
	text, err := hold(list[manifestFile])
	if err != nil {
		return m, broken(manifestFile, "%v", err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, broken(manifestFile, "it cannot be read: %v", err)
	}
	if m.Format != BundleFormat {
		return m, broken(manifestFile, "its format is %q, this rewarm reads %q", m.Format, BundleFormat)
	}
	rest := maps.Clone(list)
	delete(rest, manifestFile)
	delete(rest, signatureFile)
	for _, file := range m.Files {
		if _, there := rest[file.Name]; !there {
			return m, broken(file.Name, "the manifest names it and the bundle does not have it")
		}
	}
	made, err := manifestOf(m, rest)
	if err != nil {
		return m, &Broken{Why: err.Error()}
	}
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
func materialOf(run string, list files) (Material, error) {
	m := Material{Run: run, Captures: map[string][]byte{}}
	known := []string{manifestFile, signatureFile, headFile, keyFile, runbookFile, figuresFile, reportMD, reportHTML,
		timelineJSON, timelineCSV}
	for _, name := range slices.Sorted(maps.Keys(list)) {
		capture := captureOf(name)
		if segmentNumber(name) > 0 {
			continue
		}
		if !isCapture(capture) && !slices.Contains(known, name) {
			return m, broken(name, "no bundle has such a file")
		}
		if err := m.take(name, capture, list[name]); err != nil {
			return m, broken(name, "%v", err)
		}
	}
	for number := 1; list[segmentName(number)] != nil; number++ {
		m.Segments = append(m.Segments, list[segmentName(number)])
	}
	if len(m.Segments) == 0 {
		return m, broken(segmentName(1), "it is missing")
	}
	return m, nil
}

// take holds what does not follow from the log.
func (m *Material) take(name, capture string, content Source) (err error) {
	switch {
	case name == headFile:
		m.Head, err = hold(content)
	case name == keyFile:
		m.Key, err = hold(content)
	case isCapture(capture):
		m.Captures[capture], err = hold(content)
	}
	return err
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
		v.say("head %s is signed by the key in the bundle, %s: whether that key is theirs, only --key or --head tells",
			signed, v.SignedBy)
	default:
		v.say("head %s is signed by %s, a key that was given", signed, v.SignedBy)
	}
	return nil
}

// sayExporter tells what stands behind the files that the log does not prove.
func (v *Verified) sayExporter() {
	switch {
	case v.ManifestBy == "":
		v.say("NO signature of the manifest: captures, and reports of another version, may have been changed after the export without a trace")
	case v.SignedBy != "" && v.ManifestBy != v.SignedBy:
		v.say("the manifest is signed by %s, ANOTHER key than the head's: nothing was changed after they exported it",
			v.ManifestBy)
	default:
		v.say("the manifest is signed by %s: nothing was changed after the export by whoever does not have that key",
			v.ManifestBy)
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

// verifySegments has the log's own check read the segments.
func verifySegments(segments []Source, options audit.VerifyOptions) (audit.Report, error) {
	var names []string
	for i := range segments {
		names = append(names, segmentName(i+1))
	}
	options.Open = func(name string) (io.ReadCloser, error) { return segments[segmentNumber(name)-1].Open() }
	report, err := audit.Verify(names, options)
	if err != nil {
		return report, &Broken{File: "the log", Why: err.Error()}
	}
	return report, nil
}

// IsBroken reports whether an error says that a bundle does not hold, and not that it could not be looked at.
func IsBroken(err error) bool {
	var b *Broken
	return errors.As(err, &b)
}
