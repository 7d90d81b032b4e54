package evidence

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/hostiletext"
	"github.com/rewarm/rewarm/steps"
)

var every = flag.Int("every", 197, "how many bytes apart the tests of changed bundles change and cut them; 1 is each byte")

// signedBundle is a small bundle with captures that is signed, and what it was made of.
func signedBundle(t *testing.T) ([]byte, Material, *audit.Key) {
	t.Helper()
	m, key := captured(t)
	return sealed(t, m, key), m, key
}

// TestEveryByteOfABundle changes the bytes of a bundle in turn: whatever the byte belongs to, it is found, and a
// byte of a file is found in that file.
func TestEveryByteOfABundle(t *testing.T) {
	bundle, m, key := signedBundle(t)
	t.Run("run", func(t *testing.T) { changeEveryByte(t, bundle) })
	t.Run("incident", func(t *testing.T) { changeEveryByte(t, incidentOf(t, key, m, otherRun(t, key))) })
}

func changeEveryByte(t *testing.T, bundle []byte) {
	r, err := zip.NewReader(bytes.NewReader(bundle), int64(len(bundle)))
	if err != nil {
		t.Fatal(err)
	}
	fileAt := func(at int) string {
		for _, file := range r.File {
			begins, err := file.DataOffset()
			if err != nil {
				t.Fatal(err)
			}
			if int64(at) >= begins && int64(at) < begins+int64(file.UncompressedSize64) {
				return file.Name
			}
		}
		return ""
	}
	found := 0
	for at := 0; at < len(bundle); at += *every {
		changed := bytes.Clone(bundle)
		changed[at] ^= 0x01
		_, err := verified(changed, Check{Version: "v1"})
		if !IsBroken(err) || !strings.Contains(err.Error(), fileAt(at)) {
			t.Fatalf("byte %d of %d, in %q, was changed, and that was found: %v", at, len(bundle), fileAt(at), err)
		}
		found++
	}
	t.Logf("%d bytes of %d changed, each found and named", found, len(bundle))
}

// TestDamageInPlainWords: what a zip's own checks find is said without their words, and names the file.
func TestDamageInPlainWords(t *testing.T) {
	bundle, _, _ := signedBundle(t)
	at := bytes.Index(bundle, []byte(`"kind":"stage"`))
	changed := bytes.Clone(bundle)
	changed[at] ^= 0x01
	for want, damaged := range map[string][]byte{
		`"audit.jsonl": its bytes are not those that were packed`: changed,
		"this is no bundle: no zip, or one that was cut off":      bundle[:len(bundle)-9],
	} {
		if _, err := verified(damaged, Check{}); err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "zip:") {
			t.Errorf("%v, not %q", err, want)
		}
	}
}

// TestNamesAreCut: what a bundle calls its files, its run and its format is told, and not at any length.
func TestNamesAreCut(t *testing.T) {
	bundle, m, _ := signedBundle(t)
	all, long := texts(t, bundle), strings.Repeat("n", hostiletext.Long)
	with := func(name string, text []byte) map[string][]byte {
		changed := maps.Clone(all)
		changed[name] = text
		return changed
	}
	sealed := with(long, nil)
	sealed[manifestFile] = resealed(t, sealed, m.Run, "v1")
	named := bytes.Replace(all[manifestFile], []byte(runbookFile), []byte(long), 1)
	other := maps.Clone(all)
	delete(other, signatureFile)
	other[manifestFile] = resealed(t, other, long, "v1")
	format := bytes.Replace(all[manifestFile], []byte(BundleFormat), []byte(long), 1)
	for what, changed := range map[string]map[string][]byte{
		"a file too many":      with(long, nil),
		"a file in its place":  sealed,
		"a file that is named": with(manifestFile, named),
		"a run":                other,
		"a format":             with(manifestFile, format),
	} {
		_, err := verified(packedOf(t, changed), Check{Version: "v1"})
		if !IsBroken(err) || !strings.Contains(err.Error(), long[:longestName]+"…") || len(err.Error()) > 2*longestName {
			t.Errorf("%s: %.1000v", what, err)
		}
	}
}

// TestEveryByteWithRightHashes changes the bytes of every file in turn and packs the bundle anew with every hash of the
// zip and the manifest right: with the signature left in it is found by that, and without by the chain, the head, or
// because it does not follow from the records. A capture is a claim then, and named as one.
func TestEveryByteWithRightHashes(t *testing.T) {
	bundle, m, _ := signedBundle(t)
	all := texts(t, bundle)
	found, claimed := 0, 0
	for name, text := range all {
		if name == manifestFile || name == signatureFile {
			continue
		}
		for at := 0; at < len(text); at += *every {
			signed := changedAt(t, m, all, name, at, true)
			if _, err := verified(signed, Check{Version: "v1"}); !IsBroken(err) {
				t.Fatalf("byte %d of %s was changed under the signature, and not found: %v", at, name, err)
			}
			v, err := verified(changedAt(t, m, all, name, at, false), Check{Version: "v1"})
			switch {
			case IsBroken(err):
				found++
			case err == nil && slices.Contains(v.Claims, name) && v.ManifestBy == "":
				claimed++
			default:
				t.Fatalf("byte %d of %s was changed, and not found: %v", at, name, err)
			}
		}
	}
	t.Logf("%d bytes changed with every hash right and the signature taken out: %d found, %d in captures and named as claims", found+claimed, found, claimed)
}

func changedAt(t *testing.T, m Material, all map[string][]byte, name string, at int, signed bool) []byte {
	t.Helper()
	changed := map[string][]byte{}
	for n, text := range all {
		if n != signatureFile || signed {
			changed[n] = text
		}
	}
	changed[name] = bytes.Clone(all[name])
	changed[name][at] ^= 0x01
	changed[manifestFile] = resealed(t, changed, m.Run, "v1")
	return packedOf(t, changed)
}

// TestEveryCut cuts a bundle at every byte, and the log in it, with the bundle made anew around it.
func TestEveryCut(t *testing.T) {
	bundle, m, _ := signedBundle(t)
	cuts := 0
	for end := 0; end < len(bundle); end += *every {
		if _, err := verified(bundle[:end], Check{Version: "v1"}); !IsBroken(err) {
			t.Fatalf("the bundle was cut at byte %d, and not found: %v", end, err)
		}
		cuts++
	}
	log := logOf(t, m)
	for end := len(log) - 2; end > 0; end -= *every { // a last line that only lacks its newline is a record
		if err := remade(t, m, log[:end]); !IsBroken(err) {
			t.Fatalf("the log was cut at byte %d, and not found: %v", end, err)
		}
		cuts++
	}
	t.Logf("%d cuts, each found", cuts)
}

// remade is what is found in a bundle of a changed log, with every hash of the manifest right.
func remade(t *testing.T, m Material, log []byte) error {
	t.Helper()
	m.Segments = []Source{held(log)}
	var b bytes.Buffer
	if err := Build(&b, m, "v1", nil); err != nil {
		return &Broken{Why: err.Error()} // not even a report can be made of it
	}
	_, err := verified(b.Bytes(), Check{Version: "v1"})
	return err
}

// TestEveryLine removes, doubles, swaps and cuts off the lines of the log in turn, with the bundle made anew around
// it: the chain or the signed head tells each.
func TestEveryLine(t *testing.T) {
	m := smallRun(t, true)
	lines := bytes.SplitAfter(logOf(t, m), []byte("\n"))
	lines = lines[:len(lines)-1]
	found := 0
	for i := range lines {
		logs := map[string][][]byte{
			"removed": slices.Concat(lines[:i], lines[i+1:]),
			"doubled": slices.Concat(lines[:i+1], lines[i:]),
			"cut off": lines[:i],
		}
		if i > 0 {
			logs["swapped"] = slices.Concat(lines[:i-1], [][]byte{lines[i], lines[i-1]}, lines[i+1:])
		}
		for what, log := range logs {
			if err := remade(t, m, bytes.Join(log, nil)); !IsBroken(err) {
				t.Errorf("line %d %s and not found: %v", i+1, what, err)
			}
			found++
		}
	}
	t.Logf("%d changes of %d lines, each found", found, len(lines))
}

// rewritten is the log of another course of events, with every number and hash right.
func rewritten(t *testing.T, m Material) []byte {
	t.Helper()
	var log []byte
	prev := strings.Repeat("0", 64)
	for line := range bytes.Lines(logOf(t, m)) {
		r, err := audit.ParseRecord(bytes.TrimSuffix(line, []byte("\n")))
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind == steps.KindIntended || r.Kind == steps.KindSettled {
			r.Body = bytes.ReplaceAll(r.Body, []byte("3200 attempts/s"), []byte("9900 attempts/s"))
		}
		r.Prev = prev
		again := r.Line()
		_, prev, err = sumOf(held(again))
		if err != nil || !json.Valid(again) {
			t.Fatalf("%s: %v", again, err)
		}
		log = append(append(log, again...), '\n')
	}
	return log
}

// TestAWholeLogRewritten, with all its hashes, is found by the signed head, by a head that was kept elsewhere, and by the
// key of whoever walked. Without any of them nothing finds it, and verify says so.
func TestAWholeLogRewritten(t *testing.T) {
	m, key := signedRun(t, smallID, smallRecords(t, true))
	kept, err := audit.OpenHead(m.Head, key.Verifier)
	if err != nil {
		t.Fatal(err)
	}
	forged := m
	forged.Segments = []Source{held(rewritten(t, m))}
	headless, stolen := forged, forged
	headless.Head, headless.Key = nil, nil
	stolen.Head, stolen.Key = signedAnew(t, forged)
	for _, c := range []struct {
		what  string
		m     Material
		check Check
		want  string // "" when nothing can find it
	}{
		{"with the signed head", forged, Check{}, "the log: "},
		{"without a head", headless, Check{}, ""},
		{"without a head, and one that was kept", headless, Check{Head: &kept}, "the log: "},
		{"without a head, and the right key", headless, Check{Keys: []note.Verifier{key.Verifier}}, "head: it is missing"},
		{"signed by another key", stolen, Check{}, ""},
		{"signed by another key, and the right key", stolen, Check{Keys: []note.Verifier{key.Verifier}}, "head: it is signed by "},
	} {
		c.check.Version = "v1"
		v, err := verified(built(t, c.m), c.check)
		said := strings.Join(v.Sentences, "\n")
		switch {
		case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want)):
			t.Errorf("%s: %v, not %q", c.what, err, c.want)
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.what, err)
		case c.want == "" && !strings.Contains(said, "could have written the whole log") && !strings.Contains(said, "whether that key is theirs"):
			t.Errorf("%s: it is not said that nothing tells:\n%s", c.what, said)
		}
	}
}

// signedAnew is a head of the end of a log by a new key, and that key.
func signedAnew(t *testing.T, m Material) (head, public []byte) {
	t.Helper()
	report, err := verifySegments(m.Segments, audit.VerifyOptions{Run: m.Run})
	if err != nil {
		t.Fatal(err)
	}
	_, key := signedRun(t, smallID, smallRecords(t, true))
	head, err = audit.SignHead(report.Head, key.Signer)
	if err != nil {
		t.Fatal(err)
	}
	return head, []byte(key.Public + "\n")
}

// TestEndsAreToldApart: what is at the end of a log, or not any more, has its own words, as have a changed middle and
// a missing head.
func TestEndsAreToldApart(t *testing.T) {
	m := smallRun(t, false)
	log := logOf(t, m)
	lines := bytes.SplitAfter(log, []byte("\n"))
	last := len(lines) - 2 // behind the last newline there is nothing
	unsigned := m
	unsigned.Head, unsigned.Key = nil, nil
	for _, c := range []struct {
		what string
		m    Material
		log  []byte
		want string
	}{
		{"a torn tail", m, slices.Concat(log, []byte(`{"seq":10,"pr`)), "no whole record in the last 13 bytes"},
		{"a run that goes on", m, log, "the run has not ended: it goes on, was interrupted, or its end was removed"},
		{"a removed tail", m, bytes.Join(lines[:last], nil), "1 record removed from its end"},
		{"a tampered middle", m, bytes.Replace(log, []byte("3200 attempts/s"), []byte("9900 attempts/s"), 1), "one of the two lines was changed"},
		{"no signed head", unsigned, log, "NO signed head"},
	} {
		c.m.Segments = []Source{held(c.log)}
		v, err := verified(built(t, c.m), Check{Version: "v1"})
		said := strings.Join(v.Sentences, "\n")
		if err != nil {
			said = err.Error()
		}
		if !strings.Contains(said, c.want) {
			t.Errorf("%s: not %q in\n%s", c.what, c.want, said)
		}
	}
}

// FuzzForged puts any content in the place of one file of an unsigned bundle, with every hash right: it is found, or the
// file is named as a claim.
func FuzzForged(f *testing.F) {
	m, _ := signedRun(f, smallID, smallRecords(f, true))
	for _, name := range captureNames {
		m.Captures[name] = []byte(`{"missing":"gone"}`)
	}
	all := texts(f, built(f, m))
	names := slices.Sorted(maps.Keys(all))
	for i, name := range names {
		f.Add(uint8(i), all[name])
	}
	f.Fuzz(func(t *testing.T, which uint8, text []byte) {
		name := names[int(which)%len(names)]
		forged := maps.Clone(all)
		forged[name] = text
		if name != manifestFile {
			forged[manifestFile] = resealed(t, forged, m.Run, "v1")
		}
		v, err := verified(packedOf(t, forged), Check{Version: "v1"})
		if err == nil && !bytes.Equal(text, all[name]) && !slices.Contains(v.Claims, name) {
			t.Errorf("%s was forged, and not found", name)
		}
	})
}
