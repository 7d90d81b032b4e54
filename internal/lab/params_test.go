package lab

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

// docs/lab.md lists every number of the model with where it comes from.
func TestDocumentListsTheParameters(t *testing.T) {
	doc, err := os.ReadFile("../../docs/lab.md")
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	for _, p := range Parameters() {
		switch p.Source {
		case "case", "derived", "assumed", "fitted":
		default:
			t.Errorf("%s has the source %q", p.Name, p.Source)
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", p.Name, p.Value, p.Source, p.Note)
	}
	if !strings.Contains(string(doc), table.String()) {
		t.Errorf("docs/lab.md does not have this table:\n%s", table.String())
	}
}

// docs/lab.md lists every metric of the page.
func TestDocumentListsTheMetrics(t *testing.T) {
	doc, err := os.ReadFile("../../docs/lab.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range newPage(newCase(small(), 1, caseBegins), noReport).families {
		if !strings.Contains(string(doc), "`"+f.name+"`") {
			t.Errorf("docs/lab.md does not name %s", f.name)
		}
	}
}

// What the case says follows from the parameters.
func TestParametersAgreeWithTheCase(t *testing.T) {
	p := catalog
	percent := 0
	for _, c := range p.Cells {
		percent += c.Percent
		if c.Name == p.Cells[homeCell].Name {
			if c.Percent != 30 || p.Keys*c.Percent/100 != 240_000 {
				t.Errorf("the lost cell has %d %% of the reads and %d keys", c.Percent, p.Keys*c.Percent/100)
			}
		}
	}
	if percent != 100 {
		t.Errorf("the cells have %d %% of the reads", percent)
	}
	if n := p.Processes / p.PerDomain; n != 24 {
		t.Errorf("%d coalescing domains", n)
	}
	if top := p.LaunchShare + p.TopTenShare + p.TopHundred; math.Abs(top-0.51) > 1e-9 {
		t.Errorf("the top 100 have %v of the reads", top)
	}
	reserved := 0
	for _, r := range p.Reserved {
		reserved += r.Rate
	}
	if reserved+3200 >= p.Knee {
		t.Errorf("%d/s reserved and 3,200/s for the class are not below the knee", reserved)
	}
	if p.ReadsPerSecond%ticksPerSecond != 0 || time.Second%tickLength != 0 {
		t.Error("a tick has no whole number of reads")
	}
	for _, c := range p.Cells {
		keys := 0
		for _, n := range groupKeys(p.Keys / 100 * c.Percent) {
			keys += n
		}
		if keys != p.Keys/100*c.Percent {
			t.Errorf("%s has %d keys in its groups", c.Name, keys)
		}
	}
}
