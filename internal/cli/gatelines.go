package cli

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/steps"
)

// How much run time may pass, in milliseconds, before a gate that keeps waiting gets
// another line. The exit fails for most of a walk, so it says so less often.
const (
	stillWaiting   = 15_000
	stillNotSteady = 60_000
)

// gateLines remembers what each gate last said.
type gateLines map[string]*gateLine

type gateLine struct {
	verdict string
	passes  int
	at      int64              // run time of the last line, milliseconds
	values  map[string]float64 // bound: the latest value
	shown   map[string]float64 // bound: the value of the last line
	byHand  string             // whose readings by hand the last line told of
}

// obeying is how far the service was seen to obey its controls.
type obeying struct {
	version int64
	all     bool
	at      int64 // run time of the last line, or of the first sight of this version
}

// observed gives the lines of a poll: only what changed.
func (t *transcript) observed(record audit.Record, b *steps.Observed) []event {
	var events []event
	if b.Redis != t.redis {
		t.redis = b.Redis
		events = append(events, event{where: t.here(), text: redisText(b.Redis)})
	}
	for _, l := range b.Left {
		events = append(events, event{where: t.here(), text: leftText(l)})
	}
	if text, ok := t.obey.changed(record.T, b.Propagation); ok {
		events = append(events, event{where: t.here(), text: text})
	}
	events = append(events, t.lost(record.T, b)...)
	for i := range b.Gates {
		if t.brief && saidNext(&b.Gates[i]) {
			t.gates.line(record.T, &b.Gates[i]).keep(record.T, &b.Gates[i])
			continue
		}
		if text, ok := t.gates.changed(record.T, &b.Gates[i], t.brief); ok {
			where, name := t.gateHome(b.Gates[i].Gate)
			events = append(events, event{where: where, text: name + " " + text})
		}
	}
	return events
}

// leftText says what this run takes over; that a hand has changed it is the drift that follows.
func leftText(l steps.Left) string {
	since := "since " + l.Since.UTC().Format("15:04:05Z")
	if l.Edited {
		return fmt.Sprintf("taken over: %s, which %s had flipped %s, and a hand has set since", l.Control, l.Run, since)
	}
	return fmt.Sprintf("taken over: %s is away from its steady value %s, left by %s; this run restores it", l.Control, since, l.Run)
}

func redisText(trouble string) string {
	if trouble == "" {
		return "redis answers again"
	}
	return "redis cannot be read: " + trouble
}

// gateHome finds the step in the name of a gate, as "expect STEP", and gives what the
// gate is called there.
func (t *transcript) gateHome(gate string) (where, name string) {
	if kind, step, ok := strings.Cut(gate, " "); ok && t.home[step] != "" {
		return t.at(step), kind
	}
	return t.here(), gate
}

// enough is the share of processes that counts as the service obeying, in percent.
const enough = 99

// changed gives a line when the whole service obeys a version, and now and then while
// it does not.
func (o *obeying) changed(now int64, p *probes.Propagation) (string, bool) {
	if p == nil || !p.Reported || p.Processes == 0 {
		return "", false
	}
	all := 100*p.Obeying >= enough*p.Processes
	if p.Version != o.version {
		*o = obeying{version: p.Version, at: now}
	}
	if all == o.all && (all || now-o.at < stillWaiting) {
		return "", false
	}
	o.all, o.at = all, now
	return fmt.Sprintf("version %d of the controls is obeyed by %d of %d processes", p.Version, p.Obeying,
		p.Processes), true
}

// changed gives the line of a gate when it has something new to say.
func (g gateLines) changed(now int64, seen *steps.GateSeen, brief bool) (string, bool) {
	line := g.line(now, seen)
	passes := min(seen.Passes, seen.Of)
	same := line.verdict == seen.Verdict && line.passes == passes && line.byHand == handsOf(seen.Findings)
	if same && now-line.at < patienceWith(seen.Gate) || line.quiet(now, seen, same) {
		return "", false
	}
	text := fmt.Sprintf("%s %d/%d: ", seen.Verdict, passes, seen.Of)
	switch {
	case brief && seen.Gate == gateExit && seen.Verdict == probes.Pass.String():
		text += "all of its bounds"
	case brief:
		text += line.said(notPassing(seen.Findings))
	default:
		text += line.said(seen.Findings)
	}
	line.keep(now, seen)
	line.show()
	return text, true
}

// line gives what a gate last said, with the values that it has now.
func (g gateLines) line(now int64, seen *steps.GateSeen) *gateLine {
	line := g[seen.Gate]
	if line == nil {
		line = &gateLine{at: now, values: map[string]float64{}, shown: map[string]float64{}}
		g[seen.Gate] = line
	}
	line.measure(seen.Findings)
	return line
}

// keep takes a verdict down as said.
func (l *gateLine) keep(now int64, seen *steps.GateSeen) {
	l.verdict, l.passes, l.at, l.byHand = seen.Verdict, min(seen.Passes, seen.Of), now, handsOf(seen.Findings)
}

// handsOf says whose readings by hand findings rest on, "" when all was measured.
func handsOf(findings []probes.Finding) string {
	text := ""
	for _, f := range findings {
		text += f.ByHand
	}
	return text
}

// saidNext reports whether the next line says it: that a gate passes and has more passes
// to come, that an expectation is met, or that a guard passes again, which lifts its hold.
func saidNext(seen *steps.GateSeen) bool {
	kind, _, _ := strings.Cut(seen.Gate, " ")
	return seen.Verdict == probes.Pass.String() && (seen.Passes < seen.Of || kind == "guard" || kind == "expect")
}

// notPassing leaves out the bounds that pass where others do not.
func notPassing(findings []probes.Finding) []probes.Finding {
	var open []probes.Finding
	for _, f := range findings {
		if f.Verdict != probes.Pass {
			open = append(open, f)
		}
	}
	if len(open) == 0 {
		return findings
	}
	return open
}

// gateExit is the name of the exit among the gates.
const gateExit = "exit"

func patienceWith(gate string) int64 {
	if gate == gateExit {
		return stillNotSteady
	}
	return stillWaiting
}

// quiet reports that a gate says only what goes without saying: it goes on passing, a
// guard or an undo_if is as it should be, or the samples after a flip are not there yet.
func (l *gateLine) quiet(now int64, seen *steps.GateSeen, same bool) bool {
	usual := seen.Verdict == probes.Pass.String()
	if strings.HasPrefix(seen.Gate, "undo_if ") {
		usual = seen.Verdict == probes.Fail.String()
	}
	switch {
	case stillToCome(seen.Findings):
		if !same && !watchful(seen.Gate) { // it begins to wait only now
			l.keep(now, seen)
		}
		return seen.Gate == gateExit || now-l.at < stillWaiting
	case usual && watchful(seen.Gate) && (l.verdict == "" || l.verdict == seen.Verdict):
		l.verdict, l.at = seen.Verdict, now
		return true
	}
	return usual && same
}

// watchful names the gates that only speak up when something is wrong.
func watchful(gate string) bool {
	return strings.HasPrefix(gate, "guard ") || strings.HasPrefix(gate, "undo_if ")
}

// stillToCome reports whether nothing is wrong but that the samples after a flip have
// not come yet.
func stillToCome(findings []probes.Finding) bool {
	waits := len(findings) == 0
	for _, f := range findings {
		switch {
		case f.Verdict == probes.Fail, f.ByHand != "", f.Verdict == probes.Unknown && f.Reason != probes.BeforeMark:
			return false
		case f.Verdict == probes.Unknown:
			waits = true
		}
	}
	return waits
}

func (l *gateLine) said(findings []probes.Finding) string {
	if len(findings) == 0 {
		return "not observed yet"
	}
	return findingsText(findings, l.trend)
}

func (l *gateLine) measure(findings []probes.Finding) {
	for _, f := range findings {
		if value, ok := leadingNumber(f.Value); ok {
			l.values[f.Bound] = value
		}
	}
}

func (l *gateLine) show() {
	for bound, value := range l.values {
		l.shown[bound] = value
	}
}

// trend says which way a value has moved since the line before.
func (l *gateLine) trend(bound string) string {
	before, known := l.shown[bound]
	now, measured := l.values[bound]
	switch {
	case !known || !measured:
		return ""
	case now < before:
		return ", falling"
	case now > before:
		return ", rising"
	}
	return ", unchanged"
}

// leadingNumber reads the number before the unit.
func leadingNumber(text string) (float64, bool) {
	number, _, _ := strings.Cut(text, " ")
	value, err := strconv.ParseFloat(strings.TrimSuffix(number, "%"), 64)
	return value, err == nil
}

// findingsText gives each bound with its value and verdict. Bounds that are unknown
// for one reason are named together, with the sentence once.
func findingsText(findings []probes.Finding, trend func(bound string) string) string {
	var list []string
	for i := 0; i < len(findings); i++ {
		alike := i + 1
		for alike < len(findings) && sameUnknown(findings[i], findings[alike]) {
			alike++
		}
		text := findingText(findings[i:alike])
		if trend != nil && findings[i].Verdict == probes.Fail {
			text += trend(findings[i].Bound)
		}
		for _, note := range findings[i].Notes {
			text += " [" + note + "]"
		}
		list = append(list, text)
		i = alike - 1
	}
	return strings.Join(list, "; ")
}

func sameUnknown(a, b probes.Finding) bool {
	return a.Verdict == probes.Unknown && b.Verdict == probes.Unknown && a.Reason == b.Reason &&
		len(a.Notes)+len(b.Notes) == 0
}

// findingText says one bound, or several that are unknown for one reason.
func findingText(alike []probes.Finding) string {
	f := alike[0]
	if f.Verdict == probes.Unknown {
		var bounds []string
		for _, each := range alike {
			bounds = append(bounds, each.Bound)
		}
		return strings.Join(bounds, ", ") + ": unknown, " + f.Sentence
	}
	text := f.Bound + ": " + f.Value
	if f.Series != "" && f.Series != "{}" {
		text += " " + f.Series
	}
	return text + " " + f.Verdict.String() + also(" BY HAND: ", f.ByHand) + also(", second source ", f.Source)
}
