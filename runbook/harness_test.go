package runbook

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// splice is a runbook with a piece put into the base document, and the way from
// its places to those of the piece.
type splice struct {
	source       string
	line, indent int // of the piece's first line; 0 when the piece is the whole file
	lines        int
}

// spliceAt puts a piece where the base document has the marker "#name".
func spliceAt(t testing.TB, name, piece string) splice {
	t.Helper()
	base, err := os.ReadFile("testdata/base.yaml")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(base), "\n")
	for i, line := range lines {
		before, marker, found := strings.Cut(line, "#")
		if !found || marker != name {
			continue
		}
		s := splice{line: i + 1, indent: len(before), lines: strings.Count(piece, "\n") + 1}
		var out []string
		if key, _, isStage := strings.Cut(before, "{skip"); isStage {
			out = append(out, strings.TrimRight(key, " "))
			s.line, s.indent = i+2, 4
		}
		for l := range strings.SplitSeq(piece, "\n") {
			out = append(out, strings.Repeat(" ", s.indent)+l)
		}
		s.source = strings.Join(append(append(lines[:i:i], out...), lines[i+1:]...), "\n")
		return s
	}
	t.Fatalf("the base document has no marker %q", name)
	return splice{}
}

// at gives a place of the document as one of the piece.
func (s splice) at(p Position) string {
	line := p.Line - s.line + 1
	switch {
	case s.line == 0:
		return fmt.Sprintf("%d:%d", p.Line, p.Column)
	case line < 1 || line > s.lines:
		return "elsewhere"
	}
	return fmt.Sprintf("%d:%d", line, p.Column-s.indent)
}

// spliced reads the piece of a test: the whole file under "document", else what
// stands at the marker that the command names. A line "#NAME" in the piece begins
// one more, for another marker.
func spliced(t testing.TB, td *datadriven.TestData) splice {
	t.Helper()
	if td.Cmd == "document" {
		return splice{source: td.Input + "\n"}
	}
	piece, more, _ := strings.Cut(td.Input, "\n#")
	s := spliceAt(t, td.Cmd, piece)
	for more != "" {
		var name string
		name, piece, _ = strings.Cut(more, "\n")
		piece, more, _ = strings.Cut(piece, "\n#")
		s.add(t, name, piece)
	}
	return s
}

// add puts one more piece before a marker of the document.
func (s *splice) add(t testing.TB, name, piece string) {
	t.Helper()
	before, after, found := strings.Cut(s.source, "#"+name+"\n")
	if !found {
		t.Fatalf("the document has no marker %q", name)
	}
	line := before[strings.LastIndex(before, "\n")+1:]
	before = strings.TrimSuffix(before, line)
	if key, _, isStage := strings.Cut(line, "{skip"); isStage {
		s.source = before + strings.TrimRight(key, " ") + "\n" + indented(piece, "    ") + after
		return
	}
	s.source = before + indented(piece, line) + line + "#" + name + "\n" + after
}

// indented puts an indentation before each line.
func indented(piece, indent string) string {
	return indent + strings.ReplaceAll(piece, "\n", "\n"+indent) + "\n"
}

// settings gives what the arguments set=NAME:VALUE say.
func settings(td *datadriven.TestData) map[string]string {
	set := map[string]string{}
	for _, arg := range td.CmdArgs {
		if arg.Key == "set" {
			for _, v := range arg.Vals {
				name, value, _ := strings.Cut(v, ":")
				set[name] = value
			}
		}
	}
	return set
}
