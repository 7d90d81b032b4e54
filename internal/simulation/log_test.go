package simulation

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/steps"
)

// TestTheModelOfTheLog gives what incidents have written to package audit: it verifies as
// it is, and cut in the middle of its last line it opens, is repaired, and folds.
func TestTheModelOfTheLog(t *testing.T) {
	for seed := range uint64(12) {
		w, err := newWorld(Draw(seed), warp{})
		if err == nil {
			err = w.play()
		}
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		for _, l := range w.disk.lines {
			text.Write(l.text)
			text.WriteByte('\n')
		}
		path := filepath.Join(t.TempDir(), "audit.jsonl")
		put(t, path, text.Bytes())
		report, err := audit.Verify([]string{path}, audit.VerifyOptions{Run: w.run})
		if err != nil || report.Ended != string(w.stats.Ending) {
			t.Fatalf("seed %d: %+v, %v", seed, report, err)
		}
		put(t, path, text.Bytes()[:text.Len()-20])
		log, err := audit.Open(path, processClock{w: w}, audit.Options{Run: w.run})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		torn, err := steps.Fold(log.Records())
		cut, err2 := steps.Fold((&disk{lines: w.disk.lines[:len(w.disk.lines)-1]}).records())
		if err != nil || err2 != nil || torn.Ending != "" || !reflect.DeepEqual(torn.Owed(), cut.Owed()) || torn.Stage != cut.Stage {
			t.Errorf("seed %d: the repaired log folds to another state: %v, %v", seed, err, err2)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	}
}

func put(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
