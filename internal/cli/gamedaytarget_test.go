package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/internal/lab"
)

// faultyClock is the time of this machine, until a file is there: then who waits panics, once.
type faultyClock struct {
	wallClock
	file  string
	spent *bool
}

func (c faultyClock) Wait(ctx context.Context, until time.Time) error {
	if _, err := os.Stat(c.file); err == nil && !*c.spent {
		*c.spent = true
		panic("the program is wrong")
	}
	return c.wallClock.Wait(ctx, until)
}

// A day that panics takes back what it has injected.
func TestPanicTakesBack(t *testing.T) {
	server, err := lab.Serve(t.Context(), lab.ServeOptions{Seed: 1, Clock: wallClock{}, Scenario: &lab.Scenario{Name: "quiet", Seed: 1, Start: 10 * time.Hour}})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	options, err := redis.ParseURL(server.RedisURL)
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	if err := client.HSet(t.Context(), actions.TargetKey("catalog"), "target", "lab-staging").Err(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	broken, book := filepath.Join(dir, "broken"), absolute(t, filepath.Join("testdata", "books", "short.yaml"))
	day := fmt.Sprintf(`{apiVersion: rewarm/v1, kind: GameDay, name: panics, about: for a test, target: {name: lab-staging}, runbook: '%s',
duration: 9m, operator: {reacts: 9m}, timeline: [{at: 1ms, event: call, do: [touch, '%s'], undo: [rm, -f, '%[2]s']}],
expect: [{name: nothing, finally: [{score: words, equals: 0}]}]}`, book, broken)
	if err := os.WriteFile(filepath.Join(dir, "day.yaml"), []byte(day), 0o600); err != nil {
		t.Fatal(err)
	}
	where := thisMachine()
	where.servers = faultyClock{file: broken, spent: new(bool)}
	var out, said bytes.Buffer
	func() {
		defer func() {
			if wrong := recover(); wrong != "the program is wrong" {
				t.Errorf("the panic is %v", wrong)
			}
		}()
		newProgram(strings.NewReader(""), &out, &said, where).run([]string{"gameday", "run", filepath.Join(dir, "day.yaml"), "--target", "lab-staging",
			"--prometheus", server.PrometheusURL, "--redis", server.RedisURL, "--state-dir", filepath.Join(dir, "state")})
	}()
	if _, err := os.Stat(broken); err == nil || !strings.Contains(said.String(), "taken back: rm -f ") {
		t.Errorf("%v: %s%s", err, &out, &said)
	}
}

func absolute(t *testing.T, file string) string {
	t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
