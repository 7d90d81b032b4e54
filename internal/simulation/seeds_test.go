package simulation

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rewarm/rewarm/steps"
)

var (
	seeds = flag.Uint64("seeds", defaultSeeds, "how many seeds TestSeeds plays")
	first = flag.Uint64("first", 1, "the first of them")
)

// TestSeeds plays a plan for each seed. One that fails is shrunk and printed; put the
// text into testdata/plans to keep it, or play the seed alone with -first and -seeds 1.
func TestSeeds(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // a world is small, and there are many
	var next, moves, records, kills, struck atomic.Uint64
	endings := map[steps.Ending]int{}
	var mu sync.Mutex
	var workers sync.WaitGroup
	failed := 0
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < *seeds; i = next.Add(1) - 1 {
				seed := *first + i
				plan := Draw(seed)
				stats, err := Run(plan)
				moves.Add(uint64(stats.Moves))
				records.Add(uint64(stats.Records))
				kills.Add(uint64(stats.Kills))
				struck.Add(uint64(len(plan.Faults)))
				mu.Lock()
				endings[stats.Ending]++
				if err != nil && failed < 5 {
					failed++
					t.Error(report(seed, plan, err))
				}
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	t.Logf("%d seeds from %d: %d moves, %d records, %d faults, %d kills, endings %v", *seeds, *first, moves.Load(), records.Load(), struck.Load(), kills.Load(), endings)
}

// report shrinks a plan that fails and says how to play it again.
func report(seed uint64, p Plan, err error) string {
	var broken *violation
	if !errors.As(err, &broken) {
		return err.Error()
	}
	small := shrink(p, func(fewer Plan) bool {
		_, err := Run(fewer)
		var also *violation
		return errors.As(err, &also) && also.name == broken.name
	})
	_, err = Run(small)
	return fmt.Sprintf("%v\nplay it again: go test ./internal/simulation -run 'TestSeeds$' -first %d -seeds 1\nshrunk to:\n%s", err, seed, small)
}

// TestPlans plays the plans that once failed, shrunk, each with a remark on what happens.
func TestPlans(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "plans", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d plans: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p, err := ParsePlan(string(text))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := run(p, warp{deep: true}); err != nil {
				t.Error(err)
			}
		})
	}
}
