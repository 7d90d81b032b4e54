//go:build !race

package lab

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// migrating is a deployment that brings a replacement of the cell with 30 % of the
// reads, which writes a share of its values wrong.
func migrating(wrong float64) *Scenario {
	return &Scenario{Start: clock(10, 7, 30), Events: []Event{
		{At: cellLost, Kind: ReplaceCell, Cell: "cell-c", Over: 90 * time.Second, Share: wrong},
	}}
}

// Whatever is flipped whenever, and however a migration ends, nothing is lost.
func TestMigrationLosesNothing(t *testing.T) {
	choices := map[string][]string{
		"format.readable":    readableChoices,
		"format.unknown":     formatChoices,
		"migration.shadow":   {"0", "30", "100"},
		"migration.compare":  {"0", "1", "100"},
		"migration.exposure": {"0", "1", "50", "100"},
		"migration.drain":    {"0", "40", "100"},
		"migration.cutover":  {"on", "off"},
		"migration.snapshot": {"on", "off"},
		"prewarm.rate":       {"0", "3200"},
		"prewarm.bucket":     depths,
		"retries.hint":       {"0", "2"},
		"origin.bypass":      {"on", "off"},
		"leaders.cell":       {"1", "400"},
		"followers.deadline": {"0.1", "2"},
	}
	var names []string
	for name := range absent(&catalog) {
		if choices[name] != nil {
			names = append(names, name)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		story := migrating(rapid.SampledFrom([]float64{0, 0.1, 1}).Draw(t, "wrong"))
		story.Events[0].Cell = rapid.SampledFrom(catalog.Cells[:]).Draw(t, "cell").Name
		story.Events[0].Over = time.Duration(rapid.IntRange(1, 20).Draw(t, "over")) * time.Second
		m := newModel(small(), story, rapid.Uint64().Draw(t, "seed"), cellLost-500*time.Millisecond)
		s := newPaper()
		for range rapid.IntRange(1, 20).Draw(t, "flips") {
			name := rapid.SampledFrom(names).Draw(t, "control")
			s.set(name, rapid.SampledFrom(choices[name]).Draw(t, "value"))
			switch rapid.IntRange(0, 19).Draw(t, "besides") {
			case 0:
				m.obeyCall("deployctl", "rollback")
			case 1:
				m.loseCell(story.Events[0].Cell, rapid.Bool().Draw(t, "copies"))
			case 2:
				m.changeFormat(0.5)
			case 3:
				m.happen(&story.Events[0])
			}
			for range rapid.IntRange(1, 60).Draw(t, "ticks") {
				m.step(from(s))
				if err := m.check(); err != nil {
					t.Fatalf("at %s: %v", clockTime(m.time()), err)
				}
			}
		}
		if open := m.migration != nil; open != (len(m.cells) > cellCount) {
			t.Errorf("%d cells, and a migration is under way: %v", len(m.cells), open)
		}
	})
}

// flips are controls set one after the other, and how long each stands before the next.
type flips []struct {
	control, value string
	wait           time.Duration
}

func (b *bench) flip(list flips) {
	b.t.Helper()
	for _, f := range list {
		b.set(f.control, f.value)
		b.forward(f.wait)
	}
}

// warmed is a replacement that was warmed in the dark.
var warmed = flips{
	{"migration.cutover", "off", 0},
	{"format.readable", "both", 0},
	{"origin.admission", "3200", 0},
	{"origin.bypass", "off", 2 * time.Second},
	{"prewarm.bucket", "top-100", 0},
	{"prewarm.rate", "3200", 0},
	{"migration.shadow", "100", 150 * time.Second},
}

const (
	unserved    = `sum(rate(catalog_reads_total{outcome=~"rejected|error"}[5s])) / sum(rate(catalog_reads_total[5s]))`
	newRejected = `sum(rate(catalog_serializer_rejections_total{version="8"}[5s]))`
	otherValues = `sum(increase(catalog_shadow_compared_total{result="version"}[5s]))`
	migrated    = `catalog_migrations_total{end="completed"}`
	open        = `catalog_migration_open`
)

// Each step of a migration has its use, and its own way to fail when it is left out.
func TestMigration(t *testing.T) {
	tests := []struct {
		name            string
		wrong           float64
		flips           flips
		query           string
		atLeast, atMost float64
	}{
		{"left alone the pipeline takes the old cell away", 0, flips{{"local.ttl", "0", 75 * time.Second}}, `catalog_migrations_total{end="cut_over"}`, 1, 1},
		{"and what comes is cold", 0, flips{{"local.ttl", "0", 75 * time.Second}}, queueAge, 1, 3},
		{"it can be told not to", 0, flips{{"migration.cutover", "off", 75 * time.Second}}, open, 1, 1},
		{"nothing comes of a dark cell", 0, flips{{"migration.cutover", "off", 75 * time.Second}}, offered, 1400, 1750},

		{"the shadow warms what is read", 0, warmed, `catalog_replacement_warm_read_coverage_ratio`, 0.9, 1},
		{"inside the limit", 0, warmed, `max_over_time(sum(rate(catalog_origin_admitted_total{partition="catalog"}[4s]))[2m:1s])`, 2000, 3200},
		{"no reader has been there", 0, warmed, `catalog_replacement_reads_total`, 0, 0},
		{"so half of the reads find their values", 0, append(warmed, flips{{"migration.exposure", "50", 15 * time.Second}}...), unserved, 0, 0.002},
		{"without the shadow they do not", 0, append(warmed[:6:6], flips{{"prewarm.rate", "3200", 150 * time.Second}, {"migration.exposure", "50", 15 * time.Second}}...), unserved, 0.005, 1},

		{"both formats are read", 0, append(warmed, flips{{"migration.exposure", "25", 10 * time.Second}}...), newRejected, 0, 0},
		{"one alone is not enough", 0, append(warmed, flips{{"format.readable", "one", 2 * time.Second}, {"migration.exposure", "25", 10 * time.Second}}...), newRejected, 1000, 1e6},

		{"equal values", 0, append(warmed, flips{{"migration.compare", "1", 10 * time.Second}}...), otherValues, 0, 0},
		{"a faulty writer is found", 0.02, append(warmed, flips{{"migration.compare", "1", 10 * time.Second}}...), otherValues, 10, 1e4},
		{"before a reader gets its values", 0.02, append(warmed, flips{{"migration.compare", "1", 10 * time.Second}}...), `catalog_stale_unmarked_total`, 0, 0},
		{"else readers find it", 0.02, append(warmed, flips{{"migration.exposure", "25", 10 * time.Second}}...), `rate(catalog_stale_unmarked_total[5s])`, 50, 1e6},

		{"drained at once before its readers have gone", 0, append(warmed, flips{{"migration.exposure", "50", 10 * time.Second}, {"migration.drain", "100", 20 * time.Second}}...), unserved, 0.005, 1},
		{"drained in parts after them", 0, append(warmed, flips{
			{"migration.exposure", "50", 15 * time.Second}, {"migration.exposure", "100", 15 * time.Second},
			{"migration.drain", "50", 5 * time.Second}, {"migration.drain", "100", 10 * time.Second},
		}...), unserved, 0, 0.002},
		{"which ends it", 0, append(warmed, flips{{"migration.exposure", "100", 0}, {"migration.drain", "100", 10 * time.Second}}...), migrated, 1, 1},
		{"a way back is open", 0, append(warmed, flips{{"migration.exposure", "100", 15 * time.Second}, {"migration.exposure", "0", 10 * time.Second}}...), unserved, 0, 0.002},
		{"until the old cell is empty", 0, append(warmed, flips{
			{"migration.exposure", "100", 15 * time.Second}, {"migration.drain", "99", 15 * time.Second}, {"migration.exposure", "0", 20 * time.Second},
		}...), unserved, 0.02, 1},
		{"or its last-good copies bridge it", 0, append(warmed, flips{
			{"stale.product-detail", "120", 0},
			{"migration.exposure", "100", 15 * time.Second}, {"migration.drain", "99", 15 * time.Second}, {"migration.exposure", "0", 20 * time.Second},
		}...), unserved, 0, 0.002},
		{"which have to be kept", 0, append(warmed, flips{
			{"stale.product-detail", "120", 0}, {"migration.snapshot", "off", 2 * time.Second},
			{"migration.exposure", "100", 15 * time.Second}, {"migration.drain", "99", 15 * time.Second}, {"migration.exposure", "0", 20 * time.Second},
		}...), unserved, 0.02, 1},
		{"a rollback that drops the new format", 0, append(warmed, flips{
			{"migration.exposure", "100", 15 * time.Second}, {"migration.drain", "100", 10 * time.Second}, {"format.readable", "one", 5 * time.Second},
		}...), newRejected, 5000, 1e6},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, Options{Seed: 1, Scenario: migrating(tt.wrong)})
			b.flip(tt.flips)
			if v := b.ask(tt.query); v < tt.atLeast || v > tt.atMost {
				t.Errorf("%s is %v, want from %v to %v", tt.query, v, tt.atLeast, tt.atMost)
			}
			if err := b.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A rollback takes the replacement away; the old cell has its reads, and nobody notices.
func TestRollBackOfAMigration(t *testing.T) {
	b := newBench(t, Options{Seed: 1, Scenario: migrating(0)})
	b.flip(append(warmed, flips{{"migration.exposure", "50", 10 * time.Second}}...))
	before := b.Unserved()
	b.Call("deployctl", "rollback", "catalog", "--keep-formats")
	b.forward(10 * time.Second)
	if b.ask(open) != 0 || b.ask(`catalog_migrations_total{end="rolled_back"}`) != 1 {
		t.Error("the replacement is still there")
	}
	if n := b.Unserved() - before; n > 100 {
		t.Errorf("%d reads were not served", n)
	}
	if v := b.ask(coverage); v < 0.95 {
		t.Errorf("the old cell has %v of its keys", v)
	}
	if err := b.Check(); err != nil {
		t.Error(err)
	}
}

// A freeze of deployments holds the pipeline, too.
func TestFreezeHoldsTheCutOver(t *testing.T) {
	b := newBench(t, Options{Seed: 1, Scenario: migrating(0)})
	b.Call("deployctl", "freeze", "catalog")
	b.forward(75 * time.Second)
	if b.ask(open) != 1 {
		t.Error("a frozen deployment went on")
	}
	b.Call("deployctl", "thaw", "catalog")
	b.forward(5 * time.Second)
	if b.ask(`catalog_migrations_total{end="cut_over"}`) != 1 {
		t.Error("a thawed deployment did not go on")
	}
}

// A migration that has ended leaves its controls where they are. The next one begins
// there, and so does not begin at all, but ends at once.
func TestLeftoverExposureEndsTheNextMigration(t *testing.T) {
	story := migrating(0)
	story.Controls = map[string]string{"migration.exposure": "100", "migration.drain": "100"}
	b := newBench(t, Options{Seed: 1, Scenario: story})
	if b.ask(migrated) != 1 || b.ask(coverage) > 0.5 {
		t.Errorf("%v migrations, %v of the keys", b.ask(migrated), b.ask(coverage))
	}
}
