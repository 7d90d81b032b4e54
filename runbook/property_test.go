package runbook

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// anyControl draws a control of any kind with sensible bounds.
func anyControl(t *rapid.T) *Control {
	c := &Control{Name: "c", Max: math.Inf(1), Protects: rapid.SampledFrom([]string{"lower", "higher"}).Draw(t, "protects")}
	c.Kind = rapid.SampledFrom([]Kind{Rate, Count, Percent, Duration, Switch, Choice, List}).Draw(t, "kind")
	switch c.Kind {
	case Rate, Count:
		c.Unit = rapid.SampledFrom([]string{"", "attempts/s", "leaders"}).Draw(t, "unit")
	case Percent:
		c.Max = 100
	case Switch:
		c.Protects = rapid.SampledFrom([]string{"on", "off"}).Draw(t, "protects")
	case Choice:
		c.Choices = []string{"none", "top-1", "top-10", "top-100"}
	case List:
		c.Protects = ""
	}
	return c
}

// anyValue draws a value that the control takes.
func anyValue(t *rapid.T, c *Control, label string) Value {
	v := Value{Kind: c.Kind}
	switch c.Kind {
	case Count:
		v.Number = float64(rapid.IntRange(0, 1<<40).Draw(t, label))
	case Percent:
		v.Number = rapid.Float64Range(0, 100).Draw(t, label)
	case Rate, Duration:
		v.Number = rapid.OneOf(
			rapid.Float64Range(0, 1e6),
			rapid.Map(rapid.IntRange(0, 1e6), func(ms int) float64 { return float64(ms) / 1000 }),
		).Draw(t, label)
	case Switch:
		v.Text = rapid.SampledFrom([]string{"on", "off"}).Draw(t, label)
	case Choice:
		v.Text = rapid.SampledFrom(c.Choices).Draw(t, label)
	case List:
		v.List = rapid.SliceOf(rapid.StringMatching(`[ -~]{0,12}`)).Draw(t, label)
	}
	return v
}

func TestValuesReadBackAsTheyAreWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyControl(t)
		v := anyValue(t, c, "value")
		text := c.Format(v)
		back, err := c.Parse(text)
		if err != nil || !back.Equal(v) {
			t.Fatalf("%s value %v is written %q and read back as %v, %v", c.Kind, v, text, back, err)
		}
	})
}

func TestDirectionsOppose(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyControl(t)
		a, b := anyValue(t, c, "a"), anyValue(t, c, "b")
		there, back := c.Direction(a, b), c.Direction(b, a)
		switch {
		case a.Equal(b):
			if there != Neither {
				t.Fatalf("no change from %s has direction %s", c.Format(a), there)
			}
		case c.Kind == List:
			if there != Releasing || back != Releasing {
				t.Fatalf("a change of a list is %s, and %s back", there, back)
			}
		case there == back || there == Neither || back == Neither:
			t.Fatalf("from %s to %s is %s, and %s back", c.Format(a), c.Format(b), there, back)
		}
	})
}

func TestUnlimitedIsAboveEveryNumber(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyControl(t)
		v, unlimited := anyValue(t, c, "value"), Value{Kind: c.Kind, Unlimited: true}
		if !c.Kind.Numeric() {
			return
		}
		if order, known := c.Compare(unlimited, v); !known || order <= 0 {
			t.Fatalf("unlimited against %s is %d, %v", c.Format(v), order, known)
		}
		if _, err := c.Parse(c.Format(unlimited)); err == nil {
			t.Fatal("unlimited can be written")
		}
		want := Releasing
		if c.Protects == "lower" {
			want = Protecting
		}
		if got := c.Direction(unlimited, v); got != want {
			t.Fatalf("%s from unlimited to %s is %s", c.Protects, c.Format(v), got)
		}
	})
}

func TestUnknownOrdersRelease(t *testing.T) {
	choice := &Control{Kind: Choice, Choices: []string{"none", "all"}, Protects: "lower"}
	rate := &Control{Kind: Rate, Protects: "lower"}
	for name, got := range map[string]Direction{
		"a choice that is not declared": choice.Direction(Value{Kind: Choice, Text: "some"}, Value{Kind: Choice, Text: "none"}),
		"another kind":                  rate.Direction(Value{Kind: Switch, Text: "on"}, Value{Kind: Rate, Number: 1}),
		"not a number":                  rate.Direction(Value{Kind: Rate, Number: math.NaN()}, Value{Kind: Rate, Number: 1}),
	} {
		if got != Releasing {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestUnitsConvertThereAndBack(t *testing.T) {
	var units []string
	for unit := range scales {
		units = append(units, unit)
	}
	rapid.Check(t, func(t *rapid.T) {
		from, to := rapid.SampledFrom(units).Draw(t, "from"), rapid.SampledFrom(units).Draw(t, "to")
		v := rapid.Float64Range(0, 1e9).Draw(t, "value")
		there, fits := convert(v, from, to)
		if fits != (scales[from].family == scales[to].family) {
			t.Fatalf("%s into %s: %v", from, to, fits)
		}
		if !fits {
			return
		}
		back, _ := convert(there, to, from)
		if math.Abs(back-v) > 1e-12*(1+v) {
			t.Fatalf("%v %s is %v %s and %v %s back", v, from, there, to, back, from)
		}
	})
}

func TestNumbersAreReadInOneNotation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[-+.0-9_exXoObE ]{1,12}`).Draw(t, "text")
		v, wrong := parseNumber(text)
		if wrong != nil {
			if wrong.message == "" || wrong.hint == "" {
				t.Fatalf("%q is refused without a reason or a way out", text)
			}
			return
		}
		if v < 0 || math.IsInf(v, 0) || math.IsNaN(v) || strings.ContainsAny(text, "+-_eExXoObB ") {
			t.Fatalf("%q is taken as %v", text, v)
		}
	})
}

func TestExpandFillsTheRung(t *testing.T) {
	p := &Probe{Name: "predicted", Query: "x * (${to} - ${from}) / 100"}
	if got, err := p.Expand("10", "25.5"); err != nil || got != "x * (25.5 - 10) / 100" {
		t.Errorf("got %q, %v", got, err)
	}
	for _, bad := range []string{"", "top-1", "-1", "NaN", "1e3", "1) or vector(0"} {
		if got, err := p.Expand("10", bad); err == nil {
			t.Errorf("rung %q gives %q", bad, got)
		}
	}
	plain := &Probe{Name: "plain", Query: "up"}
	if got, err := plain.Expand("", ""); err != nil || got != "up" || plain.UsesRung() || !p.UsesRung() {
		t.Errorf("a query without a rung gives %q, %v", got, err)
	}
}

// TestParametersCannotLeaveTheirPlace expands texts from outside into a query:
// whatever they hold, the query has one selector with one matcher of that text.
func TestParametersCannotLeaveTheirPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ -~]{1,30}`).Draw(t, "text")
		p := &Parameter{Kind: "string", Value: text}
		query := "sum(up{cell=" + p.write(asQuery) + "})"
		selectors := selectorsOf(query)
		if len(selectors) != 1 {
			t.Fatalf("%s has %d selectors", query, len(selectors))
		}
		for _, m := range selectors[0].matchers {
			if m.Name == "cell" && m.Value != text {
				t.Fatalf("%s matches %q", query, m.Value)
			}
		}
		if (&Probe{Query: query}).UsesRung() {
			t.Fatalf("%s asks about a rung", query)
		}
	})
}

func TestBoundsInWords(t *testing.T) {
	for want, b := range map[string]Bound{
		"queue-age at most 250ms":                         {Probe: "queue-age", Op: AtMost, Operand: Operand{Number: .25, Text: "250ms"}},
		"offered above figure limit":                      {Probe: "offered", Op: Above, Operand: Operand{Text: "figure limit"}},
		"any of leaders below control leaders.cell":       {Probe: "leaders", Op: Below, Any: true, Operand: Operand{Control: "leaders.cell"}},
		"share between 0 and 0.01 in 3 series":            {Probe: "share", Op: Between, High: Operand{Number: .01}, Series: 3},
		"processes at most probe processes-then":          {Probe: "processes", Op: AtMost, Operand: Operand{Probe: "processes-then"}},
		"queue-age falling":                               {Probe: "queue-age", Op: Falling},
		"goodput at least 5 attempts/s":                   {Probe: "goodput", Op: AtLeast, Operand: Operand{Text: "5 attempts/s"}},
		fmt.Sprintf("retrying equal to %s", decimal(1e7)): {Probe: "retrying", Op: Equals, Operand: Operand{Number: 1e7}},
	} {
		if got := b.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
