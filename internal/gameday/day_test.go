package gameday

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rewarm/rewarm/runbook"
)

// Everything that is wrong with a day is said at once, each in its place.
func TestProblems(t *testing.T) {
	_, err := Parse("day.yaml", []byte(`apiVersion: rewarm/v1
kind: GameDay
name: wrong
about: for a test
scenario: cell-loss
duration: 60s
seed: 1.5
operator: {approve: sometimes, mistakes: [unheard]}
timeline:
  - {at: 10s, event: lose-cell, cell: cell-x, copies: kept}
  - {at: 10s, event: redis-away}
  - {at: 10s, event: redis-awy, for: 3s}
  - {at: 90s, event: second-run}
  - {event: second-run}
  - {at: 10s, event: edit, control: origin.admision, to: 4000}
  - {at: 10s, event: edit, control: origin.bypass, to: perhaps}
  - {at: 10s, event: order, order: skip, step: enforce-admision}
expect:
  - {name: a, always: [{probe: admission-of-nobody, at_most: 3200}]}
  - {name: a, never: [{control: origin.bypass, equals: maybe}]}
  - {name: b, always: [{score: recoverd, at_most: 3m}]}
  - {name: c, finally: [{records: helds, equals: 0}]}
  - {name: d, finally: [{records: held, where: {because: x}, equals: 0}]}
  - {name: e, always: [{score: recovered, at_most: 3 reads}], within: 10s}
  - {name: f, at: 10s, always: [{score: words, equals: 0}]}
  - {name: g, at: 90s, holds: [{score: words, equals: 0}]}
  - {name: h, always: [{score: words, control: origin.bypass, equals: 0}]}
`), bundled{})
	if err == nil {
		t.Fatal("nothing is wrong")
	}
	for _, want := range []string{
		"day.yaml:7:7: seed cannot be 1.5", `day.yaml:8:21: approve cannot be "sometimes"`, `day.yaml:8:42: there is no mistake "unheard"`,
		`day.yaml:10:39: there is no cell "cell-x"`, "day.yaml:11:5: the event redis-away lacks the key for",
		`day.yaml:12:22: there is no event "redis-awy" (did you mean "redis-away"?)`, "day.yaml:13:5: the event is after the end of the day",
		"day.yaml:14:5: the event needs one of at and when", "day.yaml:15:37: control origin.admision is not declared",
		`day.yaml:16:56: control origin.bypass: a switch is on or off, not "perhaps"`, `day.yaml:17:48: the runbook has no step "enforce-admision"`,
		"day.yaml:19:32: probe admission-of-nobody is not declared", `day.yaml:20:56: control origin.bypass: a switch is on or off, not "maybe"`,
		`day.yaml:21:32: there is no score "recoverd"`, `day.yaml:22:35: there is no kind of record "helds" (did you mean "held"?)`,
		`day.yaml:23:49: records of kind held have no field "because"`, "day.yaml:24:52: at_most: unit", "day.yaml:24:71: always takes no within",
		"day.yaml:25:5: the expectation is of 2 kinds", "day.yaml:26:5: the expectation reaches beyond the end of the day",
		"day.yaml:27:24: the bound is on score and control at once",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("not said: %s", want)
		}
	}
	if t.Failed() {
		t.Log(err)
	}
}

func TestUnknownNamesEndIt(t *testing.T) {
	for text, want := range map[string]string{
		"scenario: nowhere":                   "day.yaml:2:11: scenario: ",
		"scenario: cell-loss\nrunbook: none2": "day.yaml:3:10: runbook: ",
		"kind: Gameday":                       "day.yaml:2:7: kind \"Gameday\"",
		"scenario: cell-loss\nset: {x: y}":    "--set x",
	} {
		_, err := Parse("day.yaml", []byte("name: a\n"+text+"\n"), bundled{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// The example of the page is a day that can be played.
func TestExampleOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/gamedays.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	example, _, _ := strings.Cut(rest, "```\n")
	if day := parse(t, example); len(day.Expect) != 3 || day.Mistake("impatient") == nil {
		t.Errorf("%+v", day.GameDay)
	}
}

// target is a day on real servers.
const target = `apiVersion: rewarm/v1
kind: GameDay
name: staged
about: for a test
target: {name: lab-staging}
runbook: cell-loss
duration: 60s
expect: [{name: a, finally: [{score: words, equals: 0}]}]
`

// On real servers everything that changes them is a call with its undo, and calls are of nowhere else.
func TestTargets(t *testing.T) {
	day := parse(t, target+"timeline: [{at: 3s, event: call, do: [break, it], undo: [mend, it], for: 20s}]")
	h := day.Timeline[0]
	if day.Target != "lab-staging" || h.Call == nil || h.Call.Undo.Args[0] != "mend" || h.Call.Timeout != 10*time.Second || h.For != 20*time.Second {
		t.Errorf("%+v", h)
	}
	for text, want := range map[string]string{
		target + "timeline: [{at: 3s, event: redis-away, for: 3s}]":                         "day.yaml:9:28: the event redis-away needs the lab",
		target + "timeline: [{at: 3s, event: lose-cell, cell: cell-c, copies: kept}]":       "day.yaml:9:28: the event lose-cell needs the lab",
		target + "timeline: [{at: 3s, event: restore-all}]":                                 "day.yaml:9:28: the event restore-all needs the lab",
		target + "timeline: [{at: 3s, event: call, do: [break]}]":                           "day.yaml:9:12: the event call lacks the key undo",
		target + "timeline: [{at: 3s, event: call, do: break it, undo: [mend]}]":            "day.yaml:9:38: do is one text, not a list of arguments",
		target + "timeline: [{at: 3s, event: call, do: [break], undo: [mend], check: [x]}]": `the event call has no key "check"`,
		target + "seed: 3":             "day.yaml:9:7: the game day has a target, which knows no seed",
		target + "scenario: cell-loss": "day.yaml:5:9: the game day has a scenario and a target",
		short + "timeline: [{at: 3s, event: call, do: [break], undo: [mend]}]": "day.yaml:7:28: the event call needs a target",
		strings.Replace(target, "lab-staging", "Lab Staging", 1):               `day.yaml:5:16: name cannot be "Lab Staging"`,
		strings.Replace(target, "{name: lab-staging}", "{url: http://x}", 1):   `the target has no key "url"`,
		strings.Replace(target, "runbook: cell-loss\n", "", 1):                 "the game day has no runbook",
	} {
		_, err := Parse("day.yaml", []byte(text), bundled{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\nnot said: %s\nbut: %v", text, want, err)
		}
	}
	if _, err := day.Play(t.Context(), Options{}); err == nil {
		t.Error("a day with a target is played on none")
	}
}

// The day of the page's section on real servers can be played, where its runbook is.
func TestStagingExampleOfThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/gamedays.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "<!-- staging -->\n```yaml\n")
	example, _, _ := strings.Cut(rest, "```\n")
	day := parse(t, strings.Replace(example, "search.yaml", "cell-loss", 1))
	if day.Target != "search-staging" || day.Timeline[0].Call.Undo.Args[1] != "index-3" {
		t.Errorf("%+v", day.GameDay)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(short + "expect: [{name: a, finally: [{score: words, equals: 0}]}]")
	f.Add(short + "timeline: [{when: [{any: [{records: held, before: {records: event}, equals: 0}]}], event: edit, control: origin.bypass, to: on}]")
	f.Add(target + "timeline: [{at: 3s, event: call, do: [break], undo: {http: {method: POST, url: 'http://x/y'}}, timeout: 3s}]")
	f.Fuzz(func(t *testing.T, text string) {
		day, err := Parse("day.yaml", []byte(text), bundled{})
		if (day == nil) == (err == nil) {
			t.Errorf("%v, %v", day, err)
		}
		if _, ok := err.(runbook.Problems); err != nil && !ok {
			t.Errorf("%T: %v", err, err)
		}
	})
}
