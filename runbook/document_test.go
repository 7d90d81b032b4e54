package runbook

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// TestDocuments reads whole runbooks and expects what became of them.
// `go test -run TestDocuments -rewrite` writes the expectations anew.
func TestDocuments(t *testing.T) {
	datadriven.RunTest(t, "testdata/documents", func(t *testing.T, td *datadriven.TestData) string {
		var file string
		td.ScanArgs(t, "file", &file)
		source, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			t.Fatal(err)
		}
		d, problems := Parse(file, source, settings(td))
		if problems != nil {
			return problems.Error() + "\n"
		}
		var out strings.Builder
		switch td.Cmd {
		case "describe":
			describe(&out, d)
		case "floor":
			describeFloor(&out, TimeFloor(d))
		case "lint":
			for _, f := range Lint(d) {
				fmt.Fprintf(&out, "%d:%d %s: %s; waived: %s\n", f.Pos.Line, f.Pos.Column, f.Rule, f.Message, f.Waived)
			}
		case "two-persons":
			for _, p := range d.TwoPersons() {
				fmt.Fprintln(&out, p.Error())
			}
		}
		return out.String()
	})
}

func describe(out *strings.Builder, d *Document) {
	fmt.Fprintf(out, "%s for %s within %s\n", d.Name, d.Service, d.RecoverWithin)
	for _, f := range d.Figures {
		fmt.Fprintf(out, "figure %s: %s %s of %s\n", f.Name, decimal(f.Value), f.Unit, f.Measured)
	}
	for _, p := range d.Parameters {
		fmt.Fprintf(out, "parameter %s: %s %q %v\n", p.Name, p.Kind, p.Value, p.Number)
	}
	fmt.Fprintf(out, "defaults: %+v\n", d.Defaults)
	for i := range d.Controls {
		describeControl(out, &d.Controls[i])
	}
	for _, p := range d.Probes {
		fmt.Fprintf(out, "%d:%d probe %s in %s: %s\n", p.Pos.Line, p.Pos.Column, p.Name, p.Unit, p.Query)
	}
	fmt.Fprintf(out, "exit: %s, %d times %s\n", d.Exit.When, d.Exit.Intervals, d.Exit.Interval)
	for _, g := range d.Guards {
		fmt.Fprintf(out, "%s: %s from %s to %s, %d passes, %s\n", g.Name, g.Bound, g.From, g.To, g.Passes, g.Otherwise)
	}
	for _, plan := range d.Stages {
		if plan.Skip != "" {
			fmt.Fprintf(out, "stage %s: %s\n", plan.Stage, plan.Skip)
		}
	}
	for s := range d.Steps() {
		describeStep(out, d, s)
	}
}

func describeControl(out *strings.Builder, c *Control) {
	fmt.Fprintf(out, "%d:%d control %s %s %s from %v to %v, steady %s, absent %s, protects %q, %s, temporary %v, shared %v",
		c.Pos.Line, c.Pos.Column, c.Name, c.Kind, c.Unit, c.Min, c.Max, c.Format(c.Steady), c.Format(c.Absent),
		c.Protects, c.Scope, c.Temporary, c.Shared)
	for _, v := range c.Back {
		fmt.Fprintf(out, ", back %s", c.Format(v))
	}
	if c.DeadMan != nil {
		fmt.Fprintf(out, ", dead man %s", c.Format(*c.DeadMan))
	}
	fmt.Fprintln(out)
}

func describeStep(out *strings.Builder, d *Document, s *Step) {
	fmt.Fprintf(out, "%d:%d %s: step %s", s.Pos.Line, s.Pos.Column, s.Stage, s.Name)
	parts := []struct {
		name, value string
	}{
		{"why", s.Why}, {"when", s.When.String()}, {"expect", s.Expect.String()}, {"undo if", s.UndoIf.String()},
		{"otherwise", string(s.Otherwise)},
	}
	for _, p := range parts {
		if p.value != "" {
			fmt.Fprintf(out, "\n  %s: %s", p.name, p.value)
		}
	}
	if s.Flip != nil {
		c := d.Control(s.Flip.Control)
		fmt.Fprintf(out, "\n  flip: %s to %s in %d rungs", c.Name, c.Format(s.Flip.To), len(s.Flip.Through))
	}
	if s.Call != nil {
		fmt.Fprintf(out, "\n  call: %+v undo %+v check %+v in %s", s.Call.Do, s.Call.Undo, s.Call.Check, s.Call.Timeout)
	}
	if s.Else != nil {
		fmt.Fprintf(out, "\n  else: %+v in %s", s.Else.Call.Do, s.Else.Call.Timeout)
	}
	if s.Confirm != nil {
		fmt.Fprintf(out, "\n  confirm: %q modes %v, after %s %q", s.Confirm.Ask, s.Confirm.Modes, s.Confirm.After, s.Confirm.Else)
	}
	if s.Restore != nil {
		fmt.Fprintf(out, "\n  restore: %v", s.Restore.Order)
	}
	fmt.Fprintf(out, "\n  timing: %+v settle %s\n", s.Timing, s.Settle)
}

func describeFloor(out *strings.Builder, f Floor) {
	for _, line := range f.Lines {
		fmt.Fprintf(out, "%-12s %6s  %s\n", line.Name, line.Cost, line.Words)
	}
	fmt.Fprintf(out, "%-12s %6s\nbeside:\n", "total", f.Total)
	for _, line := range f.Beside {
		cost := "?"
		if line.Known {
			cost = line.Cost.String()
		}
		fmt.Fprintf(out, "%-12s %6s  %s\n", line.Name, cost, line.Words)
	}
}

// TestStageFloorsAddUp checks that the lines of a floor are its total, and the
// stages and the exit too.
func TestStageFloorsAddUp(t *testing.T) {
	source, err := os.ReadFile("testdata/collapse.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f := TimeFloor(mustParse(t, string(source), nil))
	sum := f.Stage(0) // the exit belongs to no stage
	for s := DeclareMode; s <= Reconcile; s++ {
		sum += f.Stage(s)
	}
	if sum != f.Total || f.Total == 0 {
		t.Errorf("the stages add up to %s, the total is %s", sum, f.Total)
	}
}

// TestPlacesPointAtTheText reads the tree of a runbook and compares what stands at
// each place of the file with what was read there.
func TestPlacesPointAtTheText(t *testing.T) {
	for _, file := range []string{"testdata/collapse.yaml", "testdata/base.yaml"} {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(source), "\n")
		d := &decoder{}
		var visit func(n *node)
		at := func(p Position, want string) {
			if got := lines[p.Line-1][p.Column-1:]; !strings.HasPrefix(strings.TrimLeft(got, `'"`), want) {
				t.Errorf("%s:%d:%d has %q, not %q", file, p.Line, p.Column, got, want)
			}
		}
		visit = func(n *node) {
			if n.shape == scalar && !n.quoted {
				at(n.pos, n.text)
			}
			for _, item := range n.items {
				visit(item)
			}
			for _, e := range n.entries {
				at(e.pos, e.key)
				visit(e.value)
			}
		}
		visit(d.parseTree(string(source)))
		if len(d.problems) > 0 {
			t.Error(d.problems)
		}
	}
}
