package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

const goodLine = `{"seq":7,"prev":"1a09ad23d4801d63e0da68859b0653a3af72c92654c3e91e2e7ea8d88ecfc3f7","at":"2026-11-29T10:08:02.250000000Z","t":1250,"actor":"ana","kind":"noted","body":{"text":"p99 > 800ms"}}`

func TestParseRecordRefusesOtherSpellings(t *testing.T) {
	if _, err := ParseRecord([]byte(goodLine)); err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string][2]string{
		"space after a key":      {`"seq":7`, `"seq": 7`},
		"leading zero":           {`"seq":7`, `"seq":07`},
		"number zero":            {`"seq":7`, `"seq":0`},
		"sign":                   {`"t":1250`, `"t":+1250`},
		"negative run time":      {`"t":1250`, `"t":-1`},
		"fraction":               {`"t":1250`, `"t":1250.0`},
		"beyond 63 bits":         {`"seq":7`, `"seq":9223372036854775808`},
		"upper-case hex":         {`"1a09ad`, `"1A09ad`},
		"short hash":             {`"1a09ad`, `"1a09a`},
		"fewer decimals":         {`.250000000Z`, `.25Z`},
		"another zone":           {`.250000000Z`, `.25000+01:00`},
		"no such month":          {`2026-11-`, `2026-13-`},
		"other order":            {`"actor":"ana","kind":"noted"`, `"kind":"noted","actor":"ana"`},
		"additional key":         {`"kind"`, `"x":1,"kind"`},
		"escaped actor":          {`"ana"`, `"\u0061na"`},
		"raw control in actor":   {`"ana"`, "\"a\u009bna\""},
		"actor is a number":      {`"ana"`, `5`},
		"upper-case kind":        {`"noted"`, `"Noted"`},
		"empty kind":             {`"noted"`, `""`},
		"body is a list":         {`{"text":"p99 > 800ms"}`, `["p99"]`},
		"body is not valid":      {`{"text":"p99 > 800ms"}`, `{"text":}`},
		"something after it":     {`800ms"}}`, `800ms"}} `},
		"carriage return":        {`800ms"}}`, "800ms\"}}\r"},
		"byte order mark":        {`{"seq"`, "\ufeff{\"seq\""},
		"record twice in a line": {`800ms"}}`, `800ms"}}` + goodLine},
	} {
		line := strings.Replace(goodLine, edit[0], edit[1], 1)
		if line == goodLine {
			t.Fatalf("%s: nothing was edited", name)
		}
		if r, err := ParseRecord([]byte(line)); err == nil {
			t.Errorf("%s: accepted as %+v", name, r)
		}
	}
}

func FuzzParseRecord(f *testing.F) {
	f.Add([]byte(goodLine))
	f.Add([]byte(`{"seq":1,"prev":"` + strings.Repeat("0", 64) + `","at":"0000-02-30T24:00:00.000000000Z","t":0,"actor":"\u0061","kind":"a","body":{}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		r, err := ParseRecord(line)
		if err != nil {
			return
		}
		if got := r.Line(); !bytes.Equal(got, line) {
			t.Fatalf("read\n%s\nwrote\n%s", line, got)
		}
		var decoded Record
		if err := json.Unmarshal(line, &decoded); err != nil {
			t.Fatalf("encoding/json does not read what was accepted: %v", err)
		}
		if diff := cmp.Diff(r, decoded); diff != "" {
			t.Fatal("encoding/json reads something else (-ours +theirs):\n" + diff)
		}
	})
}

func TestRecordsSurviveAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		raw, err := encodeBody("noted", remark{text}, MaxFirstBody)
		if err != nil {
			t.Fatal(err)
		}
		actor := plainActor(string(rapid.SliceOf(rapid.Byte()).Draw(t, "actor")))
		r := Record{Seq: 1, Prev: strings.Repeat("0", 64), At: newClock().now, Actor: actor, Kind: "noted", Body: raw}
		got, err := ParseRecord(r.Line())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, got); diff != "" {
			t.Fatal(diff)
		}
		var body remark
		if err := json.Unmarshal(got.Body, &body); err != nil || body.Text != text {
			t.Fatalf("text %q came back as %q: %v", text, body.Text, err)
		}
	})
}

// https://github.com/golang/go/issues/58511: encoding/json replaces bytes that are
// not UTF-8, so different values got one hash.
func TestBytesThatAreNotUTF8AreNeverReplaced(t *testing.T) {
	for _, body := range []any{
		remark{"\xff"}, map[string]string{"\xfe": "x"}, []any{},
		json.RawMessage("{\"a\":\"\xff\"}"), remark{`\\` + "\xff"},
	} {
		if raw, err := encodeBody("noted", body, MaxBody); err == nil {
			t.Errorf("%q was recorded as %s", body, raw)
		}
	}
	for _, text := range []string{"\ufffd", `\ufffd`, `\\ufffd`, "日本"} {
		if _, err := encodeBody("noted", remark{text}, MaxBody); err != nil {
			t.Errorf("%q was refused: %v", text, err)
		}
	}
	if _, err := encodeBody("noted", remark{"\xff"}, MaxBody); !errors.Is(err, ErrNotUTF8) {
		t.Errorf("got %v", err)
	}
}

func TestTextIsReversible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")
		text, b64 := Split(b)
		back, err := Join(text, b64)
		if err != nil || !bytes.Equal(back, b) {
			t.Fatalf("%q came back as %q: %v", b, back, err)
		}
		name, value := Text("before", b)
		if (name == "before") != utf8.Valid(b) || value != text+b64 {
			t.Fatalf("%q is %s=%q", b, name, value)
		}
	})
	if _, err := Join("", "*"); err == nil {
		t.Error("accepted what is not base64")
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		in   string
		max  int
		want string
	}{
		{"short", 5, "short"},
		{"", 0, ""},
		{strings.Repeat("a", 100), 40, strings.Repeat("a", 22) + "…[78 bytes cut]"},
		{strings.Repeat("é", 50), 40, strings.Repeat("é", 11) + "…[78 bytes cut]"},
		{strings.Repeat("\x00", 50), 40, strings.Repeat("\x00", 3) + "…[47 bytes cut]"},
		{strings.Repeat("a", 100), 5, ""},
	} {
		if got := Cut(c.in, c.max); got != c.want {
			t.Errorf("Cut(%q, %d) is %q, want %q", c.in, c.max, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s, limit := rapid.String().Draw(t, "s"), rapid.IntRange(0, 200).Draw(t, "max")
		cut := Cut(s, limit)
		if got := len(quote(cut)) - 2; got > limit {
			t.Fatalf("%q takes %d bytes in JSON > %d", cut, got, limit)
		}
		if len(quote(s))-2 <= limit && cut != s {
			t.Fatalf("%q was cut to %q for nothing", s, cut)
		}
	})
}

func TestBodiesAreRefusedWithoutHarm(t *testing.T) {
	path := logPath(t)
	l := mustCreate(t, path, Options{})
	mustCommit(t, l, "begun", remark{strings.Repeat("b", MaxFirstBody-100)})
	for name, try := range map[string]struct {
		kind string
		body any
	}{
		"NaN":            {"noted", map[string]float64{"value": math.NaN()}},
		"channel":        {"noted", map[string]any{"c": make(chan int)}},
		"list":           {"noted", []int{1}},
		"number":         {"noted", 5},
		"too long":       {"noted", remark{strings.Repeat("x", MaxBody)}},
		"kind of torn":   {"torn", nil},
		"no kind":        {"", nil},
		"kind with dash": {"step-down", nil},
	} {
		for _, write := range []func(string, string, any) (Record, error){l.Append, l.Commit} {
			if r, err := write("ana", try.kind, try.body); err == nil {
				t.Errorf("%s: recorded as %s", name, r.Line())
			}
		}
	}
	var long *TooLongError
	if _, err := l.Commit("ana", "noted", remark{strings.Repeat("x", MaxBody)}); !errors.As(err, &long) || long.Limit != MaxBody {
		t.Errorf("got %v", err)
	}
	if err := l.Broken(); err != nil {
		t.Fatalf("the log broke: %v", err)
	}
	mustCommit(t, l, "noted", remark{strings.Repeat("x", MaxBody-len(`{"text":""}`))})
	mustCommit(t, l, "closed", nil)
	mustClose(t, l)
	if r := mustVerify(t, path); r.Head.Seq != 3 {
		t.Errorf("%d records, want 3", r.Head.Seq)
	}
}

// https://github.com/gowebpki/jcs/issues/5: lone surrogates decode to the same
// character, so only the stored bytes may be hashed.
func TestHashIsOfTheStoredBytes(t *testing.T) {
	var hashes []string
	for _, body := range []string{`{"text":"\ude00\ud83d"}`, `{"text":"\ufffd\ufffd"}`, `{"text":"\ud83d\ude00"}`} {
		line := strings.Replace(goodLine, `{"text":"p99 > 800ms"}`, body, 1)
		line = strings.Replace(line, `"seq":7,"prev":"1a09ad23d4801d63e0da68859b0653a3af72c92654c3e91e2e7ea8d88ecfc3f7"`, `"seq":1,"prev":"`+strings.Repeat("0", 64)+`"`, 1)
		path := logPath(t)
		if err := makeDir(filepath.Dir(path)); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, []byte(line+"\n"))
		hashes = append(hashes, mustVerify(t, path).Head.Hash)
	}
	if hashes[0] == hashes[1] || hashes[1] == hashes[2] || hashes[0] == hashes[2] {
		t.Errorf("different lines have one hash: %v", hashes)
	}
}

func TestOddActorsAreRecorded(t *testing.T) {
	l := mustCreate(t, logPath(t), Options{})
	for _, actor := range []string{"", "\xff\xfe", strings.Repeat("é", 1000), "a\x1b[31m\"b"} {
		r, err := l.Append(actor, "noted", nil)
		if err != nil {
			t.Fatalf("%q: %v", actor, err)
		}
		if len(quote(r.Actor)) > maxActor+2 {
			t.Errorf("%q is %d bytes long", r.Actor, len(r.Actor))
		}
	}
	if got := plainActor("\xff"); got != `\xff` {
		t.Errorf("got %s", got)
	}
	if len(collect(t, l)) != 4 {
		t.Error("records are missing")
	}
}
