package steps

import (
	"fmt"
	"time"
)

// ParseUntil reads until when: so long from now, the next time that a clock shows UTC, or
// a moment of RFC 3339.
func ParseUntil(text string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(d), nil
	}
	if clock, err := time.Parse("15:04", text); err == nil {
		now = now.UTC()
		at := time.Date(now.Year(), now.Month(), now.Day(), clock.Hour(), clock.Minute(), 0, 0, time.UTC)
		if !at.After(now) {
			at = at.AddDate(0, 0, 1)
		}
		return at, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	return time.Time{}, fmt.Errorf("%q is no time: write 8h, 06:00 (UTC) or 2026-11-30T06:00:00Z", text)
}
