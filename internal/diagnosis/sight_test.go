package diagnosis

import (
	"strings"
	"testing"
	"time"

	"github.com/rewarm/rewarm/probes"
)

// What a query did not see in a window without samples is unknown; what it saw counts,
// and so does a fail that looks at the present.
func TestShortHistoryCannotFail(t *testing.T) {
	const minutes = 10 * time.Minute
	tests := []struct {
		name    string
		saw     probes.Verdict
		window  time.Duration
		history string // of probe and its seconds
		want    probes.Verdict
		says    string
	}{
		{"a full window", probes.Fail, minutes, "595", probes.Fail, ""},
		{"a young server", probes.Fail, minutes, "23", probes.Unknown, "it looks back 10m0s, and there are samples of 23s only"},
		{"a young server that saw it", probes.Pass, minutes, "23", probes.Pass, ""},
		{"a short window", probes.Fail, 5 * time.Second, "23", probes.Fail, ""},
		{"no window", probes.Fail, 0, "23", probes.Fail, ""},
		{"nobody knows", probes.Fail, minutes, "unknown", probes.Unknown, "for how long there have been samples is not known"},
		{"nobody asked", probes.Fail, minutes, "", probes.Fail, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := sight{Situation: probes.Situation{StaleAfter: time.Second}}
			seen := reading("seen", test.saw)
			if test.window > 0 {
				seen.WindowStart = seen.At.Add(-test.window)
			}
			answers := map[string]probes.Answer{"seen": seen, "history": reading("history", probes.Unknown)}
			if test.history != "" {
				s.history = "history"
			}
			if seconds, err := time.ParseDuration(test.history + "s"); err == nil {
				known := reading("history", probes.Pass)
				known.SetReadings([]probes.Reading{probes.NewReading("{}", seconds.Seconds())})
				answers["history"] = known
			}
			s.Answer = func(a probes.Ask) *probes.Answer { found := answers[a.Probe]; return &found }
			verdict, readings := s.read(signOn("seen").When)
			if said := strings.Join(readings, "; "); verdict != test.want || !strings.Contains(said, test.says) {
				t.Errorf("%s: %s", verdict, said)
			}
		})
	}
}
