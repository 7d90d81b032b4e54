package cli

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rewarm/rewarm/steps"
)

// rows lists the controls for people; only those that somebody should look at when brief.
func (s surveyShown) rows(brief bool) []string {
	rows := []string{"service " + s.Service + ": " + s.commandedBy()}
	if s.ExpiresMS > 0 {
		rows = append(rows, fmt.Sprintf("redis will forget all controls in %s: somebody gave them a time to live",
			steps.Lasts(time.Duration(s.ExpiresMS)*time.Millisecond)))
	}
	longest, listed := 0, 0
	for _, c := range s.Controls {
		if !brief || c.notable() {
			longest, listed = max(longest, utf8.RuneCountInString(oneLine(c.Control))), listed+1
		}
	}
	switch {
	case listed == 0 && brief:
		return append(rows, "every control that was flipped is at its steady value")
	case brief:
		rows = append(rows, "not at its steady value, or set by hand:")
	}
	for _, c := range s.Controls {
		if !brief || c.notable() {
			rows = append(rows, fmt.Sprintf("  %-*s  %s", longest, oneLine(c.Control), oneLine(c.text(s.Now))))
			if c.Next != "" {
				rows = append(rows, "    next: "+oneLine(c.Next))
			}
		}
	}
	return rows
}

func (s surveyShown) commandedBy() string {
	c := s.Commander
	if s.unknown {
		return "redis holds no control of it, and nobody commands it"
	}
	if c == nil {
		return "nobody commands it"
	}
	text := oneLine(fmt.Sprintf("run %s commands it: %s on %s, since %s", c.Run, c.Actor, c.Host,
		clockTime(c.Since, s.Now)))
	if c.Lapsed {
		text += ", but it HAS NOT RENEWED for " + ago(c.Until, s.Now)
	}
	return text
}

// notable reports whether somebody should look at a control.
func (c controlShown) notable() bool { return c.Away || c.Edited || c.Overdue }

// text is one control: its value, its steady one, for how long, by whom, and what is odd.
func (c controlShown) text(now time.Time) string {
	parts := []string{c.Value}
	if c.Steady != "" {
		parts[0] += " (steady " + withoutUnitOf(c.Steady, c.Value) + ")"
	}
	if !c.Since.IsZero() {
		parts[0] += " for " + ago(c.Since, now)
	}
	switch {
	case c.Edited:
		parts = append(parts, c.editedText())
	case c.Away && c.By == "":
		parts = append(parts, "never flipped")
	}
	if c.Lapsed {
		parts = append(parts, "LAPSED: its run has stopped renewing, services obey the dead man's value")
	}
	if c.By != "" && (c.Away || c.Edited) {
		parts = append(parts, "flipped by "+c.Actor+" in run "+c.By+also(": ", c.Reason))
	}
	if c.Owner != "" && c.Owner != c.Actor && c.Away {
		parts = append(parts, "owner "+c.Owner)
	}
	text := strings.Join(parts, ", ")
	if c.Away {
		text += reviewText(c.ReviewAt, now)
	}
	return text
}

func (c controlShown) editedText() string {
	switch {
	case c.By == "":
		return "SET BY HAND"
	case c.Wrote == nil:
		return "SET BY HAND since the last flip, which had taken it away"
	}
	return "SET BY HAND since the last flip, which wrote " + *c.Wrote
}
