package cli

import (
	"os"
	"regexp"
	"testing"
)

// TestConsoleDocShowsTheScreen: the picture in docs/console.md is a golden screen.
func TestConsoleDocShowsTheScreen(t *testing.T) {
	page, err := os.ReadFile("../../docs/console.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)<!-- screen ([a-z0-9-]+) -->\n```text\n(.*?)```").FindAllSubmatch(page, -1)
	if len(shown) == 0 {
		t.Fatal("docs/console.md shows no screen")
	}
	for _, m := range shown {
		want, err := os.ReadFile("../tui/testdata/screens/" + string(m[1]) + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		if string(m[2]) != string(want) {
			t.Errorf("docs/console.md: the screen %s is not the golden one any more; copy it anew", m[1])
		}
	}
}
