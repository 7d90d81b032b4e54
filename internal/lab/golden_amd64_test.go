//go:build !race

package lab

import (
	"bytes"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// Who makes the lab faster must not make it another lab: metric by metric, a digest of all
// that the case study shows, left alone until the operators have added clients and then
// recovered by controls. Fractions differ between architectures, so this is for one.
// A change of the model that is meant to show is taken in with -update.
func TestTheCaseStudyStaysWhatItIs(t *testing.T) {
	b := newBench(t, Options{Seed: 1})
	seen := digests{}
	for range 15 {
		b.forward(20 * time.Second)
		seen.add(b.world.page.appendText(nil))
	}
	for control, value := range map[string]string{
		"origin.admission": "3200", "origin.bypass": "off", "retries.budget": "0", "stale.product-detail": "120",
		"leaders.cell": "200", "local.ttl": "1", "hotkey.copies": "8", "prewarm.rate": "1000", "prewarm.bucket": "working-set", "routing.cell-c": "25",
	} {
		b.set(control, value)
	}
	for range 6 {
		b.forward(20 * time.Second)
		seen.add(b.world.page.appendText(nil))
	}
	const file = "testdata/case-study.golden"
	got := seen.lines()
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(got, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("%s is not what it was; run with -update if that is meant", strings.Fields(line)[0])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d metrics, %d in %s; run with -update", len(got), len(want), file)
	}
}

// digests are running digests of the lines of each metric.
type digests map[string]uint64

func (d digests) add(page []byte) {
	for line := range bytes.Lines(page) {
		if line[0] == '#' {
			continue
		}
		name, _, _ := bytes.Cut(line, []byte("{"))
		h := fnv.New64a()
		fmt.Fprintf(h, "%x %s", d[string(name)], line)
		d[string(name)] = h.Sum64()
	}
}

func (d digests) lines() []string {
	var list []string
	for name, sum := range d {
		list = append(list, fmt.Sprintf("%s %016x", name, sum))
	}
	slices.Sort(list)
	return list
}
