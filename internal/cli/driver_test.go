package cli

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// scripted is a machine that gives prepared moves and takes down what it is told. It
// refuses to be touched by two at once, as the real one would be broken by it.
type scripted struct {
	t       *testing.T
	moves   []steps.Move
	state   *steps.State
	orders  []steps.Order
	calls   []steps.CallDone
	held    []string
	refuse  *steps.RefusedOrder
	told    func(steps.Order) // may be nil
	touched chan struct{}
}

func newScripted(t *testing.T, moves ...steps.Move) *scripted {
	doc := &runbook.Document{Name: "book", Probes: []runbook.Probe{{Name: "queue-age"}}}
	doc.Stages[0] = runbook.StagePlan{Stage: runbook.DeclareMode, Steps: []runbook.Step{
		{Name: "declare", Confirm: &runbook.Confirm{Ask: "Which?", Modes: true, After: 20 * time.Second, Else: "undeclared"}},
		{Name: "reason", Confirm: &runbook.Confirm{Ask: "Why?"}},
	}}
	return &scripted{t: t, moves: moves, state: &steps.State{Doc: doc, Begun: steps.Begun{Run: "RUN"}}, touched: make(chan struct{}, 1)}
}

func (m *scripted) touch() func() {
	select {
	case m.touched <- struct{}{}:
	default:
		m.t.Error("two goroutines use the machine at once")
	}
	return func() { <-m.touched }
}

func (m *scripted) Step(context.Context) (steps.Move, error) {
	defer m.touch()()
	if len(m.moves) == 0 {
		return steps.Stop{Ending: steps.EndedClosed}, nil
	}
	move := m.moves[0]
	m.moves = m.moves[1:]
	return move, nil
}

func (m *scripted) Order(o steps.Order) error {
	defer m.touch()()
	m.orders = append(m.orders, o)
	if m.told != nil {
		m.told(o)
	}
	if m.refuse != nil {
		return m.refuse
	}
	return nil
}

func (m *scripted) Receive(o steps.Order) (steps.Receipt, error) {
	err := m.Order(o)
	var refused *steps.RefusedOrder
	if errors.As(err, &refused) {
		return steps.Receipt{Seq: uint64(len(m.orders)), Refused: refused.Sentence, Hint: refused.Hint}, nil
	}
	return steps.Receipt{Seq: uint64(len(m.orders))}, err
}

func (m *scripted) Called(d steps.CallDone) error {
	defer m.touch()()
	m.calls = append(m.calls, d)
	return nil
}

func (m *scripted) HoldFor(cause, sentence string) error {
	m.held = append(m.held, cause+": "+sentence)
	return nil
}

func (m *scripted) State() *steps.State { return m.state }

var approval = steps.Question{
	Step: "warm",
	Offers: []steps.Offer{
		{Scope: steps.ScopePlan, Digest: "aaaaaaaaaaaa", Word: "approve"},
		{Scope: steps.ScopeLadder, Digest: "bbbbbbbbbbbb", Word: "approve ladder"},
	},
}

// attended drives a machine as if a person had been shown a question after line 10.
func attended(t *testing.T, q steps.Question) (*driver, *scripted, *bytes.Buffer) {
	said := &bytes.Buffer{}
	m := newScripted(t)
	d := &driver{machine: m, clock: wallClock{}, mail: &mailbox{}, person: &terminal{}, say: printableWriter{said}, actor: "ana", blocking: "expect warm"}
	if key := q.Key(); key != "" {
		d.asked = asked{question: q, key: key, after: 10}
	}
	return d, m, said
}

func TestTypedLines(t *testing.T) {
	confirm := steps.Question{Step: "reason", Asks: "Why?"}
	modes := steps.Question{Step: "declare", Asks: "Which?", Modes: true, Else: "undeclared"}
	tests := []struct {
		name  string
		asks  steps.Question
		line  typedLine
		order string // kind step digest text, "" for none
		says  string
	}{
		{"the word", approval, typedLine{text: "approve", number: 11}, "approve warm aaaaaaaaaaaa ", ""},
		{"a wider word", approval, typedLine{text: "Approve  Ladder", number: 11}, "approve warm bbbbbbbbbbbb ", ""},
		{"typed ahead", approval, typedLine{text: "approve", number: 10}, "", "it was begun before the question appeared"},
		// https://github.com/charmbracelet/bubbletea/issues/404
		{"pasted", approval, typedLine{text: "approve", number: 11, burst: tooFast}, "", "that does not count: it was pasted, or came faster than a hand types"},
		{"pasted with others", approval, typedLine{text: "approve", number: 11, burst: severalLines}, "", "that does not count: several lines came at once"},
		{"yes is no word", approval, typedLine{text: "y", number: 11}, "", "not understood"},
		{"what counts is said", approval, typedLine{text: "yes", number: 11}, "",
			"what counts now: approve, approve ladder, hold, abort, note TEXT, status, help"},
		{"more than the word", approval, typedLine{text: "approve ladder now", number: 11}, "", `"approve ladder now" is not on offer; what counts now: approve, approve ladder,`},
		{"a wider word that is not offered", approval, typedLine{text: "approve stage", number: 11}, "", `"approve stage" is not on offer`},
		{"by digest", approval, typedLine{text: "approve BBBBBBBB", number: 11}, "approve warm bbbbbbbbbbbb ", ""},
		{"by more of the digest", approval, typedLine{text: "approve bbbbbbbbbb", number: 11}, "approve warm bbbbbbbbbbbb ", ""},
		{"by a digest that is too short", approval, typedLine{text: "approve bbbb", number: 11}, "", "not on offer"},
		{"by another digest", approval, typedLine{text: "approve cccccccc", number: 11}, "", "not on offer"},
		{"a digest typed ahead", approval, typedLine{text: "approve bbbbbbbb", number: 9}, "", "it was begun before the question appeared"},
		{"a digest alone", approval, typedLine{text: "bbbbbbbb", number: 11}, "", "not understood"},
		{"the word without a question", steps.Question{}, typedLine{text: "approve", number: 11}, "", "nothing waits for an approval now: expect warm"},
		{"the word is no answer", confirm, typedLine{text: "approve", number: 11}, "", "nothing waits for an approval now"},
		{"nothing", approval, typedLine{number: 11}, "", "approve         this plan (aaaaaaaa)\n"},
		{"nothing where nothing is asked", steps.Question{}, typedLine{}, "", "nothing is asked; what counts now: hold"},
		{"hold at any time", steps.Question{}, typedLine{text: "hold the line", number: 1}, "hold   the line", ""},
		{"hold typed ahead and pasted", approval, typedLine{text: "HOLD", number: 1, burst: severalLines}, "hold   ", ""},
		{"abort pasted", approval, typedLine{text: "abort too late", number: 1, burst: severalLines}, "hold   abort was given: too late",
			"held, not aborted: several lines came at once; type abort by hand to end the walk, or release to go on"},
		{"abort typed ahead", approval, typedLine{text: "abort too late", number: 1}, "abort   too late", ""},
		{"a bare keep", approval, typedLine{text: "keep", number: 11}, "", "hint: no undo waits"},
		{"a paste is told what counts", approval, typedLine{text: "approve", number: 11, burst: tooFast}, "", "than a hand types; type it"},
		{"release pasted", approval, typedLine{text: "release", number: 11, burst: severalLines}, "", "several lines came at once"},
		{"skip", steps.Question{}, typedLine{text: "skip warm not wanted today"}, "skip warm  not wanted today", ""},
		{"skip without a reason", steps.Question{}, typedLine{text: "skip warm"}, "", "refused: type skip STEP REASON"},
		{"take", steps.Question{}, typedLine{text: "take no-retries"}, "take no-retries  ", ""},
		{"take two", steps.Question{}, typedLine{text: "take a b"}, "", "refused: take takes one name and no reason: type take STEP"},
		{"adopt", steps.Question{}, typedLine{text: "adopt origin.admission"}, "adopt origin.admission  ", ""},
		{"put back", steps.Question{}, typedLine{text: "put-back origin.admission"}, "put-back origin.admission  ", ""},
		{"note", steps.Question{}, typedLine{text: "note called the on-call of search"}, "note   called the on-call of search", ""},
		{"help", approval, typedLine{text: "help"}, "", "skip STEP REASON"},
		{"help has the approvals", approval, typedLine{text: "help"}, "", "  approve DIGEST         the same by its digest"},
		{"an answer", confirm, typedLine{text: "we lost a cell", number: 11}, "answer reason  we lost a cell", ""},
		{"an answer by its word", confirm, typedLine{text: "answer abort was typed", number: 11}, "answer reason  abort was typed", ""},
		{"an answer like an abort", confirm, typedLine{text: "Abort was discussed with Anna, no", number: 11}, "",
			`not taken: it may be the answer or an order; type "answer abort …" for the answer, "abort! …" for the order`},
		{"one that was pasted", confirm, typedLine{text: "abort was discussed", number: 11, burst: tooFast}, "", "not taken: it may be"},
		{"like a release", confirm, typedLine{text: "release was done by hand", number: 11}, "", `"release! …" for the order`},
		{"like a skip", confirm, typedLine{text: "skip this, nothing was done", number: 11}, "", `"skip! …" for the order`},
		{"like a take", confirm, typedLine{text: "take it easy", number: 11}, "", `"take! …" for the order`},
		{"like a handover", confirm, typedLine{text: "handover to Anna was done", number: 11}, "", `"handover! …" for the order`},
		{"like an approval", confirm, typedLine{text: "approve was said by Anna", number: 11}, "", `"answer approve …"`},
		{"a brake alone while text is asked", confirm, typedLine{text: "abort", number: 11}, "abort   ", ""},
		{"a brake for certain", confirm, typedLine{text: "abort! it gets worse", number: 11}, "abort   it gets worse", ""},
		{"an exclamation", confirm, typedLine{text: "hold!", number: 11}, "hold   ", ""},
		{"a brake from before the question", confirm, typedLine{text: "hold the line", number: 10}, "hold   the line", ""},
		{"a skip of a step", confirm, typedLine{text: "skip reason not known", number: 11}, "skip reason  not known", ""},
		{"like a reading", confirm, typedLine{text: "reading the graphs showed nothing", number: 11}, "", `"reading! …" for the order`},
		{"a reading of a probe", confirm, typedLine{text: "reading queue-age 400ms until 10m from grafana", number: 11}, "reading queue-age  400ms until 10m from grafana", ""},
		{"a handover with a time", confirm, typedLine{text: "handover ben 8h shift ends", number: 11}, "handover   shift ends", ""},
		{"a remark while text is asked", confirm, typedLine{text: "note ben knows", number: 11}, "note   ben knows", ""},
		{"a brake while modes are asked", modes, typedLine{text: "abort it gets worse", number: 11}, "abort   it gets worse", ""},
		{"a brake while an approval is asked", approval, typedLine{text: "abort it gets worse", number: 11}, "abort   it gets worse", ""},
		{"an answer typed ahead", confirm, typedLine{text: "we lost a cell", number: 10}, "", "before the question appeared"},
		{"an answer to nothing", steps.Question{}, typedLine{text: "answer 42"}, "", "nothing is asked that takes an answer"},
		{"modes by number", modes, typedLine{text: "2, 1 2", number: 11}, "answer declare  cell-loss, synchronized-expiry", ""},
		{"modes by name", modes, typedLine{text: "Hot-Shard", number: 11}, "answer declare  hot-shard", ""},
		{"no such mode", modes, typedLine{text: "9", number: 11}, "", "there is no mode number 9, they run from 1 to 8"},
		{"no mode", modes, typedLine{text: "loss", number: 11}, "", `"loss" is no mode; they are 1 synchronized-expiry, 2 cell-loss, `},
		{"a mode in two words", modes, typedLine{text: "Cell loss, 1", number: 11}, "answer declare  cell-loss, synchronized-expiry", ""},
		// https://github.com/kubernetes/kubernetes/issues/101695
		{"escapes", approval, typedLine{text: "\x1b[2Japprove\u202e", number: 11}, "", `\x1b[2Japprove\u202e`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d, m, said := attended(t, test.asks)
			if err := d.typed(test.line); err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, o := range m.orders {
				got += string(o.Kind) + " " + o.Step + " " + o.Digest + " " + o.Text
				if o.By != "ana" {
					t.Errorf("ordered by %q", o.By)
				}
			}
			if got != test.order {
				t.Errorf("ordered %q, want %q", got, test.order)
			}
			if !strings.Contains(said.String(), test.says) {
				t.Errorf("said %q, want %q in it", said, test.says)
			}
			if strings.ContainsFunc(said.String(), hidden) {
				t.Errorf("said something raw: %q", said)
			}
		})
	}
}

// TestAbortFromABurst: a walk is not given up by what was pasted. It is held at once, and the word is asked for again:
// it counts once a hand has typed it, and never when it is pasted, however often.
// https://github.com/charmbracelet/bubbletea/issues/404
func TestAbortFromABurst(t *testing.T) {
	for name, test := range map[string]struct {
		later typedLine
		last  steps.OrderKind
	}{
		"typed":        {typedLine{text: "abort", number: 3}, steps.OrderAbort},
		"pasted again": {typedLine{text: "abort", number: 3, burst: tooFast}, steps.OrderHold},
	} {
		t.Run(name, func(t *testing.T) {
			d, m, _ := attended(t, steps.Question{})
			burst := &terminal{}
			burst.read.Store(2)
			d.person = burst
			for _, line := range []typedLine{{text: "abort", number: 1, burst: severalLines}, {text: "abort", number: 2, burst: severalLines}, test.later} {
				if err := d.typed(line); err != nil {
					t.Fatal(err)
				}
			}
			var kinds []steps.OrderKind
			for _, o := range m.orders {
				kinds = append(kinds, o.Kind)
			}
			if want := []steps.OrderKind{steps.OrderHold, steps.OrderHold, test.last}; !slices.Equal(kinds, want) {
				t.Errorf("ordered %v, want %v", kinds, want)
			}
		})
	}
}

func TestRefusedOrderIsSaid(t *testing.T) {
	d, m, said := attended(t, steps.Question{})
	m.refuse = &steps.RefusedOrder{Sentence: "nothing is held", Hint: "status"}
	if err := d.typed(typedLine{text: "release"}); err != nil {
		t.Fatal(err)
	}
	if want := "rewarm: refused: nothing is held\nrewarm: hint: status\n"; said.String() != want {
		t.Errorf("said %q, want %q", said, want)
	}
}

// unattended drives a machine that nobody listens to.
func unattended(t *testing.T, m *scripted) *driver {
	return &driver{machine: m, clock: wallClock{}, mail: &mailbox{}, say: &bytes.Buffer{}, actor: "ana"}
}

func TestUnheard(t *testing.T) {
	soon := time.Millisecond
	t.Run("an approval is not waited for", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := newScripted(t, steps.Wait{Until: time.Now().Add(soon), Question: approval}, steps.Stop{Ending: steps.EndedInterrupted})
			err := unattended(t, m).walk(t.Context())
			if codeOf(err) != exitHeld || len(m.held) != 1 || !strings.HasPrefix(m.held[0], steps.CauseNoTerminal) {
				t.Errorf("error %v, held %q", err, m.held)
			}
		})
	})
	t.Run("a question with a default is", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := newScripted(t, steps.Wait{Until: time.Now().Add(soon), Question: steps.Question{Step: "declare", Asks: "Which?"}})
			if err := unattended(t, m).walk(t.Context()); err != nil || m.held != nil {
				t.Errorf("error %v, held %q", err, m.held)
			}
		})
	})
	t.Run("a question without one is not", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			m := newScripted(t, steps.Wait{Until: time.Now().Add(soon), Question: steps.Question{Step: "reason", Asks: "Why?"}}, steps.Stop{Ending: steps.EndedInterrupted})
			if err := unattended(t, m).walk(t.Context()); codeOf(err) != exitHeld {
				t.Errorf("error %v", err)
			}
		})
	})
}

// TestInboxBeforeLeaving: a walk that needs a word and has no terminal looks into its inbox
// before it leaves, and the word that lies there counts.
func TestInboxBeforeLeaving(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		needsWord := steps.Wait{Until: time.Now().Add(time.Hour), Question: approval}
		sent := steps.Order{Kind: steps.OrderApprove, Digest: "aaaaaaaa", By: "bob", Origin: &steps.Origin{ID: "a"}}
		m := newScripted(t, needsWord, steps.Stop{Ending: steps.EndedClosed})
		d := unattended(t, m)
		d.answers, d.look = func(answered) {}, func(context.Context) { d.mail.post(sent) }
		if err := d.walk(t.Context()); err != nil || m.held != nil || len(m.orders) != 1 || m.orders[0].Digest != sent.Digest {
			t.Errorf("error %v, held %q, orders %+v", err, m.held, m.orders)
		}
		m = newScripted(t, needsWord, steps.Stop{Ending: steps.EndedInterrupted})
		d = unattended(t, m)
		looks := 0
		d.look = func(context.Context) { looks++ }
		if err := d.walk(t.Context()); codeOf(err) != exitHeld || len(m.held) != 1 || looks != 1 {
			t.Errorf("error %v, held %q, %d looks", err, m.held, looks)
		}
	})
}

func TestEndings(t *testing.T) {
	for ending, want := range map[steps.Ending]exitCode{
		steps.EndedClosed: exitDone, steps.EndedAborted: exitAborted, steps.EndedInterrupted: exitInterrupted,
	} {
		m := newScripted(t, steps.Stop{Ending: ending})
		if got := codeOf(unattended(t, m).walk(t.Context())); got != want {
			t.Errorf("ending %q gives exit code %d, want %d", ending, got, want)
		}
	}
	m := newScripted(t, steps.Stop{Ending: steps.EndedInterrupted})
	m.state.Begun.Through = "protect-origin"
	if err := unattended(t, m).walk(t.Context()); err != nil {
		t.Errorf("a walk that stops where it was told to: %v", err)
	}
}

// TestMailEndsASleep: an order does not wait for the next poll.
func TestMailEndsASleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newScripted(t, steps.Wait{Until: time.Now().Add(time.Hour)}, steps.Wait{Until: time.Now().Add(time.Hour)})
		d := unattended(t, m)
		go func() {
			time.Sleep(time.Second)
			d.mail.post(interruption{"interrupt"})
			time.Sleep(time.Second)
			d.mail.post(steps.CallDone{Step: "freeze", OK: true})
		}()
		began := time.Now()
		if err := d.walk(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("the walk took %s, want 2s", took)
		}
		if len(m.orders) != 1 || m.orders[0].Kind != steps.OrderInterrupt || len(m.calls) != 1 {
			t.Errorf("orders %v, calls %v", m.orders, m.calls)
		}
	})
}

// TestWordBetweenTwoMoves: an approval that comes while the machine moves counts as soon as it waits, and a hold
// at once.
func TestWordBetweenTwoMoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newScripted(t, steps.Poll{}, steps.Poll{}, steps.Wait{Until: time.Now().Add(time.Hour), Question: approval})
		d := unattended(t, m)
		d.answers = func(answered) {}
		left := map[steps.OrderKind]int{}
		m.told = func(o steps.Order) { left[o.Kind] = len(m.moves) }
		elsewhere := &steps.Origin{ID: "1"}
		d.mail.post(steps.Order{Kind: steps.OrderApprove, Digest: "aaaaaaaa", Origin: elsewhere})
		d.mail.post(steps.Order{Kind: steps.OrderHold, Origin: elsewhere})
		if err := d.walk(t.Context()); err != nil {
			t.Fatal(err)
		}
		if left[steps.OrderHold] != 3 || left[steps.OrderApprove] != 0 {
			t.Errorf("moves that were left: %v", left)
		}
	})
}

func TestMailThatCameBeforeASleep(t *testing.T) {
	box := &mailbox{}
	box.post(terminalGone{})
	ctx, cancel := box.sleeping(t.Context())
	defer cancel()
	if ctx.Err() == nil {
		t.Error("the sleep is not ended by mail that waits")
	}
	if items := box.take(); len(items) != 1 {
		t.Errorf("took %v", items)
	}
}

func TestTerminalGone(t *testing.T) {
	d, _, _ := attended(t, approval)
	d.mail.post(terminalGone{})
	if err := d.deliver(); err != nil || d.person != nil || d.asked.key != "" {
		t.Errorf("error %v, terminal %v, asked %q", err, d.person, d.asked.key)
	}
}

// TestClockStepsAreNoted: a clock that was set and a machine that slept are in the log.
// https://github.com/agentrust-io/cmcp/issues/166
func TestClockStepsAreNoted(t *testing.T) {
	for parted, want := range map[time.Duration]string{
		10 * time.Minute:  "the wall clock has gone 10m0s ahead of the run",
		-10 * time.Minute: "the wall clock was set back by 10m0s",
		0:                 "",
	} {
		m := newScripted(t)
		d := unattended(t, m)
		d.stepped = func() (time.Duration, bool) { return parted, parted != 0 }
		if _, err := d.next(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, o := range m.orders {
			got += o.Text
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("a clock that parted by %s is noted as %q", parted, got)
		}
	}
}

func TestCodes(t *testing.T) {
	tests := []struct {
		err  error
		want exitCode
	}{
		{nil, exitDone},
		{errors.New("x"), exitError},
		{usage(errors.New("x"), ""), exitUsage},
		{errors.Join(errors.New("x"), fail(exitHeld, errors.New("y"), "")), exitHeld},
		{runbook.Problems{{Message: "x"}}, exitUsage},
		{context.Canceled, exitInterrupted},
	}
	for _, test := range tests {
		if got := codeOf(test.err); got != test.want {
			t.Errorf("%v gives %d, want %d", test.err, got, test.want)
		}
	}
}

// hanging is a machine whose moves wait for a server that does not answer.
type hanging struct{ *scripted }

func (m hanging) Step(ctx context.Context) (steps.Move, error) {
	if len(m.orders) > 0 {
		return m.scripted.Step(ctx)
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestInterruptionEndsWhatHangs: https://github.com/redis/go-redis/issues/2682
func TestInterruptionEndsWhatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, m, _ := attended(t, steps.Question{})
		d.machine = hanging{m}
		var came time.Time
		time.AfterFunc(time.Second, func() {
			came = time.Now()
			d.mail.post(typedLine{text: "note that it hangs"}) // ends no exchange
		})
		time.AfterFunc(2*time.Second, func() {
			came = time.Now()
			d.mail.post(interruption{"interrupt"})
		})
		if err := d.walk(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(came); took > lastMoment || len(m.orders) == 0 || m.orders[len(m.orders)-1].Kind != steps.OrderInterrupt {
			t.Errorf("it took %s until the machine had heard of %v", took, m.orders)
		}
	})
}
