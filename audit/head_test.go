package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"pgregory.net/rapid"
)

func testKey(t testing.TB) *Key {
	t.Helper()
	key, err := OpenKey(filepath.Join(t.TempDir(), "keys"), "rewarm.ops-1")
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestHeadIsReadBackAsPrinted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := Head{Seq: rapid.Uint64Range(1, 1<<62).Draw(t, "seq"), Hash: rapid.StringMatching(`[0-9a-f]{12}`).Draw(t, "hash")}
		got, err := ParseHead(h.String())
		if err != nil || got != h {
			t.Fatalf("%s came back as %s: %v", h, got, err)
		}
	})
	for _, s := range []string{"", "/", "1", "1/", "0/9f2c41d07ab3", "01/9f2c41d07ab3", "-1/9f2c41d07ab3", "+1/9f2c41d07ab3", "1/9f2c41d07ab", "1/9F2C41D07AB3", "1/9f2c41d07ab3 ", "1/" + strings.Repeat("a", 65), "99999999999999999999/9f2c41d07ab3"} {
		if h, err := ParseHead(s); err == nil {
			t.Errorf("%q was read as %s", s, h)
		}
	}
}

func TestSignedHead(t *testing.T) {
	key := testKey(t)
	path := logPath(t)
	l := mustCreate(t, path, Options{})
	if _, err := l.Sign(key.Signer); err == nil {
		t.Error("signed an empty log")
	}
	mustCommit(t, l, "begun", nil)
	onDisk, _ := l.Head()
	if _, err := l.Append("ana", "observed", nil); err != nil {
		t.Fatal(err)
	}
	signed, err := l.Sign(key.Signer)
	if err != nil {
		t.Fatal(err)
	}
	h, err := OpenHead(signed, key.Verifier)
	if err != nil || h != onDisk {
		t.Fatalf("signed %+v, %v; on disk is %+v", h, err, onDisk)
	}
	if want := "rewarm audit v1\n" + testRun + "\n1\n" + onDisk.Hash + "\n\n— rewarm.ops-1 "; !strings.HasPrefix(string(signed), want) {
		t.Errorf("signed %q", signed)
	}
	for range 2 {
		if err := l.StoreHead(signed); err != nil {
			t.Fatal(err)
		}
	}
	if got := readFile(t, filepath.Join(filepath.Dir(path), "head")); string(got) != string(signed) {
		t.Errorf("stored %q", got)
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 2 {
		t.Errorf("files left: %v", entries)
	}
	if _, err := Verify([]string{path}, VerifyOptions{Head: &h, Run: testRun}); err != nil {
		t.Errorf("head behind log is normal: %v", err)
	}
	if _, err := OpenHead(signed, testKey(t).Verifier); err == nil || !strings.Contains(err.Error(), "none of the keys") {
		t.Errorf("another key: %v", err)
	}
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if err := l.StoreHead(signed); err == nil {
		t.Error("stored a head in no directory")
	}
	if l.Broken() != nil {
		t.Error("a head that cannot be stored broke the log")
	}
}

func TestEveryMangledByteOfASignedHead(t *testing.T) {
	key := testKey(t)
	want := Head{Run: testRun, Seq: 312, Hash: strings.Repeat("9f2c41d07ab3", 6)[:hexLen]}
	signed, err := SignHead(want, key.Signer)
	if err != nil {
		t.Fatal(err)
	}
	for i := range signed {
		for _, flip := range []byte{1, 2, 0x20, 0x80} {
			mangled := append([]byte(nil), signed...)
			mangled[i] ^= flip
			if h, err := OpenHead(mangled, key.Verifier); err == nil && h != want {
				t.Fatalf("byte %d ^%#x: read as %+v", i, flip, h)
			}
		}
		if _, err := OpenHead(signed[:i], key.Verifier); err == nil {
			t.Fatalf("cut at %d: accepted", i)
		}
	}
}

func TestSignedTextMustBeAHead(t *testing.T) {
	key := testKey(t)
	hash := strings.Repeat("0", hexLen)
	for _, text := range []string{
		"hello\n", "rewarm audit v2\nrun\n1\n" + hash + "\n", "rewarm audit v1\nrun\n01\n" + hash + "\n",
		"rewarm audit v1\nrun\n1\n" + hash[1:] + "\n", "rewarm audit v1\nrun\n1\n" + hash + "\nmore\n", "rewarm audit v1\nrun\n0\n" + hash + "\n",
	} {
		signed, err := note.Sign(&note.Note{Text: text}, key.Signer)
		if err != nil {
			t.Fatal(err)
		}
		if h, err := OpenHead(signed, key.Verifier); err == nil {
			t.Errorf("%q was read as %+v", text, h)
		}
	}
	if _, err := SignHead(Head{Run: "a\nb", Seq: 1, Hash: hash}, key.Signer); err == nil {
		t.Error("signed a run of two lines")
	}
}

func TestKeyIsMadeOnceAndKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "keys")
	keys := make(chan *Key)
	for range 4 { // all at once
		go func() {
			key, err := OpenKey(dir, "rewarm")
			if err != nil {
				t.Error(err)
				key = &Key{}
			}
			keys <- key
		}()
	}
	first := <-keys
	for range 3 {
		if k := <-keys; k.Public != first.Public {
			t.Errorf("two keys: %s and %s", k.Public, first.Public)
		}
	}
	again, err := OpenKey(dir, "another name")
	if err != nil || again.Public != first.Public {
		t.Fatalf("got %+v, %v", again, err)
	}
	if got := string(readFile(t, filepath.Join(dir, "head.pub"))); got != first.Public+"\n" {
		t.Errorf("head.pub holds %q", got)
	}
	info, err := os.Stat(filepath.Join(dir, "head.key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestUnusableKeys(t *testing.T) {
	dir := t.TempDir()
	if _, err := OpenKey(filepath.Join(dir, "a"), "two words"); err == nil {
		t.Error("made a key whose name cannot stand in a note")
	}
	key := testKey(t)
	secret := "PRIVATE+KEY+rewarm+00000000+c2VjcmV0"
	path := filepath.Join(dir, "head.key")
	writeFile(t, path, []byte(secret))
	if _, err := OpenKey(dir, "rewarm"); err == nil || strings.Contains(err.Error(), "c2VjcmV0") {
		t.Errorf("got %v", err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenKey(dir, "rewarm"); err == nil || !strings.Contains(err.Error(), "0600") {
		t.Errorf("got %v", err)
	}
	if _, err := note.NewVerifier(key.Public); err != nil {
		t.Error(err)
	}
	if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenKey(dir, "rewarm"); err == nil {
		t.Error("read a directory as a key")
	}
}

// TestAgainstAHead: what goes over a log that lacks the record its head names learns it, behind what is there.
func TestAgainstAHead(t *testing.T) {
	path, _ := writeLog(t, 3)
	records := allRecords(t, path)
	head := func(seq uint64) Head {
		hash := sha256.Sum256(records[seq-1].Line())
		return Head{Seq: seq, Hash: hex.EncodeToString(hash[:])}
	}
	var truncated *TruncatedError
	var rewritten *RewrittenError
	for name, test := range map[string]struct {
		head Head
		is   func(error) bool
		seen int
	}{
		"it is the last":  {head(3), func(err error) bool { return err == nil }, 3},
		"the log went on": {head(1), func(err error) bool { return err == nil }, 3},
		"records removed": {Head{Seq: 5, Hash: head(3).Hash}, func(err error) bool { return errors.As(err, &truncated) && truncated.Last == head(3) }, 3},
		"rewritten":       {Head{Seq: 2, Hash: head(3).Hash}, func(err error) bool { return errors.As(err, &rewritten) && rewritten.Found == head(2) }, 1},
	} {
		seen := 0
		var last error
		for _, err := range Against(test.head, Records(path)) {
			if last = err; err == nil {
				seen++
			}
		}
		if !test.is(last) || seen != test.seen {
			t.Errorf("%s: %d records, then %v", name, seen, last)
		}
	}
	for range Against(Head{Seq: 5}, Records(path)) {
		break // whoever has seen enough is not told more
	}
	for _, err := range Against(head(3), Records(path+"-missing")) {
		if !errors.Is(err, ErrMissing) {
			t.Errorf("of a log that is missing: %v", err)
		}
	}
}
