//go:build !race

// Minutes of the model for every walk: the race detector looks at walks elsewhere, and CI
// runs these without it.

package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rewarm/rewarm/templates"
)

// TestOneSeedOneWalk: with one seed, one origin and one key a walk is the same to the
// byte: on the screen, in the log and in its signed head. Another seed is another walk.
func TestOneSeedOneWalk(t *testing.T) {
	for _, name := range []string{caseStudy, "tier-loss"} {
		t.Run(name, func(t *testing.T) {
			state := t.TempDir()
			first, again := walkOnce(t, state, name), walkOnce(t, state, name)
			if diff := cmp.Diff(first.screen, again.screen); diff != "" {
				t.Errorf("the screen differs:\n%s", diff)
			}
			if !bytes.Equal(first.log, again.log) || !bytes.Equal(first.head, again.head) {
				t.Error("the log or its head differs")
			}
			if other := walkOnce(t, state, seeded(t, name, "seed: 2")); bytes.Equal(first.log, other.log) {
				t.Error("another seed gives the same log")
			}
		})
	}
}

// walkedOnce is all that a walk leaves.
type walkedOnce struct {
	screen    string
	log, head []byte
}

// walkOnce plays a scenario, and takes its run out of the state directory: the key stays.
func walkOnce(t *testing.T, state, scenario string) (w walkedOnce) {
	t.Helper()
	w.screen = demoHere(t, state, "--scenario", scenario)
	w.log, w.head = ofTheRun(t, state, "audit.jsonl"), ofTheRun(t, state, "head")
	if err := os.RemoveAll(filepath.Join(state, "runs")); err != nil {
		t.Fatal(err)
	}
	return w
}

// ofTheRun reads a file of the only run in a state directory.
func ofTheRun(t *testing.T, state, file string) []byte {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(state, "runs", "*", file))
	if err != nil || len(found) != 1 {
		t.Fatalf("%d runs have a file %s: %v", len(found), file, err)
	}
	content, err := os.ReadFile(found[0])
	if err != nil || len(content) == 0 {
		t.Fatalf("%s: %d bytes, %v", file, len(content), err)
	}
	return content
}

// seeded writes a bundled scenario with another seed, and names the file.
func seeded(t *testing.T, name, seed string) string {
	t.Helper()
	source, err := templates.Files.ReadFile(scenariosDir + "/" + name + ".yaml")
	if err != nil || !bytes.Contains(source, []byte("seed: 1\n")) {
		t.Fatalf("%s has no seed: 1: %v", name, err)
	}
	file := filepath.Join(t.TempDir(), name+".yaml")
	if err := os.WriteFile(file, []byte(strings.Replace(string(source), "seed: 1", seed, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestOneSeedOnePage: the metrics of a walked lab are the same to the byte at every second.
func TestOneSeedOnePage(t *testing.T) {
	first, second, other := pagesOfAWalk(t, 1), pagesOfAWalk(t, 1), pagesOfAWalk(t, 2)
	if first != second {
		t.Error("one seed, two pages")
	}
	if first == other {
		t.Error("another seed gives the same pages")
	}
}

// pagesOfAWalk sums up the metrics pages of every second of a walk.
func pagesOfAWalk(t *testing.T, seed uint64) (sum [sha256.Size]byte) {
	t.Helper()
	scenario, err := openScenario("hot-shard")
	if err != nil {
		t.Fatal(err)
	}
	tr := playing(t, bundled(t, scenario.Runbook), scenario, seed)
	pages := sha256.New()
	tr.each = func() error {
		page := httptest.NewRecorder()
		tr.lab.Metrics().ServeHTTP(page, httptest.NewRequest("GET", "/metrics", nil))
		_, err := pages.Write(page.Body.Bytes())
		return err
	}
	if _, err := tr.walked(context.Background(), true); err != nil {
		t.Fatal(err)
	}
	pages.Sum(sum[:0])
	return sum
}
