package runbook

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// fault is what is wrong with one value, and the way out where there is one.
type fault struct{ message, hint string }

// Error gives the message with its hint in brackets.
func (f *fault) Error() string {
	if f.hint == "" {
		return f.message
	}
	return f.message + " (" + f.hint + ")"
}

func faultf(hint, format string, args ...any) *fault {
	return &fault{message: fmt.Sprintf(format, args...), hint: hint}
}

// largestNumber is the largest number a runbook may hold: whole numbers up to
// here are exact.
const largestNumber = 1 << 53

var plainNumber = lazily(`^(0|[1-9][0-9]*)(\.[0-9]+)?$`)

// parseNumber reads a plain decimal number of zero or more. Every notation that
// readers of YAML disagree about is refused by name.
func parseNumber(text string) (float64, *fault) {
	if !plainNumber.MatchString(text) {
		return 0, notANumber(text)
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v > largestNumber {
		return 0, tooLarge(text)
	}
	return v, nil
}

func tooLarge(text string) *fault {
	return faultf("the largest number is 9007199254740992", "%s is too large", quote(text))
}

var (
	octalLike    = lazily(`^[+-]?(0[0-9_]+(\.[0-9]*)?|0[oO].*)$`)
	otherBase    = lazily(`^[+-]?0[xXbB]`)
	exponentLike = lazily(`^[+-]?[0-9._]+[eE][+-]?[0-9]+$`)
	underscored  = lazily(`^[+-]?[0-9][0-9.]*_[0-9_.]*$`)
	signed       = lazily(`^[+-]\.?[0-9]`)
	bareDot      = lazily(`^(\.[0-9]+|[0-9]+\.)$`)
	separated    = lazily(`^[0-9]{1,3}(,[0-9]{3})+`)
	coarseUnit   = lazily(`^[0-9]+(d|w|y)$`)
	notFinite    = lazily(`^(?i)[+-]?\.?(nan|inf|infinity)$`)
)

// looksNumeric reports whether the text is a number in some notation that a
// runbook does not take.
func looksNumeric(text string) bool {
	for _, re := range []pattern{octalLike, otherBase, exponentLike, underscored, signed, bareDot, notFinite} {
		if re.MatchString(text) {
			return true
		}
	}
	return false
}

// notANumber says why the text is no number of a runbook.
func notANumber(text string) *fault {
	shown := quote(text)
	switch {
	case notFinite.MatchString(text):
		return faultf("write a finite number", "%s is not a number that can be compared", shown)
	case octalLike.MatchString(text):
		return faultf("write it without the leading zero", "%s looks like an octal number", shown)
	case otherBase.MatchString(text):
		return faultf("write it in decimal", "%s is not a decimal number", shown)
	case exponentLike.MatchString(text):
		return faultf("write all digits", "%s has an exponent", shown)
	case underscored.MatchString(text):
		return faultf("write the digits without underscores", "%s has underscores", shown)
	case separated.MatchString(text):
		return withComma(text)
	case strings.HasPrefix(text, "-") && signed.MatchString(text):
		return faultf("write zero or more", "%s is negative", shown)
	case signed.MatchString(text):
		return faultf("leave out the sign", "%s has a sign", shown)
	case bareDot.MatchString(text):
		return faultf("write digits on both sides of the point", "%s has a bare point", shown)
	}
	return faultf("write a number like 3200 or 0.5", "%s is not a number", shown)
}

func withComma(text string) *fault {
	hint := "write it without commas"
	if len(text) <= quotedLimit {
		hint = "write " + printable(strings.ReplaceAll(text, ",", "")) + ", without a comma"
	}
	return faultf(hint, "%s has a comma", quote(text))
}

// parseDuration reads "250ms", "45s", "1m30s" or "2h".
func parseDuration(text string) (time.Duration, *fault) {
	seconds, ok := parseSeconds(text)
	if !ok {
		return 0, notADuration(text)
	}
	if seconds > (365 * 24 * time.Hour).Seconds() {
		return 0, faultf("the longest duration is 8760h", "%s is too long", quote(text))
	}
	return time.Duration(math.Round(seconds * float64(time.Second))), nil
}

func notADuration(text string) *fault {
	shown := quote(text)
	switch {
	case plainNumber.MatchString(text):
		return faultf("write "+text+"s or "+text+"ms", "%s is a duration without a unit", shown)
	case separated.MatchString(text):
		return withComma(text)
	case strings.HasPrefix(text, "-"):
		return faultf("write zero or more", "%s is negative", shown)
	case coarseUnit.MatchString(text):
		return faultf("the units are ms, s, m and h", "%s has a unit that is too coarse", shown)
	}
	return faultf("write a duration like 250ms, 45s, 1m30s or 2h", "%s is not a duration", shown)
}

// decimal writes a number in its shortest decimal form.
func decimal(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// decimalIn does so with a unit behind it, in one piece of memory: a screen writes a hundred of them each second.
func decimalIn(v float64, space, unit string) string {
	var room [64]byte
	return string(append(append(strconv.AppendFloat(room[:0], v, 'f', -1, 64), space...), unit...))
}

// formatSeconds writes a duration for people; parseSeconds reads it back.
func formatSeconds(v float64) string {
	if v > 0 && v < 1 {
		ms := decimalIn(v*1000, "", "ms")
		if back, ok := parseSeconds(ms); ok && back == v && !strings.Contains(ms, ".") {
			return ms
		}
	}
	return decimalIn(v, "", "s")
}
