package probes

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// mostReadings is how many readings an answer keeps of more series.
const mostReadings = 20

// NewReading is a reading with its value written as Prometheus writes it. The series is
// printable already: "{}", or `{cell="cell-c"}`.
func NewReading(series string, value float64) Reading {
	return Reading{Series: series, Value: value, Raw: formatSample(value)}
}

// SetReadings fills Readings, Count, Min and Max. It keeps all readings, or the lowest
// and the highest ten; what is not finite counts as lowest, so that it is always kept.
// The slice is sorted in place.
func (a *Answer) SetReadings(readings []Reading) {
	slices.SortFunc(readings, compareReadings)
	a.Count = len(readings)
	if len(readings) > mostReadings {
		half := mostReadings / 2
		readings = slices.Concat(readings[:half], readings[len(readings)-half:])
	}
	a.Readings = readings
	a.setExtremes()
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func compareReadings(a, b Reading) int {
	if fa, fb := finite(a.Value), finite(b.Value); fa != fb {
		if fb {
			return -1
		}
		return 1
	}
	if c := cmp.Compare(a.Value, b.Value); c != 0 {
		return c
	}
	return strings.Compare(a.Series, b.Series)
}

// setExtremes finds Min and Max of sorted readings.
func (a *Answer) setExtremes() {
	a.Min, a.Max = Reading{}, Reading{}
	for _, r := range a.Readings {
		if !finite(r.Value) {
			return
		}
	}
	if len(a.Readings) > 0 {
		a.Min, a.Max = a.Readings[0], a.Readings[len(a.Readings)-1]
	}
}
