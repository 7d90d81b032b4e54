package evidence

import (
	"bytes"
	"encoding/csv"
	"maps"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/rewarm/rewarm/audit"
)

// TestBundleIsAPureFunction: the same material gives the same bytes, in every zone.
func TestBundleIsAPureFunction(t *testing.T) {
	m := smallRun(t, true)
	first := built(t, m)
	before := time.Local
	defer func() { time.Local = before }()
	for _, zone := range []string{"UTC", "Asia/Tokyo", "America/St_Johns"} {
		place, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		time.Local = place
		if !bytes.Equal(built(t, m), first) {
			t.Errorf("in zone %s the bundle is another one", zone)
		}
	}
	if _, err := verified(first, Check{Version: "v1"}); err != nil {
		t.Error(err)
	}
}

// TestEveryByteCounts changes bytes all over a signed bundle in turn: every one of the signature and of what
// follows it, every third of the rest.
func TestEveryByteCounts(t *testing.T) {
	m, key := signedRun(t, smallID, smallRecords(t, true))
	bundle := sealed(t, m, key)
	found, signature := 0, bytes.Index(bundle, []byte(signatureFile))
	for i := range bundle {
		if i%3 != 0 && (i < signature || i > signature+600) {
			continue
		}
		changed := bytes.Clone(bundle)
		changed[i] ^= 0x01
		if _, err := verified(changed, Check{Version: "v1"}); !IsBroken(err) {
			t.Fatalf("byte %d of %d was changed and not found: %v", i, len(bundle), err)
		}
		found++
	}
	t.Logf("%d changed bytes, each found", found)
}

// remade is a bundle of changed material, with every hash of the manifest right.
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

// TestLinesAreMissed removes, doubles, swaps and cuts lines of the log, and makes the bundle anew around
// it: the chain or the signed head tells each.
func TestLinesAreMissed(t *testing.T) {
	m := smallRun(t, true)
	whole := logOf(t, m)
	lines := bytes.SplitAfter(whole, []byte("\n"))
	lines = lines[:len(lines)-1]
	join := func(parts ...[][]byte) []byte {
		var all []byte
		for _, part := range parts {
			all = append(all, bytes.Join(part, nil)...)
		}
		return all
	}
	for i := range lines {
		logs := map[string][]byte{
			"removed": join(lines[:i], lines[i+1:]),
			"doubled": join(lines[:i+1], lines[i:]),
			"cut":     join(lines[:i]),
		}
		if i > 0 {
			logs["swapped"] = join(lines[:i-1], [][]byte{lines[i], lines[i-1]}, lines[i+1:])
		}
		for what, log := range logs {
			if err := remade(t, m, log); !IsBroken(err) {
				t.Errorf("line %d %s and not found: %v", i+1, what, err)
			}
		}
	}
	// A last line that only lacks its newline is a record.
	for end := len(whole) - 2; end > 0; end -= 97 {
		if err := remade(t, m, whole[:end]); !IsBroken(err) {
			t.Fatalf("the log cut at byte %d and not found: %v", end, err)
		}
	}
}

// TestWhatIsFoundIsNamed: each kind of change has its words.
func TestWhatIsFoundIsNamed(t *testing.T) {
	m := smallRun(t, true)
	other := smallRun(t, true) // the same run with a key of its own
	all := texts(t, built(t, m))
	with := func(name string, change func(text []byte) []byte) []byte {
		changed := maps.Clone(all)
		changed[name] = change(bytes.Clone(all[name]))
		changed[manifestFile] = resealed(t, changed, m.Run, "v1")
		return packedOf(t, changed)
	}
	more := func(text []byte) []byte { return append(text, ' ') }
	for _, c := range []struct {
		what   string
		bundle []byte
		check  Check
		want   string
	}{
		{"figures", with(figuresFile, more), Check{}, "figures.json: it does not follow from the records"},
		{"report", with(reportHTML, more), Check{}, "report.html: it does not follow from the records"},
		{"runbook", with(runbookFile, more), Check{}, "runbook.yaml: it is not the runbook that the run began with"},
		{"stranger", with("notes.txt", more), Check{}, "notes.txt: no bundle has such a file"},
		{"signature", with(headFile, func([]byte) []byte { return other.Head }), Check{}, "head: it is signed by " + idOf(t, other) + ", not by " + idOf(t, m)},
		{"key", built(t, m), Check{Keys: []note.Verifier{keyOf(t, other.Key)}}, "head: it is signed by " + idOf(t, m) + ", not by " + idOf(t, other)},
		{"torn tail", with(segmentName(1), func(text []byte) []byte { return text[:len(text)-9] }), Check{}, "the log: "},
		{"head", built(t, m), Check{Head: &audit.Head{Seq: 99}}, "the log: "},
	} {
		c.check.Version = "v1"
		_, err := verified(c.bundle, c.check)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, not %q", c.what, err, c.want)
		}
	}
	v, err := verified(built(t, m), Check{Version: "v1", Keys: []note.Verifier{keyOf(t, m.Key)}})
	if err != nil || !v.Pinned {
		t.Errorf("the right key: %+v, %v", v, err)
	}
}

func logOf(t *testing.T, m Material) []byte {
	t.Helper()
	text, err := hold(m.Segments[0])
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func idOf(t *testing.T, m Material) string {
	key := keyOf(t, m.Key)
	return keyID(key.Name(), key.KeyHash())
}

func keyOf(t *testing.T, text []byte) note.Verifier {
	t.Helper()
	key, err := note.NewVerifier(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestALogWithoutAHeadSaysSo, and a run that still goes on can be exported.
func TestALogWithoutAHeadSaysSo(t *testing.T) {
	m := smallRun(t, false)
	m.Head, m.Key = nil, nil
	v, err := verified(built(t, m), Check{Version: "v2"})
	if err != nil {
		t.Fatal(err)
	}
	said := strings.Join(v.Sentences, "\n")
	for _, want := range []string{"NO signed head", "not rendered again by this one"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said:\n%s", want, said)
		}
	}
}

// TestTextFromOutsideIsHarmless: in every format of a bundle.
// https://github.com/allinurl/goaccess/issues/58
func TestTextFromOutsideIsHarmless(t *testing.T) {
	files := texts(t, built(t, smallRun(t, true)))
	for name, forbidden := range map[string][]string{
		reportHTML:   {"<img", "</script>", "\x1b", "\u202e", "javascript:1)\""},
		reportMD:     {"<img", "</script>", "\x1b", "\u202e", "`rm`", "[x](", "ana: </"},
		timelineCSV:  {"\x1b"},
		timelineJSON: {"\x1b"},
	} {
		for _, text := range forbidden {
			if bytes.Contains(files[name], []byte(text)) {
				t.Errorf("%s has %q", name, text)
			}
		}
	}
	rows, err := csv.NewReader(bytes.NewReader(files[timelineCSV])).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		for _, cell := range row {
			if cell != "" && strings.ContainsRune("=+@", rune(cell[0])) {
				t.Errorf("a spreadsheet would run %q", cell)
			}
		}
	}
}

// TestWhatIsMissingIsSaid: captures that could not be had are named in the report.
func TestWhatIsMissingIsSaid(t *testing.T) {
	m := smallRun(t, true)
	gone, err := encode(Ranges{Missing: "http://prometheus:9090 cannot be reached: connection refused"})
	if err != nil {
		t.Fatal(err)
	}
	m.Captures[rangesFile] = gone
	files := texts(t, built(t, m))
	for _, want := range []string{"what Prometheus kept: http://prometheus:9090 cannot be reached", "the controls in Redis at the end: not captured yet"} {
		if !bytes.Contains(files[reportMD], []byte(want)) {
			t.Errorf("the report does not say %q", want)
		}
	}
}

func FuzzVerify(f *testing.F) {
	f.Add(built(f, smallRun(f, true)))
	f.Add([]byte("PK\x05\x06"))
	f.Fuzz(func(t *testing.T, bundle []byte) {
		_, _ = verified(bundle, Check{Version: "v1"})
	})
}

// BenchmarkBuild and BenchmarkVerify are held against hashing the same bytes.
func BenchmarkBuild(b *testing.B) {
	m := smallRun(b, true)
	for b.Loop() {
		built(b, m)
	}
}
