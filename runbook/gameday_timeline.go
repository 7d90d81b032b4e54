package runbook

import (
	"maps"
	"slices"
	"strings"
)

// The events of a game day that are not of the service: faults of the tools, and what
// people do.
const (
	PrometheusAway    = "prometheus-away"
	PrometheusStale   = "prometheus-stale"
	PrometheusPartial = "prometheus-partial"
	RedisAway         = "redis-away"
	RedisRefuses      = "redis-refuses"
	RedisFailover     = "redis-failover"
	KillOperator      = "kill-operator"
	SecondRun         = "second-run"
	TakeOver          = "take-over"
	EditControl       = "edit"
	RestoreAll        = "restore-all"
	GiveOrder         = "order"
	DeclareModes      = "declare"
	SlowWords         = "slow-words"
	IgnoreHolds       = "ignore-holds"
	CallProgram       = "call"
)

// DayEvent is one of those events with its keys beside at, when, after and event; those
// that end in ? may be left out. docs/gamedays.md says what each does.
type DayEvent struct {
	Name string
	Keys []string
}

// DayEvents are all of them, in the order in which the reference explains them.
var DayEvents = []DayEvent{
	{PrometheusAway, []string{"for"}},
	{PrometheusStale, []string{"for"}},
	{PrometheusPartial, []string{"for"}},
	{RedisAway, []string{"for"}},
	{RedisRefuses, []string{"for", "with?"}},
	{RedisFailover, []string{"lost"}},
	{KillOperator, []string{"for"}},
	{SecondRun, nil},
	{TakeOver, []string{"reason"}},
	{EditControl, []string{"control", "to"}},
	{RestoreAll, nil},
	{GiveOrder, []string{"order", "step?", "text?"}},
	{DeclareModes, []string{"modes"}},
	{SlowWords, []string{"for"}},
	{IgnoreHolds, nil},
	{CallProgram, []string{"do", "undo", "for?", "timeout?"}},
}

// targetEvents are those that can happen on real servers: what changes them is a call, and
// whatever it has changed can be taken back.
var targetEvents = []string{CallProgram, KillOperator, SecondRun, TakeOver, GiveOrder, DeclareModes,
	SlowWords, IgnoreHolds}

// refusals are what Redis can answer to writes, by the words of this format.
var refusals = map[string]string{
	"out-of-memory": "OOM command not allowed when used memory > 'maxmemory'.",
	"read-only":     "READONLY You can't write against a read only replica.",
	"misconf":       "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
}

// dayOrders are the orders that a game day can give.
var dayOrders = []string{"hold", "release", "skip", "undo", "keep", "take", "adopt", "put-back", "abort", "note"}

// headKeys are the keys of every happening.
var headKeys = []string{"at", "when", "after", "event"}

func (r *dayReader) timeline(n *node, what string) []Happening {
	var list []Happening
	for _, item := range r.list(n, what) {
		if h, ok := r.happening(item); ok {
			list = append(list, h)
		}
	}
	return list
}

func (r *dayReader) happening(n *node) (Happening, bool) {
	h := Happening{Pos: n.pos}
	if n.shape != table {
		r.wrongShape(n, "an event", table)
		return h, false
	}
	f := fields{d: r.decoder, at: n.pos, what: "the event", byKey: map[string]*node{}}
	for _, e := range n.entries {
		f.byKey[e.key] = e.value
	}
	r.moment(f, &h)
	word, ok := r.raw(f.need("event", "write event: WORD"), "event")
	if !ok {
		return h, false
	}
	h.Event = word
	if !r.possible(n, word) {
		return h, false
	}
	i := slices.IndexFunc(DayEvents, func(e DayEvent) bool { return e.Name == word })
	if i < 0 {
		return h, r.fault(n, &h)
	}
	r.checkKeys(n, DayEvents[i])
	r.details(f, &h)
	return h, true
}

// possible requires that an event can happen on what the day is played on.
func (r *dayReader) possible(n *node, word string) bool {
	known := slices.ContainsFunc(DayEvents, func(e DayEvent) bool { return e.Name == word })
	fault := slices.Contains(r.names.Faults, word)
	switch at := n.find("event").pos; {
	case r.day.Target != "" && (known || fault) && !slices.Contains(targetEvents, word):
		r.fail(at, "write it as a call, with what takes it back as its undo", "the event %s needs the lab", word)
	case r.day.Target == "" && word == CallProgram:
		r.fail(at, "use an event of the lab", "the event call needs a target: a lab has no programs to call")
	case r.day.Past != nil && fault:
		r.fail(at, "take it out", "the event %s needs a scenario: a past has no service that it could befall", word)
	default:
		return true
	}
	return false
}

// moment reads when something happens.
func (r *dayReader) moment(f fields, h *Happening) {
	if f.has("at") == f.has("when") {
		r.fail(f.at, "write at: 90s, or when: [{probe: NAME, above: VALUE}]", "the event needs one of at and when")
	}
	if f.has("after") && !f.has("when") {
		r.fail(f.get("after").pos, "write at: TIME alone", "after stands beside when")
	}
	h.At = f.duration("at", 0) + f.duration("after", 0)
	h.When = r.dayGate(f.get("when"), "when")
	if h.At > r.day.Duration && h.When == nil {
		r.fail(f.at, "lengthen the day", "the event is after the end of the day")
	}
}

// checkKeys requires the keys of an event, and no others.
func (r *dayReader) checkKeys(n *node, event DayEvent) {
	left := map[string]bool{}
	var allowed []string
	for _, key := range event.Keys {
		name, optional := strings.CutSuffix(key, "?")
		allowed = append(allowed, name)
		left[name] = !optional
	}
	for _, e := range n.entries {
		if !slices.Contains(allowed, e.key) && !slices.Contains(headKeys, e.key) {
			r.fail(e.pos, suggest(e.key, allowed, "leave it out"), "the event %s has no key %s", event.Name, quote(e.key))
		}
		delete(left, e.key)
	}
	for _, key := range slices.Sorted(maps.Keys(left)) {
		if left[key] {
			r.fail(n.pos, "", "the event %s lacks the key %s", event.Name, key)
		}
	}
}

// details reads what the events of the tools and of people have beside their time.
func (r *dayReader) details(f fields, h *Happening) {
	h.For = f.duration("for", 0) + f.duration("lost", 0)
	h.Text = f.prose("reason") + f.prose("text")
	if n := f.get("step"); n != nil {
		h.Step, _ = r.raw(n, "step")
	}
	switch h.Event {
	case EditControl:
		r.edit(f, h)
	case GiveOrder:
		h.Order = f.word("order", "", dayOrders...)
		r.checkOrder(f, h)
	case DeclareModes:
		if n := f.get("modes"); n != nil {
			h.Modes = r.modeList(n)
		}
	case CallProgram:
		h.Call = &Call{Pos: h.Pos, Do: r.invocation(f.get("do"), "do"), Undo: r.invocation(f.get("undo"), "undo"),
			Timeout: f.duration("timeout", defaultCallTimeout)}
	case RedisRefuses:
		h.With = refusals[f.word("with", "out-of-memory", slices.Sorted(maps.Keys(refusals))...)]
	}
}

func (r *dayReader) edit(f fields, h *Happening) {
	var name string
	if n := f.get("control"); n != nil {
		name, h.Control = r.controlNamed(n)
	}
	n := f.get("to")
	text, ok := r.raw(n, "to")
	if h.Control == nil || !ok || text == "absent" {
		return
	}
	v, wrong := h.Control.parse(text)
	if wrong != nil {
		r.blame(n, "control "+name, wrong)
	}
	h.To = &v
}

// checkOrder requires that the step or control of an order is one of the runbook.
func (r *dayReader) checkOrder(f fields, h *Happening) {
	n := f.get("step")
	switch h.Order {
	case "skip", "undo", "keep", "take":
		if n == nil {
			r.fail(f.at, "write step: NAME", "%s needs a step", h.Order)
		} else if r.day.Book.Step(h.Step) == nil {
			r.fail(n.pos, suggest(h.Step, r.stepNames(), ""), "the runbook has no step %s", quote(h.Step))
		}
	case "adopt", "put-back":
		if n == nil {
			r.fail(f.at, "write step: CONTROL", "%s needs a control", h.Order)
		} else {
			r.controlNamed(n)
		}
	}
}

func (r *dayReader) stepNames() []string {
	var names []string
	for step := range r.day.Book.Steps() {
		names = append(names, step.Name)
	}
	return names
}

// fault hands an event of the service to who knows it.
func (r *dayReader) fault(n *node, h *Happening) bool {
	if !slices.Contains(r.names.Faults, h.Event) {
		known := slices.Clone(r.names.Faults)
		for _, e := range DayEvents {
			known = append(known, e.Name)
		}
		hint := suggest(h.Event, known, "docs/gamedays.md lists them")
		r.fail(n.find("event").pos, hint, "there is no event %s", quote(h.Event))
		return false
	}
	for _, e := range n.entries {
		if slices.Contains(headKeys, e.key) {
			continue
		}
		if text, ok := r.raw(e.value, e.key); ok {
			h.Keys = append(h.Keys, EventKey{Pos: e.value.pos, Key: e.key, Value: text})
		}
	}
	problems := r.names.Fault(h)
	r.problems = append(r.problems, problems...)
	return len(problems) == 0
}
