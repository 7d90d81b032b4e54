package controls

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNumbersComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Float64Range(0, math.MaxFloat64).Draw(t, "n")
		if n == 0 {
			n = 0 // also for the negative zero
		}
		if back, err := ParseNumber(FormatNumber(math.Abs(n))); err != nil || back != math.Abs(n) {
			t.Fatalf("%v came back as %v, %v", n, back, err)
		}
	})
}

func TestListsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOf(rapid.String()).Draw(t, "items")
		if back, err := ParseList(FormatList(items)); err != nil || !slices.Equal(back, items) {
			t.Fatalf("%q came back as %q, %v", items, back, err)
		}
	})
}

func TestWhatIsRefused(t *testing.T) {
	for _, raw := range []string{"", " 1", "1 ", "+1", "01", "1.0", ".5", "1.", "1e3", "1_000", "0x1", "-1", "-0", "NaN", "Inf", "-Inf",
		"unlimited", "10%", "120s", "1\x1b[2J", "1e999"} {
		if n, err := ParseNumber(raw); err == nil || strings.ContainsAny(err.Error(), "\x1b") {
			t.Errorf("number %q is %v, %v", raw, n, err)
		}
	}
	for _, raw := range []string{"", "ON", "true", "1", "on ", "off\n"} {
		if _, err := ParseSwitch(raw); err == nil {
			t.Errorf("switch %q", raw)
		}
	}
	for _, raw := range []string{"", "null", "[", `["a", "b"]`, `[1]`, `["\u0061"]`, "{}", `["a"]x`, "[\"\xff\"]"} {
		if _, err := ParseList(raw); err == nil {
			t.Errorf("list %q", raw)
		}
	}
	if _, err := ParseChoice("top-2", []string{"none", "top-1"}); err == nil {
		t.Error("choice top-2")
	}
}

func FuzzParse(f *testing.F) {
	for _, raw := range []string{"3200", "0.25", "1e3", "on", `["a"]`, `{"version":1,"until":5}`, "", "\xff"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if n, err := ParseNumber(raw); err == nil && FormatNumber(n) != raw {
			t.Errorf("number %q prints as %q", raw, FormatNumber(n))
		}
		if on, err := ParseSwitch(raw); err == nil && FormatSwitch(on) != raw {
			t.Errorf("switch %q prints as %q", raw, FormatSwitch(on))
		}
		if items, err := ParseList(raw); err == nil && FormatList(items) != raw {
			t.Errorf("list %q prints as %q", raw, FormatList(items))
		}
		_, _ = ParseMeta(raw)
	})
}

func FuzzParseURL(f *testing.F) {
	for _, raw := range []string{"redis://h:1/0", "rediss://u:hunter2@h", "redis://:hun/ter2@h", "redis://a?addr=b:1&cluster=true", "redis://s?master_name=m", "unix://x/y", "%"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		target, err := ParseURL(raw)
		if err != nil && err != errURL {
			t.Errorf("%q: %v", raw, err)
		}
		if err == nil && len(target.Addrs) == 0 {
			t.Errorf("%q has no address", raw)
		}
	})
}

func TestURLForms(t *testing.T) {
	for url, want := range map[string]string{
		"redis://h":                     "h:6379",
		"redis://user:hunter2@h:7000/3": "h:7000",
		"rediss://h:1":                  "h:1",
		"redis://a:1?cluster=true&addr=b:2&addr=c:3":         "cluster a:1,b:2,c:3",
		"redis://:hunter2@s:1?master_name=m&addr=t:2":        `master "m" of sentinels s:1,t:2`,
		"redis://s:1?master_name=m&username=u&password=hunt": `master "m" of sentinels s:1`,
		"unix:///run/redis.sock":                             "/run/redis.sock",
	} {
		target, err := ParseURL(url)
		if err != nil || target.String() != want {
			t.Errorf("%s is %q, %v", url, target, err)
		}
	}
	for _, url := range []string{"", "h:6379", "http://h", "redis://h/x", "redis://h?addr=b:2", "redis://h?cluster=true&addr=b",
		"redis://h?nonsense=1", "redis://:p#w@h", "redis://h:port"} {
		if target, err := ParseURL(url); err == nil {
			t.Errorf("%q is %q", url, target)
		}
	}
}
