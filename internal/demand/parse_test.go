package demand

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestRatioForms(t *testing.T) {
	for text, want := range map[string]string{
		"98.7%": "0.987", "98.7 %": "0.987", "0.987": "0.987", "1": "1", "0": "0", "100%": "1", "1%": "0.01", "6/24": "0.25",
	} {
		if n, err := ParseRatio(text); err != nil || n.decimal(inputDecimals) != want {
			t.Errorf("%q is %s (%v), want %s", text, n.decimal(inputDecimals), err, want)
		}
	}
}

func TestBadInputNamesTheWayOut(t *testing.T) {
	for _, c := range []struct{ field, text, message, hint string }{
		{"hit-ratio", "98.7", `"98.7" is above 1, and a ratio runs from 0 to 1`, "write 98.7% for a percentage, or 0.987 for a ratio"},
		{"hit-ratio", "101", `"101" is more than the whole`, "a percentage from 0% to 100%"},
		{"hit-ratio", "100.1%", `"100.1%" is more than the whole`, "a percentage from 0% to 100%"},
		{"hot-share", "-1%", `"-1%" is negative`, "write the amount itself"},
		{"hot-share", "NaN%", `"NaN%" is not a number`, "write digits"},
		{"cell-share", "1/0", "divides by zero", "such as 1/24"},
		{"cell-share", "25/24", "more than the whole", "from 0 to 1"},
		{"reads", "NaN", `"NaN" is not a number`, "write digits"},
		{"reads", "+Inf", "is not a number", "write digits"},
		{"reads", "1e9", "is not a number", "write digits"},
		{"reads", "1/2", "is not a number", "write digits"},
		{"reads", "", `"" is not a number`, "write digits"},
		{"reads", "120,000", "is not a number", "write digits"},
		{"reads", "9999999999999999", "is not a number", "up to 15"},
		{"reads", "-5", `"-5" is negative`, "write the amount itself"},
		{"reads", "0", "a service that nobody reads", "above 0"},
		{"knee", "0.0", "an origin that completes nothing", "above 0"},
		{"limit", "0", "that no miss is ever answered", "above 0"},
		{"keys", "0", "a cache that holds nothing", "above 0"},
		{"processes", "0", "a service without processes", "above 0"},
		{"processes", "1.5", "not a whole number", "whole number"},
		{"domains", "0", "that refreshes are not coalesced", "or none to leave it out"},
		{"domains", "241", "241 domains cannot be made of 240 processes", "write --domains 240 or less"},
		{"local-ttl", "0s", "no local tier", "or none to leave it out"},
		{"local-ttl", "1", "is not a duration", "with its unit"},
		{"local-ttl", "-1s", "is negative", "write the time itself"},
		{"window", "0s", "that every read refreshes", "above 0"},
		{"miss-cost", "none", "is not a duration", "with its unit"},
		{"goodput-curve", "8400", "is not a LOAD=GOODPUT pair", "rising loads"},
		{"goodput-curve", "8400=2800,8400=1", `"8400" is not above the one before it`, "rising loads"},
		{"goodput-curve", "8400=8401", "a goodput of 8,401 is more than its load of 8,400", "rising loads"},
		{"goodput-curve", "4200=4200", "4,200 is not beyond the knee of 4,200", "lower --knee"},
		{"goodput-curve", "8400=5000", "a goodput of 5,000 is more than at the knee of 4,200", "raise --knee"},
		{"goodput-curve", "x=1", `"x" is not a number`, "write digits"},
		{"reads", "\x1b[2J", `"\x1b[2J" is not a number`, "write digits"},
	} {
		_, err := Parse(map[string]string{c.field: c.text})
		checkInputError(t, err, c.field, c.message, c.hint)
	}
}

func TestBadStates(t *testing.T) {
	in, err := Parse(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ text, message, hint string }{
		{"", `"" is not a state`, "write expiry, cell-loss"},
		{"cold", `"cold" is not a state`, "write expiry, cell-loss"},
		{"cell-loss=", `"" is not a number`, "write digits"},
		{"cell-loss=30", `"30" is above 1`, "write 30% for a percentage, or 0.3 for a ratio"},
		{"tier-loss=0.5", "tier-loss takes no share", "cell-loss=SHARE"},
	} {
		_, err := ParseState(c.text, in)
		checkInputError(t, err, "after", c.message, c.hint)
	}
}

func checkInputError(t *testing.T, err error, field, message, hint string) {
	t.Helper()
	var input *InputError
	if !errors.As(err, &input) {
		t.Errorf("--%s: %v is no *InputError; want %q", field, err, message)
		return
	}
	if !strings.HasPrefix(input.Error(), "--"+field+": ") || !strings.Contains(input.Error(), message) {
		t.Errorf("error %q does not name --%s and %q", input, field, message)
	}
	if input.WayOut() == "" || !strings.Contains(input.WayOut(), hint) {
		t.Errorf("--%s: hint %q does not say %q", field, input.WayOut(), hint)
	}
}

func TestNumbersForPeople(t *testing.T) {
	third := Whole(1).over(Whole(3))
	for _, c := range []struct{ got, want string }{
		{Whole(37092).String(), "37,092"},
		{Whole(-1234567).String(), "-1,234,567"},
		{Whole(999).String(), "999"},
		{Number{}.String(), "0"},
		{Whole(37092).over(Whole(3200)).String(), "about 11.6"},
		{Whole(1147200).over(Whole(1000)).String(), "1,147.2"},
		{third.String(), "about 0.33"},
		{third.Exact(), "1/3"},
		{third.exactPercent(), "1/3"},
		{third.over(Whole(100)).String(), "about 0.003333"},
		{third.Percent(), "about 33.3 %"},
		{Whole(987).over(Whole(1000)).exactPercent(), "98.7 %"},
		{Whole(54).over(Whole(1000)).exactSeconds(), "54 ms"},
		{Whole(0).exactSeconds(), "0 s"},
		{Whole(120).exactSeconds(), "120 s"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// TestTimesAreExact: what was written comes back, whatever its unit.
func TestTimesAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "d"))
		n, err := parseSeconds(d.String())
		if err != nil {
			t.Fatal(err)
		}
		if n.times(Whole(int64(time.Second))).Cmp(Whole(int64(d))) != 0 {
			t.Fatalf("%s became %s s", d, n.Exact())
		}
	})
}

// FuzzParse: any text is either refused with a way out, or gives a share that is one.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"98.7%", "0.987", "1/24", "NaN", "-1", "1e999999999", "0x1p-2", "1_0", "%", "/", "cell-loss=0.3"} {
		f.Add(text)
	}
	in, err := Parse(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := ParseRatio(text)
		if err == nil && (n.negative() || n.above(Whole(1))) {
			t.Fatalf("%q became the share %s", text, n.Exact())
		}
		var input *InputError
		if err != nil && (!errors.As(err, &input) || input.WayOut() == "") {
			t.Fatalf("%q: %v has no way out", text, err)
		}
		if state, err := ParseState(text, in); err == nil && (state.Share.negative() || state.Share.above(Whole(1))) {
			t.Fatalf("%q became %s", text, state)
		}
	})
}
