package runbook

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Equal reports whether two values are the same value of the same kind.
func (v Value) Equal(other Value) bool {
	return v.Kind == other.Kind && v.Unlimited == other.Unlimited && v.Number == other.Number &&
		v.Text == other.Text && slices.Equal(v.List, other.List)
}

// Parse reads a value of the control as a person writes it: "3200" or
// "3200 attempts/s" for a rate or a count, "10" or "10%" for a percent, "120s"
// for a duration, "on" or "off", one of the choices, and "a, b" or a JSON array
// for a list. The value must lie within the control's bounds. "unlimited" is
// refused: it is what a service does, not what can be written.
func (c *Control) Parse(text string) (Value, error) {
	v, wrong := c.parse(text)
	if wrong == nil {
		wrong = c.check(v)
	}
	if wrong != nil {
		return Value{}, &BadValue{control: c.Name, fault: wrong}
	}
	return v, nil
}

// BadValue says why a control cannot have a value.
type BadValue struct {
	control string
	fault   *fault
}

func (b *BadValue) Error() string { return "control " + b.control + ": " + b.fault.message }

// WayOut says what to write instead, "" where the error says it all.
func (b *BadValue) WayOut() string { return b.fault.hint }

// parse reads the text as a value of the control's kind, within bounds or not.
func (c *Control) parse(text string) (Value, *fault) {
	switch c.Kind {
	case Rate, Count, Percent, Duration:
		number, wrong := c.parseNumber(text)
		return Value{Kind: c.Kind, Number: number}, wrong
	case Switch:
		return parseSwitch(text)
	case Choice:
		return Value{Kind: Choice, Text: text}, nil
	case List:
		return parseList(text)
	}
	return Value{}, faultf("", "kind %s has no values", quote(string(c.Kind)))
}

func (c *Control) parseNumber(text string) (float64, *fault) {
	if text == "unlimited" {
		return 0, faultf("only absent may say it", "unlimited is not a value that can be written")
	}
	if c.Kind == Duration {
		seconds, ok := parseSeconds(text)
		if !ok {
			return 0, notADuration(text)
		}
		return seconds, nil
	}
	q, wrong := parseQuantity(text)
	if wrong != nil {
		return 0, wrong
	}
	return c.convert(q)
}

// convert brings a quantity into the control's own unit.
func (c *Control) convert(q quantity) (float64, *fault) {
	number, fits := convert(q.number, q.unit, c.unit())
	if !fits {
		return 0, faultf("write it in the unit of the control", "unit %s does not fit control %s, which is in %s",
			quote(q.unit), c.Name, unitName(c.unit()))
	}
	return number, nil
}

// unit is the unit that the control's numbers are in.
func (c *Control) unit() string {
	switch {
	case c.Kind == Percent:
		return "%"
	case c.Kind == Duration:
		return "s"
	}
	return c.Unit
}

func unitName(unit string) string {
	if unit == "" {
		return "no unit"
	}
	return quote(unit)
}

func parseSwitch(text string) (Value, *fault) {
	switch strings.ToLower(text) {
	case "on", "off":
		if text == strings.ToLower(text) {
			return Value{Kind: Switch, Text: text}, nil
		}
		return Value{}, faultf("write "+strings.ToLower(text), "a switch is on or off, not %s", quote(text))
	case "true", "yes":
		return Value{}, faultf("write on", "a switch is on or off, not %s", quote(text))
	case "false", "no":
		return Value{}, faultf("write off", "a switch is on or off, not %s", quote(text))
	}
	return Value{}, faultf("write on or off", "a switch is on or off, not %s", quote(text))
}

func parseList(text string) (Value, *fault) {
	items := []string{}
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		if err := json.Unmarshal([]byte(text), &items); err != nil {
			return Value{}, faultf(`write a list like ["a","b"]`, "%s is not a list of texts", quote(text))
		}
		if items == nil {
			items = []string{}
		}
		return Value{Kind: List, List: items}, nil
	}
	for item := range strings.SplitSeq(text, ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return Value{Kind: List, List: items}, nil
}

// Takes reports whether a value may be written to the control.
func (c *Control) Takes(v Value) bool { return c.check(v) == nil }

// check says whether the value may be written to the control.
func (c *Control) check(v Value) *fault {
	switch {
	case c.Kind == Choice:
		return c.checkChoice(v.Text)
	case c.Kind == List:
		return checkItems(v.List)
	case !c.Kind.Numeric():
		return nil
	case c.Kind == Count && v.Number != math.Trunc(v.Number):
		return faultf("write a whole number", "%s is not a whole number", decimal(v.Number))
	case v.Number < c.Min:
		return faultf(c.takes(), "%s is below the minimum of %s", c.Format(v), c.Format(c.number(c.Min)))
	case v.Number > c.Max:
		return faultf(c.takes(), "%s is above the maximum of %s", c.Format(v), c.Format(c.number(c.Max)))
	}
	return nil
}

// takes says between which values a number of the control has to lie, "" where there is none.
func (c *Control) takes() string {
	switch {
	case c.Max < c.Min:
		return ""
	case math.IsInf(c.Max, 1):
		return "write " + c.Format(c.number(c.Min)) + " or more"
	}
	return "write a value from " + c.Format(c.number(c.Min)) + " to " + c.Format(c.number(c.Max))
}

func (c *Control) checkChoice(text string) *fault {
	if slices.Contains(c.Choices, text) || len(c.Choices) == 0 {
		return nil
	}
	return faultf(suggest(text, c.Choices, "the choices are "+strings.Join(c.Choices, ", ")),
		"%s is not a choice of %s", quote(text), c.Name)
}

func checkItems(items []string) *fault {
	for _, item := range items {
		if r, bad := unprintable(item); bad {
			return faultf("leave it out", "item %s has the character %U", quote(item), r)
		}
	}
	return nil
}

// number is a numeric value of the control.
func (c *Control) number(v float64) Value { return Value{Kind: c.Kind, Number: v} }

// Format writes a value for people, with its unit: "3200 attempts/s", "120s",
// "10%", "on", "unlimited". Parse reads it back, "unlimited" excepted.
func (c *Control) Format(v Value) string {
	switch {
	case v.Unlimited:
		return "unlimited"
	case c.Kind.Numeric():
		return FormatQuantity(v.Number, c.unit())
	case c.Kind == List:
		return formatList(v.List)
	}
	return v.Text
}

func formatList(items []string) string {
	if items == nil {
		items = []string{}
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(items); err != nil {
		return fmt.Sprintf("%q", items)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Compare orders two values of the control: numbers by size with unlimited above
// all, choices by their place in the file, off before on. It answers false when
// the values have no order, as lists and unknown choices have none.
func (c *Control) Compare(a, b Value) (int, bool) {
	switch {
	case a.Kind != c.Kind || b.Kind != c.Kind:
		return 0, false
	case c.Kind.Numeric():
		return compareNumbers(a, b)
	case c.Kind == Switch:
		return comparePlaces([]string{"off", "on"}, a.Text, b.Text)
	case c.Kind == Choice:
		return comparePlaces(c.Choices, a.Text, b.Text)
	}
	return 0, false
}

func compareNumbers(a, b Value) (int, bool) {
	switch {
	case math.IsNaN(a.Number) || math.IsNaN(b.Number):
		return 0, false
	case a.Unlimited && b.Unlimited:
		return 0, true
	case a.Unlimited:
		return 1, true
	case b.Unlimited:
		return -1, true
	}
	return cmp.Compare(a.Number, b.Number), true
}

func comparePlaces(order []string, a, b string) (int, bool) {
	i, j := slices.Index(order, a), slices.Index(order, b)
	if i < 0 || j < 0 {
		return 0, false
	}
	return cmp.Compare(i, j), true
}

// Direction tells what a change of the control does to the origin: Neither when
// the values are equal, Protecting when it takes load off or puts a brake on,
// Releasing otherwise, also when the values have no order.
func (c *Control) Direction(before, after Value) Direction {
	if before.Equal(after) {
		return Neither
	}
	order, known := c.Compare(before, after)
	if !known {
		return Releasing
	}
	protecting := false
	switch c.Protects {
	case "lower", "off":
		protecting = order > 0
	case "higher", "on":
		protecting = order < 0
	}
	switch {
	case order == 0:
		return Neither
	case protecting:
		return Protecting
	}
	return Releasing
}
