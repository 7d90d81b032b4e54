package simulation

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"

	"github.com/rewarm/rewarm/runbook"
)

// Book says which runbook of the family a plan walks. Every member parses and passes the
// linter.
type Book struct {
	Admission int  // attempts/s that the first brake sets
	Harder    bool // it has an if_unmet
	Otherwise bool // it has an else for when Redis cannot be reached
	Route     bool // the cold cell is routed around and back by a ladder
	Jobs      bool // background jobs are paused when there is demand
	Stale     bool // copies are kept longer, and no longer when forbidden ones are served
	Modes     bool // a person declares the mode, and one brake depends on it
	Freeze    int  // a call of the first stage: 0 none, 1 plain, 2 with a check
	Bucket    bool // warming has a choice beside its rate
	Passes    int  // observations in a row
	Word      bool // releases need a word
	Two       bool // of two persons
	Guard     int  // what happens when the peak or the queue is too high, see head
	Stop      string
}

var stages = []string{"", "", "", "", "constrain-leaders", "expand", "restore"}

func drawBook(r *rand.Rand) Book {
	coin := func() bool { return r.IntN(2) == 0 }
	return Book{
		Admission: 2400 + 400*r.IntN(3), Harder: coin(), Otherwise: coin(), Route: coin(), Jobs: coin(), Stale: coin(),
		Modes: coin(), Freeze: r.IntN(3), Bucket: r.IntN(3) == 0, Passes: 1 + r.IntN(2), Word: r.IntN(3) > 0, Guard: r.IntN(5),
		Two: r.IntN(3) == 0,
	}
}

// String gives a book as parseBook reads it.
func (b Book) String() string {
	flags := ""
	for i, set := range b.flags() {
		if *set {
			flags += string(flagNames[i])
		}
	}
	return fmt.Sprintf("%d %d %d %d %q %q", b.Admission, b.Freeze, b.Passes, b.Guard, b.Stop, flags)
}

const flagNames = "heajsmbwt"

func (b *Book) flags() []*bool {
	return []*bool{&b.Harder, &b.Otherwise, &b.Route, &b.Jobs, &b.Stale, &b.Modes, &b.Bucket, &b.Word, &b.Two}
}

func parseBook(text string) (Book, error) {
	var b Book
	var flags string
	if _, err := fmt.Sscanf(text, "%d %d %d %d %q %q", &b.Admission, &b.Freeze, &b.Passes, &b.Guard, &b.Stop, &flags); err != nil {
		return b, fmt.Errorf("book %q: %w", text, err)
	}
	for i, set := range b.flags() {
		*set = strings.ContainsRune(flags, rune(flagNames[i]))
	}
	return b, nil
}

// parsed keeps the documents of books that were walked: documents are never changed.
var parsed sync.Map

// Document parses the runbook of a book.
func (b Book) Document() (*runbook.Document, error) {
	b.Stop = "" // it is no part of the runbook
	if doc, ok := parsed.Load(b); ok {
		return doc.(*runbook.Document), nil
	}
	doc, problems := runbook.Parse("simulated.yaml", []byte(b.text()), nil)
	if len(problems) > 0 {
		return nil, problems
	}
	parsed.Store(b, doc)
	return doc, nil
}

// with gives a text if a book has it.
func with(has bool, text string) string {
	if has {
		return text
	}
	return ""
}

func (b Book) text() string {
	return b.head() + b.protecting() + b.releasing()
}

func (b Book) head() string {
	release := "none"
	switch {
	case b.Word && b.Two:
		release = "two"
	case b.Word:
		release = "one"
	}
	peak := "  - {probe: peak, at_most: 4000, from: rank-warmth, to: restore, passes: "
	guard := []string{
		peak + "2, otherwise: hold}\n",
		peak + "2, otherwise: {flip: {control: prewarm, to: 0}}}\n",
		peak + "1, otherwise: {flip: {control: admission, to: 1200}}}\n",
		peak + "2, otherwise: hold}\n  - {probe: queue, at_most: 2s, from: rank-warmth, to: reconcile, passes: 2, otherwise: {flip: {control: prewarm, to: 0}}}\n",
		peak + "2, otherwise: hold}\n  - {probe: queue, at_most: 2s, from: expand, to: restore, passes: 2, otherwise: step-down}\n",
	}[b.Guard]
	return `apiVersion: rewarm/v1
kind: Runbook
name: simulated
service: catalog
defaults: {every: 1s, passes: ` + strconv.Itoa(b.Passes) + `, timeout: 15s, stale_after: 4s, approval: {protect: none, release: ` + release + `}}
controls:
  admission: {kind: rate, unit: attempts/s, min: 100, max: 4000, absent: unlimited, steady: 3200, protects: lower, temporary: false}
  routing: {kind: percent, absent: 100, steady: 100, protects: lower}
  jobs: {kind: switch, absent: on, steady: on, protects: off}
  stale: {kind: duration, max: 120s, absent: 10s, steady: 10s, protects: higher, review: 30m, back: [60s]}
  prewarm: {kind: rate, unit: attempts/s, max: 3200, absent: 0, steady: 0, protects: lower, dead_man: 0}
  bucket: {kind: choice, choices: [none, top, all], absent: none, steady: none, protects: lower, dead_man: none}
figures:
  knee: {value: 4200, unit: attempts/s, measured: 2026-11-02}
probes:
` + probeLines() + `exit: {intervals: 2, interval: 2s, when: [{probe: live, at_most: 1500}, {probe: queue, at_most: 500ms}]}
guards:
` + guard + `waive:
  - {rule: leaders-uncapped, reason: one small cell}
` + with(b.Route, "  - {rule: ladder-jumps, reason: one small cell}\n") + "stages:\n"
}

func (b Book) protecting() string {
	text := "  declare-mode:\n"
	if b.Modes {
		text += "    - step: declare\n      confirm: {ask: 'Which modes?', choose: modes, after: 8s, else: undeclared}\n"
	}
	if b.Freeze > 0 {
		text += "    - step: freeze\n      call: {do: [deployctl, freeze], undo: [deployctl, thaw]" + with(b.Freeze == 2, ", check: [deployctl, frozen]") + ", timeout: 5s}\n"
	}
	if !b.Modes && b.Freeze == 0 {
		text = "  declare-mode: {skip: the mode is known}\n"
	}
	text += "  protect-origin:\n    - step: admit\n      flip: {control: admission, to: " + strconv.Itoa(b.Admission) + "}\n" +
		"      expect: [{probe: peak, at_most: {control: admission}}]\n" +
		with(b.Harder, "      if_unmet: {to: 1600, after: 6s}\n") +
		with(b.Otherwise, "      else: {call: {do: [poolerctl, limit], timeout: 5s}}\n")
	if b.Route {
		text += "    - step: around\n" + with(b.Modes, "      modes: [cell-loss, cold-region]\n") + "      flip: {control: routing, to: 0%}\n"
	}
	if b.Jobs {
		text += "    - step: pause\n      when: [{probe: live, above: 1000}]\n      flip: {control: jobs, to: off}\n"
	}
	if !b.Stale {
		return text + "  preserve-stale: {skip: nothing may be stale}\n  constrain-leaders: {skip: nothing to do}\n"
	}
	return text + "  preserve-stale:\n    - step: keep\n      flip: {control: stale, to: 120s}\n" +
		"      expect: [{probe: forbidden, at_most: 0}]\n      undo_if: [{probe: forbidden, above: 0}]\n" +
		"  constrain-leaders: {skip: nothing to do}\n"
}

func (b Book) releasing() string {
	text := "  rank-warmth:\n    - step: warm\n      when: [{probe: queue, at_most: 1s}, {probe: within, at_most: {control: admission}}]\n" +
		"      flip: {control: prewarm, to: 800}\n      expect: [{probe: queue, at_most: 1s}]\n"
	if b.Bucket {
		text += "    - step: rank\n      when: [{probe: queue, at_most: 1s}]\n      flip: {control: bucket, through: [top, all]}\n      expect: [{probe: queue, at_most: 1s}]\n      passes: 2\n"
	}
	text += "  observe:\n    - step: steady\n      when: [{probe: queue, at_most: 1s}]\n"
	if b.Route {
		text += "  expand:\n    - step: back\n      when: [{probe: predicted, at_most: {control: admission}}]\n" +
			"      flip: {control: routing, through: [50%, 100%]}\n      expect: [{probe: errors, at_most: 0.05}]\n      passes: 2\n"
	} else {
		text += "  expand: {skip: nothing was routed around}\n"
	}
	return text + "  restore:\n    - step: lift\n      restore: {order: [bucket, prewarm, stale]}\n      when: [{probe: queue, at_most: 1s}]\n" +
		"      expect: [{probe: queue, at_most: 1s}]\n" +
		"  reconcile:\n    - step: tell\n      confirm: {ask: 'What was done outside?', after: 5s, else: nothing}\n"
}
