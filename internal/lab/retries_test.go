//go:build !race

package lab

import (
	"testing"
	"time"
)

// Refused clients come back when they are told to, but for those that ignore it.
// Without jitter they come back together.
func TestRefusedClientsObeyTheirHint(t *testing.T) {
	tests := []struct {
		hint, jitter string
		first, width int // ticks
	}{
		{"4", "0", 80, 1},
		{"4", "50", 80, 40},
		{"4", "100", 80, 80},
		{"0.01", "100", 1, 1},
		{"3600", "100", 200, 200},
	}
	for _, tt := range tests {
		s := newPaper()
		s.set("retries.hint", tt.hint)
		s.set("retries.jitter", tt.jitter)
		m := newCase(small(), 1, caseBegins)
		m.fleet.start(from(s))
		m.step(from(s))
		g := m.cells[0].groups[3]
		m.retryTokens = 1000
		m.fail(g, 1000, rejected)
		ring, inTime := g.retries.rings[0], 0
		most := (900 + tt.width - 1) / tt.width
		for i := range tt.width {
			n := ring[(m.tick+tt.first+i)%len(ring)]
			if n > most {
				t.Errorf("hint %s, jitter %s: %d come back in one tick, want %d at most", tt.hint, tt.jitter, n, most)
			}
			inTime += n
		}
		if inTime < 890 || inTime > 910 {
			t.Errorf("hint %s, jitter %s: %d of 1000 come back when they are told to", tt.hint, tt.jitter, inTime)
		}
		if m.hints[obeyed] != inTime || m.hints[obeyed]+m.hints[ignored] != 1000 {
			t.Errorf("hint %s, jitter %s: counted %v", tt.hint, tt.jitter, m.hints)
		}
	}
}

// A leader that stalls holds up no more reads than may follow it.
func TestFollowersAreBounded(t *testing.T) {
	most := func(bound string) (following, crowded int) {
		s := newPaper()
		s.set("followers.max", bound)
		s.set("origin.bypass", "off")
		m := newCase(small(), 1, launchLapses-time.Second)
		m.fleet.start(from(s))
		for range 3 * ticksPerSecond {
			m.step(from(s))
			for _, c := range m.cells {
				following = max(following, c.groups[0].following)
			}
		}
		return following, m.crowded
	}
	if following, crowded := most("10"); following > 10*24 || following < 5*24 || crowded < 1000 {
		t.Errorf("%d follow 24 leaders that may have ten each, %d refused", following, crowded)
	}
	if following, crowded := most("unlimited"); following < 1000 || crowded != 0 {
		t.Errorf("%d follow without a bound, %d refused", following, crowded)
	}
}
