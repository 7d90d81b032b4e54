//go:build !race

package gameday

import (
	"testing"
)

// Every bundled day, played as it is written, brings what it says must come true.
func TestLibrary(t *testing.T) {
	for name, day := range library(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := day.Play(t.Context(), Options{Seed: day.Story.Seed})
			if err != nil {
				t.Fatal(err)
			}
			if r.Passed {
				return
			}
			for _, v := range r.Verdicts {
				if v.Held == v.Breaks {
					t.Errorf("line %d, %s: %s: %q", v.Line, v.Name, v.Why, v.Readings)
				}
			}
			t.Logf("%+v, %s", r.Events, r.Ending)
		})
	}
}
