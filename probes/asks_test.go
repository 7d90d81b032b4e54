package probes

import (
	"testing"
	"time"
)

func TestMoved(t *testing.T) {
	seen := func(at time.Duration, newest ...time.Duration) *Answer {
		a := &Answer{At: noon.Add(at)}
		for _, n := range newest {
			moment := time.Time{}
			if n >= 0 {
				moment = noon.Add(n)
			}
			a.Newest = append(a.Newest, moment)
		}
		return a
	}
	const none = -1
	for _, test := range []struct {
		name        string
		now, before *Answer
		want        bool
	}{
		{"nothing now", nil, seen(0, 0), false},
		{"nothing before", seen(0, 0), nil, true},
		{"one selector moved", seen(1, 1), seen(0, 0), true},
		{"the same sample", seen(1, 0), seen(0, 0), false},
		{"an older sample", seen(1, 0), seen(0, 1), false},
		{"only one of two moved", seen(1, 1, 0), seen(0, 0, 0), false},
		{"both moved", seen(1, 1, 2), seen(0, 0, 1), true},
		{"a selector without samples does not count", seen(1, 1, none), seen(0, 0, none), true},
		{"a selector that lost its samples has not moved", seen(1, 1, none), seen(0, 0, 0), false},
		{"a selector with its first sample has", seen(1, 1, 1), seen(0, 0, none), true},
		{"no samples at all, another time", seen(1, none), seen(0, none), true},
		{"no samples at all, the same time", seen(1, none), seen(1, none), false},
		{"another number of selectors", seen(1, 0, 0), seen(0, 0), true},
	} {
		if got := Moved(test.now, test.before); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}
