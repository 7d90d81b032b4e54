package steps

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/actions/controls"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// TestRules walks runbooks in scripted worlds. Each file of testdata/rules is one rule
// or theme; what is expected there is what the rule demands.
//
// Commands:
//
//	runbook [approve=manual] [through=STAGE] [calls=auto] [redis=down] [commander=RUN] [over=(RUN,AGO)]
//	                                                        begins a run of the (completed) runbook below it
//	probe NAME VALUE... | reason=R | frozen [after=D]       what a probe answers from now on
//	react CONTROL=RAW PROBE VALUE [after=D]                 a signal that follows a control
//	service [silent] [lag=D] [stuck=N]                      how processes obey
//	prometheus up|down|skew=D
//	redis down|up|lost|unanswered|refused|full|has-room|taken-over|loses-data|replicates|fails-over|expires D|set CONTROL=RAW|left-by=RUN CONTROL=RAW|commander=RUN|commanded-by=RUN
//	disk full [emergency]
//	walk D                                                  drives for so long; prints a line a record
//	order KIND [STEP] [TEXT...] [by=WHO]                    what a person says; approve takes plan, ladder, stage or reading
//	      handover WHO D REASON
//	      id=ID [proof=acl|claimed] [waited=D]              from elsewhere
//	call STEP ok|fail                                       how a call ended
//	kill, resume                                            another process goes on
//	takeover                                                another run takes the command
//	show readings|question|blocking|costs|controls|commander|holds|lifts|unmade|overrides
func TestRules(t *testing.T) {
	datadriven.Walk(t, "testdata/rules", func(t *testing.T, path string) {
		var w *walker
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "runbook" {
				w = beginWalk(t, d)
			} else if err := w.command(d); err != nil {
				fmt.Fprintf(&w.out, "error: %v\n", err)
			}
			defer w.out.Reset()
			return w.out.String()
		})
	})
}

func beginWalk(t *testing.T, d *datadriven.TestData) *walker {
	w := newWalker(t, mustParse(t, d.Input))
	through := ""
	for _, arg := range d.CmdArgs {
		switch arg.Key {
		case "approve":
			w.approve = ApproveMode(arg.Vals[0])
		case "through":
			through = arg.Vals[0]
		case "calls":
			w.autoCalls = true
		case "redis":
			w.redis.down = arg.Vals[0] == "down"
		case "over":
			w.over = &Over{Run: arg.Vals[0], Reason: "ana does not answer", Began: w.overBegan(arg.Vals)}
		case "commander":
			w.redis.server.HSet("rewarm:{catalog}:commander", "run", arg.Vals[0], "actor", "ben", "host", "ops-2", "fence", "99",
				"since", "1", "until", strconv.FormatInt(w.clock.now.Add(time.Hour).UnixMilli(), 10))
		default:
			d.Fatalf(t, "unknown argument %s", arg)
		}
	}
	w.rights.doc = w.doc
	if err := w.begin(through); err != nil {
		fmt.Fprintf(&w.out, "error: %v\n", err)
	}
	return w
}

// overBegan is when the run began from which it is taken over: so long before, where that is given.
func (w *walker) overBegan(over []string) time.Time {
	if len(over) < 2 {
		return time.Time{}
	}
	return w.clock.now.Add(-duration(over[1]))
}

func (w *walker) command(d *datadriven.TestData) error {
	words, options := argsOf(d)
	switch d.Cmd {
	case "probe":
		return w.setProbe(words, options)
	case "react":
		return w.setReaction(words, options)
	case "service":
		return w.setService(words, options)
	case "prometheus":
		return w.setPrometheus(words, options)
	case "redis":
		return w.setRedis(words, options)
	case "disk":
		w.journal.full = words[0] == "full"
		w.journal.emergency = len(words) > 1
	case "walk":
		return w.walkFor(words)
	case "order":
		return w.order(words, options)
	case "call":
		return w.finishCall(words[0], words[1] == "ok", "exit status 1")
	case "kill":
		w.machine = nil
	case "later":
		w.clock.moveTo(w.clock.now.Add(duration(words[0])))
	case "resume":
		return w.resume()
	case "takeover":
		return w.takeOver()
	case "show":
		return w.show(words[0])
	default:
		return errNotHere
	}
	return nil
}

func argsOf(d *datadriven.TestData) (words []string, options map[string]string) {
	options = map[string]string{}
	for _, a := range d.CmdArgs {
		if len(a.Vals) == 0 {
			words = append(words, a.Key)
		} else {
			options[a.Key] = a.Vals[0]
		}
	}
	return words, options
}

func duration(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil {
		panic(err)
	}
	return d
}

func (w *walker) setProbe(words []string, options map[string]string) error {
	s, p := w.signal(words[0]), point{at: w.clock.now}
	if w.clock.now.Equal(start) {
		p.at = start.Add(-time.Second) // the world was like this before the run began
	}
	if after, ok := options["after"]; ok {
		p.at = p.at.Add(duration(after))
	}
	if len(words) > 1 && words[1] == "frozen" {
		s.frozen = p.at
		return nil
	}
	s.frozen = time.Time{}
	for _, v := range words[1:] {
		p.values = append(p.values, number(v))
	}
	p.reason = probes.Reason(options["reason"])
	s.set(p)
	return nil
}

func (w *walker) setReaction(words []string, options map[string]string) error {
	r := reaction{probe: words[0], values: []float64{number(words[1])}}
	for key, v := range options {
		if key == "after" {
			r.after = duration(v)
		} else {
			r.control, r.raw = key, v
		}
	}
	w.react = append(w.react, r)
	return nil
}

func (w *walker) setService(words []string, options map[string]string) error {
	w.service = service{processes: 3, silent: len(words) > 0 && words[0] == "silent"}
	if lag, ok := options["lag"]; ok {
		w.service.lag = duration(lag)
	}
	if stuck, ok := options["stuck"]; ok {
		n, err := strconv.Atoi(stuck)
		w.service.stuck = n
		return err
	}
	return nil
}

func (w *walker) setPrometheus(words []string, options map[string]string) error {
	if skew, ok := options["skew"]; ok {
		w.skew = duration(skew)
	}
	for _, word := range words {
		w.down = map[string]probes.Reason{"up": "", "down": probes.Transport}[word]
	}
	return nil
}

// leave puts values and meta into Redis as another run's flips would have; lives is the time
// that is left of what adds load.
func (w *walker) leave(options map[string]string) {
	run, until := options["left-by"], ""
	if lives, ok := options["lives"]; ok {
		until = fmt.Sprintf(`,"until":%d`, w.clock.now.Add(duration(lives)).UnixMilli())
	}
	for control, raw := range options {
		if run == "" || control == "left-by" || control == "lives" {
			continue
		}
		w.redis.server.HSet("rewarm:{catalog}:meta", control, fmt.Sprintf(`{"version":1,"run":%q,"after":%q,"since":%d%s}`,
			run, raw, w.clock.now.Add(-time.Hour).UnixMilli(), until))
		w.redis.edit(control, raw)
	}
}

func (w *walker) setRedis(words []string, options map[string]string) error {
	if len(words) == 0 {
		if run, ok := options["commander"]; ok {
			w.redis.server.HSet("rewarm:{catalog}:commander", "run", run, "actor", "ben", "host", "ops-2", "fence", "99",
				"since", "1", "until", strconv.FormatInt(w.clock.now.Add(time.Hour).UnixMilli(), 10))
		}
		if run, ok := options["commanded-by"]; ok { // which has given it back
			lease, err := w.redis.Store.Take(context.Background(), actions.Holder{Run: run, Actor: "ben", Host: "ops-2"})
			if err != nil {
				return err
			}
			return w.redis.Store.Drop(context.Background(), lease)
		}
		w.leave(options)
		return nil
	}
	switch words[0] {
	case "down", "up":
		w.redis.down = words[0] == "down"
	case "lost", "unanswered", "refused", "full":
		w.redis.fault = words[0]
	case "has-room":
		w.redis.fault = ""
	case "taken-over": // by a run that has ended since
		h := actions.Holder{Run: "20261129T101500Z-next-0b1c", Actor: "ben", Host: "ops-2", Over: testRun, Why: "ana does not answer"}
		lease, err := w.redis.Store.Take(context.Background(), h)
		if err != nil {
			return err
		}
		return w.redis.Store.Drop(context.Background(), lease)
	case "garbage":
		w.redis.edit(words[1], "\xff\x00")
	case "huge":
		w.redis.edit(words[1], strings.Repeat("9", 40000))
	case "loses-data":
		w.redis.server.FlushAll()
	case "replicates":
		w.redis.replicate()
	case "fails-over":
		w.redis.failOver()
	case "expires":
		w.redis.server.SetTTL(controls.Keys(serviceName).Controls, duration(words[1]))
	case "set":
		for control, raw := range options {
			w.redis.edit(control, raw)
		}
	default:
		return errNotHere
	}
	return nil
}

func (w *walker) walkFor(words []string) error {
	if err := w.walk(duration(words[0])); err != nil {
		return err
	}
	if w.stopped {
		fmt.Fprintf(&w.out, "%s stopped: %s\n", w.since(), w.ended)
	}
	return nil
}

// order gives an order; approve takes the scope of an offer in the place of its digest.
func (w *walker) order(words []string, options map[string]string) error {
	o := Order{Kind: OrderKind(words[0]), By: "ben"}
	if by, ok := options["by"]; ok {
		o.By = by
	}
	rest := words[1:]
	switch o.Kind {
	case OrderApprove:
		o.Digest = rest[0]
		for _, offer := range w.machine.Question().Offers {
			if string(offer.Scope) == rest[0] {
				o.Digest = offer.Digest[:8]
			}
		}
		for _, r := range w.machine.State().Readings(w.clock.now) {
			if rest[0] == "reading" {
				o.Digest = r.Digest[:8]
			}
		}
		for _, p := range w.machine.State().plans { // one that does not wait yet
			if o.Digest == string(ScopePlan) {
				o.Digest = p.Digest[:8]
			}
		}
		rest = rest[1:]
		if len(rest) > 0 {
			o.By = rest[0]
			rest = rest[1:]
		}
	case OrderSkip, OrderTake, OrderAnswer, OrderAdopt, OrderPutBack, OrderUndo, OrderKeep, OrderReading, OrderDone:
		o.Step, rest = rest[0], rest[1:]
	}
	if o.Kind == OrderHandover {
		o.To, o.Until, rest = rest[0], w.clock.now.Add(duration(rest[1])), rest[2:]
	}
	o.Text = strings.Join(rest, " ")
	if id, ok := options["id"]; ok {
		return w.receive(o, id, options)
	}
	err := w.machine.Order(o)
	if refused, ok := err.(*RefusedOrder); ok {
		fmt.Fprintf(&w.out, "refused: %s (%s)\n", refused.Sentence, refused.Hint)
		return nil
	}
	return err
}

// receive gives an order from elsewhere and tells its receipt.
func (w *walker) receive(o Order, id string, options map[string]string) error {
	o.Origin = &Origin{ID: id, Host: "ops-9", Sent: w.clock.now, Proof: actions.Proof(options["proof"])}
	if waited, ok := options["waited"]; ok {
		o.Origin.WaitedMS = duration(waited).Milliseconds()
	}
	before := len(w.journal.records)
	receipt, err := w.machine.Receive(o)
	if err != nil {
		return err
	}
	fmt.Fprintf(&w.out, "%d more records, receipt of record %d", len(w.journal.records)-before, receipt.Seq)
	if receipt.Again {
		fmt.Fprint(&w.out, ", again")
	}
	if receipt.Refused != "" {
		fmt.Fprintf(&w.out, ": refused: %s (%s)", receipt.Refused, receipt.Hint)
	}
	fmt.Fprintln(&w.out)
	return nil
}

func (w *walker) show(what string) error {
	s := w.machine.State()
	switch what {
	case "question":
		q := w.machine.Question()
		fmt.Fprintf(&w.out, "%s %s\n", q.Step, q.Asks)
		if !q.Until.IsZero() {
			fmt.Fprintf(&w.out, "  at +%.1fs %q\n", q.Until.Sub(start).Seconds(), q.Else)
		}
		for _, o := range q.Offers {
			fmt.Fprintf(&w.out, "  %s: %s\n", o.Word, changesText(o.Covers))
		}
	case "may":
		fmt.Fprintln(&w.out, strings.Join(s.May(w.machine.Question()), ", "))
	case "bounds":
		since, out := s.OutAgain()
		switch {
		case out:
			fmt.Fprintf(&w.out, "out again since +%.1fs\n", since.Sub(start).Seconds())
		case s.Recovered != nil:
			fmt.Fprintln(&w.out, "recovered")
		default:
			fmt.Fprintln(&w.out, "not recovered")
		}
	case "blocking":
		if blocking := s.Blocking(w.clock.now); blocking != "" {
			fmt.Fprintln(&w.out, blocking)
		}
	case "readings":
		for _, r := range s.Readings(w.clock.now) {
			fmt.Fprintf(&w.out, "%s %s: %s\n", r.Ask.Probe, r.Shown(), r.Text())
		}
	case "costs":
		fmt.Fprintln(&w.out, s.Costs(w.clock.now))
	case "controls":
		fmt.Fprintln(&w.out, w.redis.values())
	case "commander":
		fmt.Fprintln(&w.out, w.redis.commander())
	case "lifts":
		for _, l := range s.Lifts() {
			fmt.Fprintf(&w.out, "%s; %s drops it", l, l.Drop())
			if stands := s.Stands(l, w.clock.now); stands != "" {
				fmt.Fprintf(&w.out, "; waits: %s", stands)
			}
			fmt.Fprintln(&w.out)
		}
	case "unmade":
		for _, l := range s.UndosNotMade("") {
			fmt.Fprintln(&w.out, l)
		}
	case "holds":
		for _, h := range s.Holds() {
			fmt.Fprintf(&w.out, "%s: %s\n", h.Cause, h.Sentence)
		}
	case "overrides":
		for _, o := range s.OverridesAt(w.clock.now) {
			fmt.Fprintf(&w.out, "%s=%s steady %s, %s since %+.1fs", o.Control, o.Value, o.Steady, o.By, o.Since.Sub(start).Seconds())
			if o.Obeyed != "" {
				fmt.Fprintf(&w.out, ", readers obey %s", o.Obeyed)
			}
			fmt.Fprintln(&w.out)
		}
	default:
		return errNotHere
	}
	return nil
}

func changesText(list []Change) string {
	var parts []string
	for _, c := range list {
		after := "absent"
		if c.After != nil {
			after = *c.After
		}
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s=%s %s", c.Control, after, c.Unit)))
	}
	return strings.Join(parts, ", ")
}

var (
	_ Prober   = (*walker)(nil)
	_ Controls = (*redisServer)(nil)
	_          = actions.RenewEvery
	_          = runbook.Releasing
)
