package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/steps"
)

const orderLong = `

The order goes through Redis to the process that walks RUN, wherever that is, and becomes
one record there. This command waits for the answer and prints it: exit code 0 when it was
followed, 1 when it was refused or not sent, 3 when nobody has answered.

RUN is found by its log on this machine; the latest walk is called last. Where it is walked
elsewhere, give --service and --redis; then last is the run that commands the service now.`

// orderWord is an order as a command: its word, what follows the run, and how that is read.
type orderWord struct {
	word, form, means string
	kind              steps.OrderKind
	read              func(words []string) (steps.Order, error)
}

// use is how the command is written.
func (o orderWord) use() string { return strings.TrimSpace(o.word + " RUN " + o.form) }

// orderCommands are the words that can be typed where a run is walked, as commands that
// can be given anywhere.
func (p *program) orderCommands() []*cobra.Command {
	approve := p.orderCommand(orderWord{wordApprove, "DIGEST", "approve what waits by its digest, at least 8 hex digits",
		steps.OrderApprove, approveArgs})
	approve.Long += `

rewarm status RUN and the screen of rewarm watch RUN show the digests of what waits: the plan
has one, and so have the wider approvals ("approve ladder", "approve rest", "approve stage"),
which are given from elsewhere by theirs.

The approval is also put where only your own user of Redis may write: that proves to a run
who approves, where it asks for a second person. Without a user it is a claim.`
	commands := []*cobra.Command{approve}
	for _, s := range spokenWords {
		o := orderWord{s.word, s.remoteForm(), s.means, s.kind, func(words []string) (steps.Order, error) {
			return s.args(words, p.clock.Now())
		}}
		if s.kind == steps.OrderHandover {
			commands = append(commands, p.handoverCommand(o))
			continue
		}
		commands = append(commands, p.orderCommand(o))
	}
	return commands
}

// remoteForm is what follows the run. An answer from elsewhere names its question.
func (s spoken) remoteForm() string {
	if s.kind == steps.OrderAnswer {
		return "STEP TEXT"
	}
	return s.form
}

// args reads what follows the run as the word does where a person types it.
func (s spoken) args(words []string, now time.Time) (steps.Order, error) {
	text := strings.Join(words, " ")
	if s.kind == steps.OrderAnswer {
		step, answer, _ := strings.Cut(text, " ")
		if answer == "" {
			return steps.Order{}, errors.New("the answer is missing")
		}
		return steps.Order{Kind: s.kind, Step: step, Text: answer}, nil
	}
	order, _, err := parseSpoken(s.word+" "+text, now)
	return order, err
}

// handoverCommand is the one word whose parts can be named, too: a shift is handed over with care.
func (p *program) handoverCommand(o orderWord) *cobra.Command {
	var to, until, reason string
	asTyped := o.read
	o.read = func(words []string) (steps.Order, error) {
		switch {
		case to+until+reason == "":
			return asTyped(words)
		case len(words) > 0 || to == "" || until == "" || reason == "":
			return steps.Order{}, errors.New("a handover has --to, --until and --reason, and nothing else")
		}
		at, err := steps.ParseUntil(until, p.clock.Now())
		return steps.Order{Kind: o.kind, To: to, Until: at, Text: reason}, err
	}
	cmd := p.orderCommand(o)
	cmd.Long += `

When the time has passed the walk asks who has the watch, and releases nothing until
somebody says so. The three can be named instead, in any order: --to, --until, --reason.`
	cmd.Flags().StringVar(&to, "to", "", "`WHO` has the watch from now on")
	cmd.Flags().StringVar(&until, "until", "", "`TIME` at which it is asked again: 8h, 06:00 (UTC), or RFC 3339")
	cmd.Flags().StringVar(&reason, "reason", "", "`TEXT` that says why")
	return cmd
}

// saysNothing reports whether an argument is empty. Where it is dropped, the next one takes its place.
func saysNothing(arg string) bool { return strings.TrimSpace(arg) == "" }

func approveArgs(words []string) (steps.Order, error) {
	if len(words) != 1 || len(words[0]) < shortDigest ||
		strings.Trim(strings.ToLower(words[0]), "0123456789abcdef") != "" {
		return steps.Order{}, errors.New("an approval names a digest of at least 8 hex digits; rewarm status RUN shows those that wait, also of a ladder or a stage")
	}
	return steps.Order{Kind: steps.OrderApprove, Digest: strings.ToLower(words[0])}, nil
}

func (p *program) orderCommand(o orderWord) *cobra.Command {
	var service string
	short := strings.ToUpper(o.means[:1]) + o.means[1:]
	cmd := &cobra.Command{
		Use: o.use(), Short: short, Long: short + "." + orderLong,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usage(errors.New("no run is given"), p.wayToWrite(o, args, service))
			case slices.ContainsFunc(args, saysNothing):
				return usage(errors.New("an argument is empty, as of a variable that is not set"), "write: rewarm "+o.use())
			}
			order, err := o.read(args[1:])
			if err != nil {
				return usage(err, p.wayToWrite(o, args, service))
			}
			return p.withWayToWrite(o, args, service, p.order(cmd.Context(), args[0], service, order))
		},
	}
	cmd.Flags().StringVar(&service, "service", "", "`NAME` of the service, for a run that is walked elsewhere")
	return cmd
}

// result is how an order ended, as `--output json` prints it.
type result struct {
	Run     string          `json:"run"`
	Order   steps.OrderKind `json:"order"`
	Outcome outcome         `json:"outcome"`
	answered
}

// outcome is what is known of an order.
type outcome string

const (
	orderDone     outcome = "done"
	orderRefused  outcome = "refused"
	orderRecalled outcome = "taken back" // nobody had read it, and nobody will
	orderUnknown  outcome = "unknown"
)

func (p *program) order(ctx context.Context, name, service string, o steps.Order) error {
	to, err := p.addressee(ctx, name, service)
	if err != nil {
		return err
	}
	if err := to.walked(ctx); err != nil {
		return err
	}
	l, err := newLetter(p.where.random, to.run, o, p.sender(to.store), p.where.host)
	if err != nil {
		return usage(err, "leave it out")
	}
	r, err := p.deliver(ctx, to, l)
	if err != nil {
		return err
	}
	return p.tellResult(to, r)
}

// sender is the name under which an order is given: that of the user of Redis, else that
// of the account on this machine, as far as it fits into a key.
func (p *program) sender(store *actions.Store) string {
	if user := store.User(); user != "" {
		return user
	}
	fits := func(r rune) rune {
		if actions.CheckUser(string(r)) != nil {
			return '-'
		}
		return r
	}
	name := strings.Map(fits, p.where.user)
	return name[:min(len(name), 64)]
}

// deliver sends an order and waits for its answer.
func (p *program) deliver(ctx context.Context, to addressee, l letter) (result, error) {
	r := result{Run: to.run, Order: l.Order, answered: answered{ID: l.ID}}
	body, err := json.Marshal(l)
	if err != nil {
		return r, err
	}
	after, err := to.store.LastAnswer(ctx, to.run)
	if err != nil {
		return r, notSent(err)
	}
	if l.needsProof() {
		if err := to.store.SendAs(ctx, l.By, string(body)); err != nil {
			return r, notSent(err)
		}
	}
	entry, err := to.store.Send(ctx, to.run, string(body))
	if err != nil && !mayHaveArrived(err) {
		return r, notSent(err)
	}
	a, came := p.awaitAnswer(ctx, to, l.ID, after)
	switch {
	case came && a.Refused != "":
		r.answered, r.Outcome = a, orderRefused
	case came:
		r.answered, r.Outcome = a, orderDone
	case p.recalled(ctx, to, entry):
		r.Outcome = orderRecalled
	default:
		r.Outcome = orderUnknown
	}
	return r, nil
}

// mayHaveArrived reports whether a failure leaves open if Redis has the order.
func mayHaveArrived(err error) bool {
	var failure *actions.Failure
	return errors.As(err, &failure) && failure.Cause == actions.NoAnswer
}

// An answer comes well within a second; a walk that waits for servers that hang needs longer.
const (
	answerPatience = 5 * time.Second
	answerEvery    = 50 * time.Millisecond
)

func (p *program) awaitAnswer(ctx context.Context, to addressee, id, after string) (answered, bool) {
	for until := p.clock.Now().Add(answerPatience); p.clock.Now().Before(until); {
		lines, last, err := to.store.Answers(ctx, to.run, after)
		if err == nil {
			after = last
		}
		for _, line := range lines {
			var a answered
			if json.Unmarshal([]byte(line), &a) == nil && a.ID == id {
				return a, true
			}
		}
		if p.clock.Wait(ctx, p.clock.Now().Add(answerEvery)) != nil {
			break
		}
	}
	return answered{}, false
}

// recalled takes back an order that nobody has read.
func (p *program) recalled(ctx context.Context, to addressee, entry string) bool {
	if entry == "" {
		return false
	}
	gone, err := to.store.Recall(ctx, to.run, entry)
	return err == nil && gone
}

func (p *program) tellResult(to addressee, r result) error {
	if p.settings.json() {
		if err := json.NewEncoder(p.out).Encode(r); err != nil {
			return err
		}
	}
	switch r.Outcome {
	case orderDone:
		if !p.settings.json() {
			fmt.Fprint(p.out, r.text())
		}
		return nil
	case orderRefused:
		return fail(exitError, fmt.Errorf("%s refused%s: %s", r.Order, inRecord(r.Seq), r.Refused), r.Hint)
	case orderRecalled:
		return fail(exitHeld, fmt.Errorf("run %s has not read it within %s; it was taken back, nothing was done", r.Run,
			answerPatience),
			"its process hangs or sleeps: see "+to.command("status", r.Run)+", and type it where the run is walked")
	}
	return fail(exitHeld, fmt.Errorf("no answer within %s: it is not known whether run %s has followed it",
		answerPatience, r.Run),
		"see "+to.command("status", r.Run)+"; where it is read later than 15 s from now it is refused, unless it is a hold or a note")
}

func (r result) text() string {
	text := fmt.Sprintf("%s: done%s of run %s\n", r.Order, inRecord(r.Seq), r.Run)
	if r.Again {
		text = fmt.Sprintf("%s: done before%s of run %s\n", r.Order, inRecord(r.Seq), r.Run)
	}
	if r.Waits != "" {
		text += oneLine(r.Waits) + "\n"
	}
	if r.Blocking != "" {
		text += "now: " + oneLine(r.Blocking) + "\n"
	}
	return text
}

func inRecord(seq uint64) string {
	if seq == 0 {
		return ""
	}
	return fmt.Sprintf(", record %d", seq)
}
