package demand

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
	"sync"
	"time"
)

// InputError says what is wrong with an input, and the way out.
type InputError struct {
	Field   string // its name in Fields, "after" for a state
	Message string
	Hint    string
}

func (e *InputError) Error() string { return "--" + e.Field + ": " + e.Message }

// WayOut says what would be right.
func (e *InputError) WayOut() string { return e.Hint }

func wrong(hint, format string, args ...any) *InputError {
	return &InputError{Message: fmt.Sprintf(format, args...), Hint: hint}
}

// decimalForm bounds what is read, so that no text can ask for a huge fraction.
var decimalForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]{1,15}(\.[0-9]{1,9})?$`) })

const decimalHint = "write digits with at most one point, such as 120000 or 0.987: up to 15 before it and 9 after it"

// parseDecimal reads a plain decimal of 0 or more.
func parseDecimal(text string) (Number, error) {
	if strings.HasPrefix(text, "-") {
		return Number{}, wrong("nothing here can be negative; write the amount itself", "%q is negative", text)
	}
	if !decimalForm().MatchString(text) {
		return Number{}, wrong(decimalHint, "%q is not a number", text)
	}
	r, _ := new(big.Rat).SetString(text)
	return Number{r}, nil
}

// parsePositive reads a number above 0; what says what a 0 would mean.
func parsePositive(text, what string) (Number, error) {
	n, err := parseDecimal(text)
	if err == nil && n.IsZero() {
		return n, wrong("write a number above 0", "%q would mean %s", text, what)
	}
	return n, err
}

// parseCount reads a whole number above 0.
func parseCount(text, what string) (Number, error) {
	n, err := parsePositive(text, what)
	if err == nil && !n.rat().IsInt() {
		return n, wrong("write a whole number", "%q is not a whole number", text)
	}
	return n, err
}

var fractionForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9]{1,9})/([0-9]{1,9})$`) })

// ParseRatio reads a share of 0 to 1: 0.987, 98.7% or 1/24.
func ParseRatio(text string) (Number, error) {
	n, err := parseShare(text)
	switch {
	case err != nil:
		return n, err
	case !n.above(Whole(1)):
		return n, nil
	case !strings.ContainsAny(text, "%/") && !n.above(Whole(100)):
		return n, wrong(fmt.Sprintf("write %s%% for a percentage, or %s for a ratio", text,
			n.over(Whole(100)).decimal(inputDecimals)),
			"%q is above 1, and a ratio runs from 0 to 1", text)
	}
	return n, wrong("write a ratio from 0 to 1, or a percentage from 0% to 100%", "%q is more than the whole", text)
}

func parseShare(text string) (Number, error) {
	if parts := fractionForm().FindStringSubmatch(text); parts != nil {
		r, ok := new(big.Rat).SetString(text)
		if !ok {
			return Number{}, wrong("write a fraction such as 1/24", "%q divides by zero", text)
		}
		return Number{r}, nil
	}
	if percent, ok := strings.CutSuffix(text, "%"); ok {
		if n, err := parseDecimal(strings.TrimSuffix(percent, " ")); err == nil {
			return n.over(Whole(100)), nil
		}
	}
	return parseDecimal(text)
}

// parseSeconds reads a duration with its unit.
func parseSeconds(text string) (Number, error) {
	d, err := time.ParseDuration(text)
	switch {
	case err != nil:
		return Number{}, wrong("write a number with its unit, such as 250ms, 1s or 2m", "%q is not a duration", text)
	case d < 0:
		return Number{}, wrong("write the time itself, such as 1s", "%q is negative", text)
	}
	return Number{big.NewRat(int64(d), int64(time.Second))}, nil
}

func parsePositiveSeconds(text, what string) (Number, error) {
	n, err := parseSeconds(text)
	if err == nil && n.IsZero() {
		return n, wrong("write a time above 0, such as 1s", "%q would mean %s", text, what)
	}
	return n, err
}
