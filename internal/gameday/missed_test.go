package gameday

import (
	"math"
	"strings"
	"testing"
)

// An expectation that waited in vain for a moment of the scorecard says when that came, or that it did not.
func TestMissedMoments(t *testing.T) {
	r := play(t, short+`
expect:
  - {name: late, eventually: [{score: protected, above: 0s}], within: 31s}
  - {name: not at all, eventually: [{score: recovered, above: 0s}], within: 31s}
  - {name: in time, eventually: [{score: protected, above: 0s}]}
  - {name: at the end, finally: [{score: closed, above: 0s}]}
`, Options{})
	for i, parts := range [][]string{
		{"protected came at ", ", later than 31s"}, {"the service did not recover before the day ended after "},
		{"came true after "}, {"the run was not closed before the day ended after "},
	} {
		v := r.Verdicts[i]
		for _, part := range parts {
			if !strings.Contains(v.Why, part) || v.Held != (v.Name == "in time") {
				t.Errorf("%s: held %v, %s", v.Name, v.Held, v.Why)
			}
		}
	}
}

// The waits of the steps add up to the score of all.
func TestWaitsAddUp(t *testing.T) {
	r := play(t, short+`
operator: {approve: person, word: 4s}
expect: [{name: quiet, finally: [{score: words, at_least: 0}]}]
`, Options{})
	sum := 0.0
	for _, w := range r.Waits {
		sum += w.Seconds
	}
	if persons, _ := r.Score("persons"); sum == 0 || math.Abs(sum-persons) > 1e-6 {
		t.Errorf("%+v, and persons %g s", r.Waits, persons)
	}
}

// The longest waits for a person's word are named, of the steps at which the script was faster.
func TestLongWaits(t *testing.T) {
	day := parse(t, short+"expect: [{name: quiet, finally: [{score: words, at_least: 0}]}]")
	person := &Result{Waits: []Wait{{"declare", 8}, {"a", 9}, {"allow-prewarm", 100}, {"b", 10}, {"c", 11}}}
	long := day.Compare(person, &Result{Waits: []Wait{{"declare", 8}, {"allow-prewarm", 20}}}).Waits
	if len(long) != 3 || long[0].Step != "allow-prewarm" || long[0].Script != 20 || long[0].Why == "" || long[1].Step != "c" || long[2].Step != "b" {
		t.Errorf("%+v", long)
	}
}
