package evidence

import (
	"archive/zip"
	"bytes"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/rewarm/rewarm/audit"
)

// captured is a short run with captures, and its key.
func captured(t *testing.T) (Material, *audit.Key) {
	t.Helper()
	m, key := signedRun(t, smallID, smallRecords(t, true))
	value := "3200"
	var err error
	if m.Captures[controlsFile], err = encode(Controls{Source: "redis:6379", Controls: []ControlValue{{Control: "origin.admission", Value: &value}}}); err != nil {
		t.Fatal(err)
	}
	if m.Captures[rangesFile], err = encode(Ranges{Source: "http://prometheus:9090", Missing: "no probe has a past"}); err != nil {
		t.Fatal(err)
	}
	return m, key
}

// forged is a bundle whose files were changed, packed as rewarm packs, with every hash of the manifest right.
func forged(t *testing.T, bundle []byte, version string, change func(files map[string][]byte)) []byte {
	t.Helper()
	files := texts(t, bundle)
	change(files)
	files[manifestFile] = resealed(t, files, smallID, version)
	return packedOf(t, files)
}

func TestSignedManifest(t *testing.T) {
	m, key := captured(t)
	stranger, strangers := captured(t)
	bundle := sealed(t, m, key)
	if !bytes.Equal(sealed(t, m, key), bundle) {
		t.Error("the second build of a signed bundle is another")
	}
	capture := capturesDir + "/" + controlsFile
	changeCapture := func(files map[string][]byte) {
		files[capture] = bytes.ReplaceAll(files[capture], []byte("3200"), []byte("9999"))
	}
	changeReport := func(files map[string][]byte) { files[reportMD] = []byte("# All was well\n") }
	unsigned := func(change func(map[string][]byte)) func(map[string][]byte) {
		return func(files map[string][]byte) { change(files); delete(files, signatureFile) }
	}
	resigned := forged(t, bundle, "v1", unsigned(changeCapture))
	files := texts(t, resigned)
	var err error
	if files[signatureFile], err = signManifest(smallID, files[manifestFile], strangers.Signer); err != nil {
		t.Fatal(err)
	}
	resigned = packedOf(t, files)
	mine, theirs := idOf(t, m), idOf(t, stranger)
	both := Check{Version: "v1", Keys: []note.Verifier{key.Verifier, strangers.Verifier}}
	for _, c := range []struct {
		what   string
		bundle []byte
		check  Check
		broken string
		want   string // in the summary or a sentence
	}{
		{"whole", bundle, Check{Version: "v1"}, "", "the word of who exported, signed by " + mine + ": captures/controls.json, captures/ranges.json"},
		{"capture", forged(t, bundle, "v1", changeCapture), Check{Version: "v1"}, "manifest.json: it is not the one that " + mine + " signed", ""},
		{"report", forged(t, bundle, "v9", changeReport), Check{Version: "v1"}, "manifest.json: it is not the one that " + mine + " signed", ""},
		{"capture, unsigned", forged(t, bundle, "v1", unsigned(changeCapture)), Check{Version: "v1"}, "", "NOT proved and NOT signed: captures/controls.json, captures/ranges.json"},
		{"report, unsigned", forged(t, bundle, "v9", unsigned(changeReport)), Check{Version: "v1"}, "", "NOT proved and NOT signed: captures/controls.json, captures/ranges.json, report.md, report.html"},
		{"ranges, unsigned", forged(t, bundle, "v1", unsigned(func(files map[string][]byte) {
			files[capturesDir+"/"+rangesFile] = []byte(`{"missing":"another reason"}`)
		})), Check{Version: "v1"}, "report.md: it does not follow from the records and the captures", ""},
		{"signed by another", resigned, Check{Version: "v1"}, "manifest.sig: it is signed by " + theirs + ", not by " + mine, ""},
		{"signed by another that is known", resigned, both, "", "the manifest is signed by " + theirs + ", ANOTHER key than the head's"},
	} {
		v, err := verified(c.bundle, c.check)
		said := v.Summary() + "\n" + strings.Join(v.Sentences, "\n")
		switch {
		case c.broken == "" && (err != nil || !strings.Contains(said, c.want)):
			t.Errorf("%s: %v, and not %q in\n%s", c.what, err, c.want, said)
		case c.broken != "" && (err == nil || !strings.HasPrefix(err.Error(), c.broken)):
			t.Errorf("%s: %v, not %q", c.what, err, c.broken)
		}
	}
}

// TestAnotherRunsLogIsNamed: the log of one run in the bundle of another is not a log with lines missing.
func TestAnotherRunsLogIsNamed(t *testing.T) {
	m, _ := captured(t)
	files := texts(t, built(t, m))
	other := "20261129T111111Z-other-0000"
	files[manifestFile] = resealed(t, files, other, "v1")
	_, err := verified(packedOf(t, files), Check{Version: "v1"})
	want := "audit.jsonl: it is the log of another run, " + smallID + ": the bundle is of " + other
	if err == nil || err.Error() != want {
		t.Errorf("%v, not %q", err, want)
	}
}

// TestPackedAnew: an honest zip of the same files says that its contents are unchanged, a forged one what was changed.
func TestPackedAnew(t *testing.T) {
	m, _ := captured(t)
	bundle := built(t, m)
	if _, err := verified(packedAnew(t, bundle), Check{Version: "v1"}); err == nil || !strings.Contains(err.Error(), "its contents verify and are unchanged") {
		t.Errorf("packed anew: %v", err)
	}
	changed := forged(t, bundle, "v1", func(files map[string][]byte) { files[figuresFile] = []byte("{}\n") })
	if _, err := verified(packedAnew(t, changed), Check{Version: "v1"}); err == nil || !strings.HasPrefix(err.Error(), "figures.json: ") {
		t.Errorf("changed and packed anew: %v", err)
	}
}

// packedAnew is the same files compressed, with a folder written down, as other programs do.
func packedAnew(t *testing.T, bundle []byte) []byte {
	t.Helper()
	files := texts(t, bundle)
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	if _, err := w.Create(capturesDir + "/"); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		to, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := to.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
