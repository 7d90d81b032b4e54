package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rewarm/rewarm/internal/demand"
	"github.com/rewarm/rewarm/internal/lab"
)

func sizeOutput(t *testing.T, command string) string {
	t.Helper()
	var out, diagnostics bytes.Buffer
	args := strings.Fields(strings.TrimPrefix(command, "rewarm "))
	where := madeUp(nil)
	if code := newProgram(nil, &out, &diagnostics, where).run(args); code != int(exitDone) && code != int(exitHeld) {
		t.Fatalf("%s exits %d: %s", command, code, &diagnostics)
	}
	return out.String()
}

func sizeDoc(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "size.md"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// TestSizeDocShowsTheOutput: each block begins what its command prints.
func TestSizeDocShowsTheOutput(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```console\n\\$ (rewarm size[^\n]*)\n(.*?)```").FindAllStringSubmatch(sizeDoc(t), -1)
	if len(blocks) != 2 {
		t.Fatalf("%d blocks, want 2", len(blocks))
	}
	for _, block := range blocks {
		shown := strings.TrimRight(block[2], "\n")
		if printed := sizeOutput(t, block[1]); shown == "" || !strings.HasPrefix(printed, shown) {
			t.Errorf("%s prints\n%s\nthe page shows\n%s", block[1], printed, shown)
		}
	}
}

// TestSizeDocNamesEveryInput: the table is the one of the package.
func TestSizeDocNamesEveryInput(t *testing.T) {
	var want strings.Builder
	for _, f := range demand.Fields {
		fmt.Fprintf(&want, "| `--%s %s` | %s | %s | %s |\n", f.Name, f.Form, orNothing(f.Default), f.Means, orNothing(f.Source))
	}
	if !strings.Contains(sizeDoc(t), "|---|---|---|---|\n"+want.String()+"\n") {
		t.Errorf("the table of inputs should be\n%s", want.String())
	}
}

func orNothing(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// TestSizeDocOtherSources: each row's command gives its figure.
func TestSizeDocOtherSources(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\| `(--[^`]*)` \\| ([0-9,]+ [a-z]+/s) \\|$").FindAllStringSubmatch(sizeDoc(t), -1)
	if len(rows) != 6 {
		t.Fatalf("%d rows, want 6", len(rows))
	}
	for _, row := range rows {
		if printed := sizeOutput(t, "rewarm size "+row[1]); !strings.Contains(printed, " = "+row[2]+"\n") {
			t.Errorf("size %s does not print %s", row[1], row[2])
		}
	}
	if exact := sizeOutput(t, "rewarm size --reads 300000 --hit-ratio 90% --cell-share 1/24"); !strings.Contains(exact, " = 41,250 attempts/s\n") {
		t.Error("the exact loss of one of 24 nodes is not 41,250 attempts/s")
	}
}

// TestSizeStartsFromTheLab: the defaults are the lab's parameters, so that the two
// never tell different stories.
func TestSizeStartsFromTheLab(t *testing.T) {
	defaults := map[string]string{}
	for _, f := range demand.Fields {
		defaults[f.Name] = f.Default
	}
	parameters := map[string]string{}
	for _, p := range lab.Parameters() {
		parameters[p.Name], _, _ = strings.Cut(p.Value, " ")
	}
	for _, c := range []struct{ field, parameter, value string }{
		{"reads", "ReadsPerSecond", defaults["reads"]},
		{"hot-share", "LaunchShare", "0.28"},
		{"keys", "Keys", defaults["keys"]},
		{"knee", "Knee", defaults["knee"]},
		{"processes", "Processes", defaults["processes"]},
		{"decline", "Decline", defaults["decline"]},
	} {
		if parameters[c.parameter] != c.value {
			t.Errorf("the lab's %s is %q, the default of --%s means %q", c.parameter, parameters[c.parameter], c.field, c.value)
		}
	}
}
