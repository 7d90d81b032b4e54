package actions

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/rewarm/rewarm/actions/controls"
)

// Holder is who wants to command.
type Holder struct {
	Run, Actor, Host string
	Fence            int64     // the highest fencing number that the run has had; 0 for a new run
	Since            time.Time // server time at which it first took the command; zero for a new run

	// Over is a run whose command is taken even though its lease is alive, and Why the
	// reason that it is told. It never commands again.
	Over, Why string

	// Process tells this process from every other, also of the same run.
	Process string
}

// Lease is the right of a run to flip controls. Run, Fence and Process are all compared
// at every flip: a Redis that falls over or comes back empty hands a number out twice, to
// two runs, or to two processes of one run on two machines.
type Lease struct {
	Run     string
	Fence   int64
	Process string
	Since   time.Time // server time at which the run first took the command
	Until   time.Time // server time at which others may take it; renewing moves it

	// Version is the highest version of the service's controls that the run has
	// seen: the next flip gets a higher one, also when Redis has forgotten it.
	Version int64
}

// Commanded says who commands instead.
type Commanded struct {
	Run, Actor, Host string
	Since, Until     time.Time // server time
	Now              time.Time // server time of the answer
	Why              string    // it has taken over from the run that asks, for this reason; "" when it has not
}

// Error names the commander.
func (c *Commanded) Error() string {
	if c.Run == "" {
		return "nobody commands this service any more"
	}
	if c.Why != "" {
		return fmt.Sprintf("run %s has taken over: %s on %s, at %s: %s",
			printable(c.Run), printable(c.Actor), printable(c.Host), c.Since.UTC().Format(time.RFC3339), printable(c.Why))
	}
	text := fmt.Sprintf("run %s commands this service: %s on %s, since %s",
		printable(c.Run), printable(c.Actor), printable(c.Host), c.Since.UTC().Format(time.RFC3339))
	if c.Until.Before(c.Now) {
		return text + ", but it has not renewed for " + c.Now.Sub(c.Until).Round(time.Second).String()
	}
	return text
}

// Take makes the holder's run the commander and gives it a new fencing number.
// A run that commands already gets a new number at once; another live one is
// answered with *Commanded, unless the holder came after it and Redis has lost that in
// a failover; anything else with *Failure. The number is higher than
// any that the holder or Redis knows of. A Take whose answer did not come can be
// repeated.
func (s *Store) Take(ctx context.Context, h Holder) (Lease, error) {
	words, err := s.write(ctx, takeScript, []string{s.keys.Commander, s.keys.Fence, s.keys.Meta},
		h.Run, h.Actor, h.Host, LeaseTime.Milliseconds(), h.Fence, h.sinceMS(), h.Over, h.Why, h.Process)
	if err != nil {
		return Lease{}, err
	}
	if words[0] == "commanded" {
		return Lease{}, commanded(words)
	}
	a := answer{words: words}
	l := Lease{Run: h.Run, Process: h.Process, Fence: a.number(1), Since: a.time(2), Until: a.time(3)}
	return l, a.err
}

func (h Holder) sinceMS() int64 {
	if h.Since.IsZero() {
		return 0
	}
	return h.Since.UnixMilli()
}

// Renew moves the end of the lease, and the dead man's time of the controls that
// this run keeps alive, to LeaseTime from now; do it every RenewEvery. Controls
// whose time was over before are returned: readers have left their values and do
// not come back to them before the next flip. *Commanded means that the run does
// not command any more.
func (s *Store) Renew(ctx context.Context, l Lease, deadMan []string) (lapsed []string, err error) {
	args := []any{l.Run, l.Fence, l.Process, LeaseTime.Milliseconds()}
	for _, c := range deadMan {
		args = append(args, c)
	}
	words, err := s.write(ctx, renewScript, []string{s.keys.Commander, s.keys.Meta}, args...)
	if err != nil {
		return nil, err
	}
	if words[0] == "commanded" {
		return nil, commanded(words)
	}
	return words[2:], nil
}

// Drop gives the command back. It is no error when the run does not command.
func (s *Store) Drop(ctx context.Context, l Lease) error {
	_, err := s.write(ctx, dropScript, []string{s.keys.Commander}, l.Run, l.Fence, l.Process)
	return err
}

// commanded reads {"commanded", run, fence, actor, host, since, until, now} and, from a
// run that has taken over, why.
func commanded(words []string) *Commanded {
	a := answer{words: words}
	c := &Commanded{
		Run: a.text(1), Actor: a.text(3), Host: a.text(4),
		Since: a.time(5), Until: a.time(6), Now: a.time(7),
	}
	if len(words) > 8 {
		c.Why = words[8]
	}
	return c
}

// answer reads the words of a script's answer and keeps the first trouble.
type answer struct {
	words []string
	err   error
}

func (a *answer) text(i int) string {
	if i >= len(a.words) {
		a.fault(i)
		return ""
	}
	return a.words[i]
}

func (a *answer) number(i int) int64 {
	n, err := strconv.ParseInt(a.text(i), 10, 64)
	if err != nil {
		a.fault(i)
	}
	return n
}

func (a *answer) time(i int) time.Time { return time.UnixMilli(a.number(i)) }

// optional reads a flag and the text behind it: nil when the flag is not 1.
func (a *answer) optional(i int) *string {
	value := a.text(i + 1)
	if a.text(i) != "1" {
		return nil
	}
	return &value
}

func (a *answer) fault(i int) {
	if a.err == nil {
		a.err = &Failure{
			Cause:    NoAnswer, // nobody knows what was done
			Sentence: fmt.Sprintf("redis gave an answer of which word %d makes no sense: %s", i+1, printable(fmt.Sprint(a.words))),
			Hint:     "see that nothing else writes the keys of package controls, " + controls.Keys("SERVICE").Commander,
		}
	}
}
