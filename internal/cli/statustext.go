package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/rewarm/rewarm/steps"
)

// statusText says where a walk stands: what blocks, what is owed, what is flipped.
func statusText(s *steps.State, now time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "run %s, service %s, stage %s\n", s.Begun.Run, s.Begun.Service, s.Stage)
	for _, hold := range s.Holds() {
		fmt.Fprintf(&b, "held for %s: %s\n", ago(hold.Since, now), hold.Sentence+also("; you can: ", hold.Can)+also("; waiting costs: ", hold.Costs))
	}
	if owed := s.Owed(); len(owed) > 0 {
		fmt.Fprintf(&b, "owed: %s\n", strings.Join(owed, ", "))
	}
	if s.Recovered != nil {
		fmt.Fprintf(&b, "%s\n", recoveredText(s.Recovered))
	}
	b.WriteString(overridesText(s.Overrides(), now))
	return b.String()
}

// overridesText lists what is not at its steady value, loudly when it is past its
// review time.
func overridesText(overrides []steps.Override, now time.Time) string {
	if len(overrides) == 0 {
		return "every control that the run flipped is at its steady value\n"
	}
	var b strings.Builder
	for _, o := range overrides {
		fmt.Fprintf(&b, "%s is %s (steady %s) for %s, by %s%s%s\n", o.Control, o.Value, o.Steady, ago(o.Since, now), o.By,
			also(", owner ", o.Owner), reviewText(o.ReviewAt, now))
	}
	return b.String()
}

func reviewText(at, now time.Time) string {
	switch {
	case at.IsZero():
		return ""
	case now.After(at):
		return ", OVERDUE for review since " + at.UTC().Format(time.RFC3339)
	}
	return ", review at " + at.UTC().Format(time.RFC3339)
}
