package evidence

import (
	"bytes"
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
	f.Add(incidentOf(f, nil, smallRun(f, true), otherRun(f, nil)))
	f.Add([]byte("PK\x05\x06"))
	f.Fuzz(func(t *testing.T, bundle []byte) {
		_, _ = verified(bundle, Check{Version: "v1"})
	})
}
