package simulation

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/rewarm/rewarm/runbook"
)

// TestBooksLint draws runbooks: each parses, and the linter finds nothing in it.
func TestBooksLint(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		b := drawBook(r)
		doc, err := b.Document()
		if err != nil {
			t.Fatalf("%s: %v\n%s", b, err, b.text())
		}
		for _, f := range runbook.Lint(doc) {
			if f.Waived == "" {
				t.Errorf("%s: %+v", b, f)
			}
		}
	}
}

// TestPlansComeBack prints plans and reads them.
func TestPlansComeBack(t *testing.T) {
	for seed := range uint64(300) {
		p := Draw(seed)
		back, err := ParsePlan(p.String())
		if err != nil || !reflect.DeepEqual(p, back) {
			t.Fatalf("%v: %+v came back as %+v from\n%s", err, p, back, p)
		}
	}
}
