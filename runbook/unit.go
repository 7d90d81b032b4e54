package runbook

import (
	"math"
	"strings"
)

// scale says how many of its family's base units one unit is, as a fraction, so
// that a conversion rounds once.
type scale struct {
	family   string
	num, den float64
}

// scales holds the units that can be converted into each other. Every other
// unit (attempts/s, leaders, requests) only fits itself.
var scales = map[string]scale{
	"ns":      {"time", 1, 1e9},
	"us":      {"time", 1, 1e6},
	"µs":      {"time", 1, 1e6},
	"ms":      {"time", 1, 1e3},
	"s":       {"time", 1, 1},
	"m":       {"time", 60, 1},
	"h":       {"time", 3600, 1},
	"ratio":   {"share", 1, 1},
	"percent": {"share", 1, 100},
	"%":       {"share", 1, 100},
	"bytes":   {"size", 1, 1},
	"B":       {"size", 1, 1},
	"kB":      {"size", 1e3, 1},
	"MB":      {"size", 1e6, 1},
	"GB":      {"size", 1e9, 1},
	"KiB":     {"size", 1 << 10, 1},
	"MiB":     {"size", 1 << 20, 1},
	"GiB":     {"size", 1 << 30, 1},
}

// sameScale reports whether a number in one unit can stand beside a number in
// the other as it is.
func sameScale(a, b string) bool {
	if a == b {
		return true
	}
	x, knownX := scales[a]
	y, knownY := scales[b]
	return knownX && knownY && x == y
}

// convert turns a number of one unit into another unit. The empty unit fits
// every unit and changes nothing.
func convert(v float64, from, to string) (float64, bool) {
	if from == "" || sameScale(from, to) {
		return v, true
	}
	a, knownA := scales[from]
	b, knownB := scales[to]
	if !knownA || !knownB || a.family != b.family {
		return 0, false
	}
	return v * a.num * b.den / (a.den * b.num), true
}

// quantity is a number with the unit it was written in, "" when it had none.
type quantity struct {
	number float64
	unit   string
}

// Unlimited stands for a control that is unlimited where a number is compared: it is above every other.
const Unlimited = math.MaxFloat64

// FormatQuantity writes a number with its unit as people read it everywhere:
// "3200 attempts/s", "10%", "60s", "800ms" for 0.8 in s. A ratio, like a number
// without a unit, stands alone.
func FormatQuantity(number float64, unit string) string {
	family := scales[unit].family
	switch {
	case number == Unlimited:
		return "unlimited"
	case unit == "" || unit == "ratio":
		return decimal(number)
	case unit == "percent":
		return decimalIn(number, "", "%")
	case unit == "s" && !math.IsNaN(number) && !math.IsInf(number, 0):
		return formatSeconds(number)
	case unit == "%" || family == "time":
		return decimalIn(number, "", unit)
	}
	return decimalIn(number, " ", unit)
}

// parseQuantity reads "3200", "250ms", "1m30s", "10%" or "3200 attempts/s".
func parseQuantity(text string) (quantity, *fault) {
	end := strings.IndexFunc(text, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if end <= 0 || looksNumeric(text) {
		number, wrong := parseNumber(text)
		return quantity{number: number}, wrong
	}
	unit := strings.TrimSpace(text[end:])
	if _, known := scales[unit]; !known && !isUnit(unit) {
		if seconds, ok := parseSeconds(text); ok {
			return quantity{seconds, "s"}, nil
		}
		return quantity{}, notANumber(text)
	}
	number, wrong := parseNumber(text[:end])
	if wrong != nil {
		return quantity{}, wrong
	}
	return quantity{number, unit}, nil
}

// isUnit reports whether the text can name a unit: it starts with a letter or a
// percent sign and has no digit that could be part of a broken number.
func isUnit(text string) bool {
	if text == "" || len(text) > 40 {
		return false
	}
	for i, r := range text {
		letter := r == '%' || r == 'µ' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || !strings.ContainsRune("/_ -", r)) {
			return false
		}
	}
	return true
}

// parseSeconds reads a duration like "250ms", "120s" or "1m30s" as seconds, by
// decimal arithmetic so that 57ms is exactly the number 0.057.
func parseSeconds(text string) (float64, bool) {
	total, rest, last := 0.0, text, math.Inf(1)
	if text == "" {
		return 0, false
	}
	for rest != "" {
		digits := strings.IndexFunc(rest, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
		if digits <= 0 {
			return 0, false
		}
		number, wrong := parseNumber(rest[:digits])
		unit := durationUnit(rest[digits:])
		if wrong != nil || unit == "" {
			return 0, false
		}
		size := scales[unit].num / scales[unit].den
		if size >= last {
			return 0, false
		}
		total += number * scales[unit].num / scales[unit].den
		last, rest = size, rest[digits+len(unit):]
	}
	return total, true
}

// durationUnit gives the unit of time that the text starts with.
func durationUnit(text string) string {
	for _, unit := range []string{"ms", "us", "µs", "s", "m", "h"} {
		if strings.HasPrefix(text, unit) {
			rest := text[len(unit):]
			if rest == "" || rest[0] >= '0' && rest[0] <= '9' {
				return unit
			}
		}
	}
	return ""
}
