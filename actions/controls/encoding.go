package controls

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// Unlimited is the raw value of a number without a limit. It never stands in
// Redis: it only says what a service does when a field is missing.
const Unlimited = "unlimited"

// The raw values of a switch.
const (
	On  = "on"
	Off = "off"
)

// FormatNumber writes a number in its shortest decimal form, without an
// exponent. Durations are seconds, percents run from 0 to 100. The number must
// be finite and not negative.
func FormatNumber(n float64) string {
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// ParseNumber reads what FormatNumber writes and refuses every other spelling,
// so that one value has one spelling and raw values can be compared.
func ParseNumber(raw string) (float64, error) {
	n, err := strconv.ParseFloat(raw, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return 0, fmt.Errorf("%s is not a number", quote(raw))
	}
	if n < 0 || math.Signbit(n) {
		return 0, fmt.Errorf("%s is negative", quote(raw))
	}
	if shortest := FormatNumber(n); shortest != raw {
		return 0, fmt.Errorf("%s is not the shortest spelling of this number, write %s", quote(raw), shortest)
	}
	return n, nil
}

// FormatSwitch writes a switch.
func FormatSwitch(on bool) string {
	if on {
		return On
	}
	return Off
}

// ParseSwitch reads what FormatSwitch writes.
func ParseSwitch(raw string) (bool, error) {
	switch raw {
	case On:
		return true, nil
	case Off:
		return false, nil
	}
	return false, fmt.Errorf("%s is neither on nor off", quote(raw))
}

// FormatChoice writes a choice: its name.
func FormatChoice(name string) string { return name }

// ParseChoice reads a choice and refuses one that is not among the choices.
func ParseChoice(raw string, choices []string) (string, error) {
	if slices.Contains(choices, raw) {
		return raw, nil
	}
	return "", fmt.Errorf("%s is none of %q", quote(raw), choices)
}

// FormatList writes a list as a JSON array of strings. The items must be UTF-8.
func FormatList(items []string) string {
	if items == nil {
		items = []string{}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(items); err != nil {
		panic(err) // strings always encode
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
}

// ParseList reads what FormatList writes and refuses every other spelling.
func ParseList(raw string) ([]string, error) {
	var items []string
	if !utf8.ValidString(raw) {
		return nil, fmt.Errorf("%s is not UTF-8", quote(raw))
	}
	if err := json.Unmarshal([]byte(raw), &items); err != nil || items == nil {
		return nil, fmt.Errorf("%s is not a JSON array of strings", quote(raw))
	}
	if again := FormatList(items); again != raw {
		return nil, fmt.Errorf("%s is not the one spelling of this list, write %s", quote(raw), quote(again))
	}
	return items, nil
}

// quote makes outside text printable and short.
func quote(text string) string {
	const most = 80
	if len(text) > most {
		return strconv.QuoteToASCII(text[:most]) + "…"
	}
	return strconv.QuoteToASCII(text)
}
