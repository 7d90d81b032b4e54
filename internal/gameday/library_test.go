//go:build !race

package gameday

import (
	"strings"
	"testing"
)

// Every bundled day brings what it says must come true, as it is written and with each mistake
// that it describes.
func TestLibrary(t *testing.T) {
	for name, day := range library(t) {
		for _, mistakes := range plays(day) {
			t.Run(strings.Join(append([]string{name}, mistakes...), "/"), func(t *testing.T) {
				t.Parallel()
				seed := day.Story.Seed
				if day.Seeded {
					seed = day.Seed
				}
				r, err := day.Play(t.Context(), Options{Seed: seed, Mistakes: mistakes})
				if err != nil {
					t.Fatal(err)
				}
				if !r.Passed {
					explain(t, r)
				}
			})
		}
	}
}

// plays are the mistakes of each play of a day: none, and each alone.
func plays(day *Day) [][]string {
	list := [][]string{{}}
	for _, m := range day.Mistakes {
		list = append(list, []string{m.Name})
	}
	return list
}

func explain(t *testing.T, r *Result) {
	for _, v := range r.Verdicts {
		if v.Held == v.Breaks {
			t.Errorf("line %d, %s: %s: %q", v.Line, v.Name, v.Why, v.Readings)
		}
	}
	t.Logf("%+v, %s", r.Events, r.Ending)
}
