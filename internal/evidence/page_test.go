package evidence

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rewarm/rewarm/templates"
)

// TestContrast of the pages, in light and in dark: text has 4.5 to 1 against its ground, lines and keys have 3 to 1, as
// WCAG 2 asks.
func TestContrast(t *testing.T) {
	text, err := templates.Files.ReadFile(pageTemplate)
	if err != nil {
		t.Fatal(err)
	}
	sets := regexp.MustCompile(`:root \{[^}]*--ink[^}]*--a:[^}]*\}`).FindAllString(string(text), -1)
	if len(sets) != 2 {
		t.Fatalf("%d sets of colours, not one for light and one for dark", len(sets))
	}
	for i, set := range sets {
		mode := []string{"light", "dark"}[i]
		colours := map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z]+): (#[0-9a-f]{6})`).FindAllStringSubmatch(set, -1) {
			colours[m[1]] = m[2]
		}
		for name, least := range map[string]float64{"ink": 4.5, "quiet": 4.5, "good": 4.5, "bad": 4.5, "a": 3, "b": 3, "c": 3, "d": 3, "e": 3, "f": 3} {
			if got := contrast(t, colours[name], colours["paper"]); got < least {
				t.Errorf("%s: %s on paper has %.2f, less than %.1f", mode, name, got, least)
			}
		}
	}
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a)+0.05, luminance(t, b)+0.05
	return max(x, y) / min(x, y)
}

func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(strings.TrimPrefix(colour, "#"), 16, 32)
	if err != nil {
		t.Fatalf("colour %q: %v", colour, err)
	}
	linear := func(c uint64) float64 {
		v := float64(c&0xff) / 255
		if v <= 0.03928 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(n>>16) + 0.7152*linear(n>>8) + 0.0722*linear(n)
}
