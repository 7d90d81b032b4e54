package evidence

import (
	"maps"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rewarm/rewarm/templates"
)

// TestContrast of the pages, in light, in dark and in print: every colour that text has is 4.5 to 1 against its ground,
// those of lines and keys 3 to 1, as WCAG 2 asks. Paper is white whatever the screen was.
func TestContrast(t *testing.T) {
	style, err := templates.Files.ReadFile(pageTemplate)
	if err != nil {
		t.Fatal(err)
	}
	light := coloursIn(t, style, `(?m)^:root \{[^}]*\}`)
	dark := coloursIn(t, style, `@media screen and \(prefers-color-scheme: dark\) \{ :root \{[^}]*\}`)
	print := maps.Clone(light)
	maps.Copy(print, coloursIn(t, style, `@media print \{ :root \{[^}]*\}`))
	least := map[string]float64{}
	for _, m := range regexp.MustCompile(`([\w.]+) \{[^}]*?(color|fill|stroke|background): var\(--([a-z]+)\)`).FindAllSubmatch(style, -1) {
		ground, wants := string(m[3]) == "paper" || string(m[3]) == "rule", 3.0
		if what := string(m[2]); what == "color" || what == "fill" {
			wants = 4.5
		}
		if !ground {
			least[string(m[3])] = max(least[string(m[3])], wants)
		}
	}
	if len(least) != len(light)-len([]string{"paper", "rule"}) {
		t.Fatalf("the style uses %v of the colours %v", least, light)
	}
	for mode, colours := range map[string]map[string]string{"light": light, "dark": dark, "print": print} {
		for name, wants := range least {
			if got := contrast(t, colours[name], colours["paper"]); got < wants {
				t.Errorf("%s: %s on paper has %.2f, less than %.1f", mode, name, got, wants)
			}
		}
	}
}

// coloursIn are the colours that a rule of the style names.
func coloursIn(t *testing.T, style []byte, rule string) map[string]string {
	t.Helper()
	found := regexp.MustCompile(rule).FindAll(style, -1)
	if len(found) != 1 {
		t.Fatalf("%d rules %s", len(found), rule)
	}
	colours := map[string]string{}
	for _, m := range regexp.MustCompile(`--([a-z]+): (#[0-9a-f]{6}|#[0-9a-f]{3})\b`).FindAllSubmatch(found[0], -1) {
		colours[string(m[1])] = string(m[2])
	}
	return colours
}

func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	x, y := luminance(t, a)+0.05, luminance(t, b)+0.05
	return max(x, y) / min(x, y)
}

func luminance(t *testing.T, colour string) float64 {
	t.Helper()
	digits := strings.TrimPrefix(colour, "#")
	if len(digits) == 3 {
		digits = string([]byte{digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]})
	}
	n, err := strconv.ParseUint(digits, 16, 32)
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
