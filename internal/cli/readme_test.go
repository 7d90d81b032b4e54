package cli

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

// particular is what differs from run to run: the day, run ids, digests, hashes, hosts, places;
// and measured fractions, which differ between processor architectures.
var particular = regexp.MustCompile(`^[0-9-]{10} UTC$|\b[0-9]+\.[0-9]{2,}\b|[0-9]{8}T[0-9]{6}Z-[a-z-]+-[0-9a-f]{4}|\b[0-9a-f]{8,12}\b|rewarm-[a-z0-9-]+$|\S*/runs/`)

var stateDir = regexp.MustCompile(` --state-dir \S+`)

func general(line string) string {
	return particular.ReplaceAllString(stateDir.ReplaceAllString(line, ""), "#")
}

// TestReadmeShowsARealDemo: the README's transcript stands, line by line and in this
// order, in what the demo prints. A line that ends with … is the beginning of one.
func TestReadmeShowsARealDemo(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if code := Main([]string{"demo", "--state-dir", t.TempDir()}, bytes.NewReader(nil), &out, &out); code != 0 {
		t.Fatalf("the demo ended with %d:\n%s", code, &out)
	}
	printed := strings.Split(out.String(), "\n")
	for _, line := range readmeTranscript(t) {
		beginning, cut := strings.CutSuffix(line, " …")
		for len(printed) > 0 && !shows(printed[0], beginning, cut) {
			printed = printed[1:]
		}
		if len(printed) == 0 {
			t.Fatalf("the demo does not print, where the README has it:\n%s", line)
		}
	}
}

func shows(printed, line string, cut bool) bool {
	printed, line = general(printed), general(line)
	return printed == line || cut && strings.HasPrefix(printed, line)
}

// readmeTranscript gives the lines of the README's transcript, but for the command and
// the gaps.
func readmeTranscript(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(text), "<!-- transcript -->\n```console\n")
	block, _, closed := strings.Cut(block, "\n```\n")
	if !found || !closed {
		t.Fatal("the README has no transcript")
	}
	var lines []string
	for line := range strings.Lines(block) {
		if line = strings.TrimSuffix(line, "\n"); line != "…" && !strings.HasPrefix(line, "$ ") {
			lines = append(lines, line)
		}
	}
	return lines
}
