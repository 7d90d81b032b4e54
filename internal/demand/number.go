package demand

import (
	"math/big"
	"strings"
)

// Number is an exact fraction. The zero value is 0, and none is ever changed.
type Number struct{ fraction *big.Rat }

// Whole is an integer as a Number.
func Whole(n int64) Number { return Number{new(big.Rat).SetInt64(n)} }

func (n Number) rat() *big.Rat {
	if n.fraction == nil {
		return new(big.Rat)
	}
	return n.fraction
}

func (n Number) plus(o Number) Number  { return Number{new(big.Rat).Add(n.rat(), o.rat())} }
func (n Number) minus(o Number) Number { return Number{new(big.Rat).Sub(n.rat(), o.rat())} }
func (n Number) times(o Number) Number { return Number{new(big.Rat).Mul(n.rat(), o.rat())} }

// over divides; o must not be 0.
func (n Number) over(o Number) Number { return Number{new(big.Rat).Quo(n.rat(), o.rat())} }

// Cmp is negative, 0 or positive as n is below, equal to or above o.
func (n Number) Cmp(o Number) int { return n.rat().Cmp(o.rat()) }

// IsZero reports whether n is 0.
func (n Number) IsZero() bool { return n.rat().Sign() == 0 }

func (n Number) above(o Number) bool { return n.Cmp(o) > 0 }
func (n Number) negative() bool      { return n.rat().Sign() < 0 }

func lesser(a, b Number) Number {
	if a.above(b) {
		return b
	}
	return a
}

// jsonDecimals is how exact a number is in JSON.
const jsonDecimals = 6

// MarshalJSON writes the decimal, rounded to six places where it is longer.
func (n Number) MarshalJSON() ([]byte, error) { return []byte(n.decimal(jsonDecimals)), nil }

// decimal has at most so many places, and no zeros at the end.
func (n Number) decimal(places int) string {
	text := n.rat().FloatString(places)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if text == "-0" {
		return "0"
	}
	return text
}

// isDecimal reports whether n has at most so many places.
func (n Number) isDecimal(places int) bool {
	back, _ := new(big.Rat).SetString(n.decimal(places))
	return back.Cmp(n.rat()) == 0
}

// inputDecimals are the most places that an input can have: nine that were written,
// and two more from a percent sign.
const inputDecimals = 11

// Exact is an input as it was given: grouped, or a fraction such as 1/24.
func (n Number) Exact() string {
	if n.isDecimal(inputDecimals) {
		return grouped(n.decimal(inputDecimals))
	}
	return n.rat().RatString()
}

// String is a result for people: exact to two places, or rounded, saying so.
func (n Number) String() string {
	if n.isDecimal(2) {
		return grouped(n.decimal(2))
	}
	return "about " + grouped(n.decimal(n.sensiblePlaces()))
}

// sensiblePlaces gives small numbers more places than large ones.
func (n Number) sensiblePlaces() int {
	switch size := (Number{new(big.Rat).Abs(n.rat())}); {
	case size.Cmp(Whole(10)) >= 0:
		return 1
	case size.Cmp(Whole(1).over(Whole(10))) >= 0:
		return 2
	}
	return jsonDecimals
}

// Percent is a share for people.
func (n Number) Percent() string { return n.times(Whole(100)).String() + " %" }

// exactPercent is an input share as it was given.
func (n Number) exactPercent() string {
	if !n.isDecimal(inputDecimals) {
		return n.Exact()
	}
	return n.times(Whole(100)).Exact() + " %"
}

// exactSeconds is an input duration, in milliseconds when below a second.
func (n Number) exactSeconds() string {
	if !n.IsZero() && n.Cmp(Whole(1)) < 0 {
		return n.times(Whole(1000)).Exact() + " ms"
	}
	return n.Exact() + " s"
}

// grouped puts commas between thousands.
func grouped(decimal string) string {
	sign, digits := "", decimal
	if rest, ok := strings.CutPrefix(digits, "-"); ok {
		sign, digits = "-", rest
	}
	whole, fraction, pointed := strings.Cut(digits, ".")
	var b strings.Builder
	for i, digit := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	if pointed {
		b.WriteString("." + fraction)
	}
	return sign + b.String()
}
