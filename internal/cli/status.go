package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/rewarm/rewarm/steps"
)

// runState is where a run stands.
type runState string

// The states of a run.
const (
	stateRunning     runState = "running"
	stateHeld        runState = "held"
	stateRecovered   runState = "recovered" // the exit held, the walk goes on
	stateClosed      runState = "closed"
	stateAborted     runState = "aborted"
	stateInterrupted runState = "interrupted" // no process walks it; it can be resumed
	stateDamaged     runState = "damaged"     // its log does not verify
	stateUnreadable  runState = "unreadable"  // its log verifies, and this version cannot read it
)

// status is `status --output json`.
type status struct {
	Run       string           `json:"run"`
	Service   string           `json:"service"`
	State     runState         `json:"state"`
	Stage     string           `json:"stage"`
	Step      string           `json:"step"`
	Blocking  string           `json:"blocking"`
	Owed      []string         `json:"owed"`
	Undos     []undo           `json:"undos,omitempty"` // that wait for the exit and for a word
	NotMade   []undo           `json:"undos_not_made,omitempty"`
	ByHand    []string         `json:"by_hand,omitempty"`  // steps that were done by hand and are not taken back
	Readings  []reading        `json:"readings,omitempty"` // by hand, that stand
	Overrides []steps.Override `json:"overrides"`
	Approvals []statusApproval `json:"approvals,omitempty"`           // that can be given now, narrowest first
	TakenBy   string           `json:"taken_over_by,omitempty"`       // the run that has taken over: the overrides are its now
	OutSince  *time.Time       `json:"out_of_bounds_since,omitempty"` // of a service that had recovered and has left its bounds again
	Lab       bool             `json:"lab,omitempty"`
	Watch     *watchkeeper     `json:"watch,omitempty"` // who has the watch, where it was handed over
}

// statusApproval is one that a person can give now, from elsewhere by its digest.
type statusApproval struct {
	Step   string      `json:"step"`
	Scope  steps.Scope `json:"scope"`
	Digest string      `json:"digest"`
}

// offered is what waited for a word at the last record: later a poll may be due, and the walk at it.
func offered(s *steps.State) steps.Question {
	q, _ := s.Question(s.LastAt)
	return q
}

func approvalsOf(q steps.Question) []statusApproval {
	var list []statusApproval
	for _, offer := range q.Offers {
		list = append(list, statusApproval{q.Step, offer.Scope, offer.Digest})
	}
	return list
}

// undo is what a person wants put back and what still waits.
type undo struct {
	Step    string    `json:"step"`
	Control string    `json:"control,omitempty"` // missing for a call
	Back    string    `json:"back"`              // what there will be, for people
	By      string    `json:"by"`
	Reason  string    `json:"reason,omitempty"`
	Since   time.Time `json:"since"`
	Waits   string    `json:"waits,omitempty"`    // what stands before it; missing when only its word is
	NotMade string    `json:"not_made,omitempty"` // why it is not made any more; missing of one that waits
}

func undosOf(s *steps.State, now time.Time) []undo {
	var list []undo
	for _, l := range s.Lifts() {
		u := undoOf(l)
		u.Waits = s.Stands(l, now)
		list = append(list, u)
	}
	return list
}

// undosNotMade are those that a person had ordered and that wait no more, in a run that another may have taken over.
func undosNotMade(s *steps.State, takenBy string) []undo {
	var list []undo
	for _, l := range s.UndosNotMade(takenBy) {
		u := undoOf(l.Lift)
		u.NotMade = l.Why
		list = append(list, u)
	}
	return list
}

func undoOf(l steps.Lift) undo {
	return undo{Step: l.Step, Control: l.Control, Back: l.Back, By: l.By, Reason: l.Reason, Since: l.At.UTC()}
}

// watchkeeper is who has the watch over a run.
type watchkeeper struct {
	To     string    `json:"to"`
	Until  time.Time `json:"until"`
	By     string    `json:"by"`
	Since  time.Time `json:"since"`
	Reason string    `json:"reason"`
}

func (p *program) statusCommand() *cobra.Command {
	service, book := "", ""
	cmd := &cobra.Command{
		Use:   "status [RUN]",
		Short: "Say where a run stands and what is still flipped, since when, by whom",
		Long: `Reads the log of a run, by default the latest, and says what blocks it, what is owed
and which controls are not at their steady value. What only the mirror in Redis has counts too;
a run of another machine is found there with --redis. With --service and no RUN it needs no
log: it says from any machine who commands the service in --redis and which of its controls
are not at their steady value, past their review or set by hand.`,
		Args: atMost(1, "status [RUN]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case service == "" || len(args) > 0:
				return p.status(cmd.Context(), append(args, latest)[0], service)
			}
			return p.serviceStatus(cmd.Context(), service, book)
		},
	}
	cmd.Flags().StringVar(&service, "service", "", "`NAME` of a service, to be asked about in --redis")
	runbookFlag(cmd, &book)
	return cmd
}

// serviceStatus says what Redis knows of a service: who commands it and what is out of place.
func (p *program) serviceStatus(ctx context.Context, service, book string) error {
	shown, err := p.surveyed(ctx, service, book)
	if err != nil {
		return err
	}
	if p.settings.json() {
		return json.NewEncoder(p.out).Encode(shown.status())
	}
	_, err = fmt.Fprint(p.out, wrapRows(shown.rows(true), columnsOf(p.out)))
	return err
}

// status is what a survey says in the form of a run's status. Nobody knows there where the
// run stands.
func (s surveyShown) status() status {
	out := status{Service: s.Service, Owed: []string{}, Overrides: []steps.Override{}}
	if c := s.Commander; c != nil {
		out.Run, out.State = c.Run, stateRunning
		if c.Lapsed {
			out.State = stateInterrupted
		}
	}
	for _, c := range s.Controls {
		if !c.Away {
			continue
		}
		o := steps.Override{Control: c.Control, Value: c.Value, Steady: c.Steady, Since: c.Since, By: c.By, ReviewAt: c.ReviewAt, Owner: c.Owner}
		if c.Edited {
			o.By = setByHand
		}
		out.Overrides = append(out.Overrides, o)
	}
	return out
}

// setByHand stands for the run of an override that no run made.
const setByHand = "by hand"

func (p *program) status(ctx context.Context, name, service string) error {
	log, err := p.logOf(ctx, name, service)
	if err != nil {
		return err
	}
	state, err := p.foldShown(log)
	if err != nil {
		return err
	}
	log.say(p)
	over := p.takenOverIn(log, state)
	s := p.statusOf(state, log.walked()).after(over, state)
	if p.settings.json() {
		return json.NewEncoder(p.out).Encode(s)
	}
	v := standing{state: state, now: p.asOf(state), past: notWalked(s.State), over: over}
	fmt.Fprintf(p.out, "state %s\n", s.State)
	if v.past {
		fmt.Fprintf(p.out, "as of this run's last record, %s UTC:\n", state.LastAt.UTC().Format(time.DateTime))
	}
	fmt.Fprint(p.out, v.text(columnsOf(p.out)))
	if s.State == stateInterrupted && !s.Lab {
		for _, command := range p.goOnCommands(state, over) {
			fmt.Fprintf(p.out, "next: %s\n", command)
		}
	}
	return nil
}

// goOnCommands are for a run that has stopped and not ended: it goes on, or the run does that has taken over from it.
func (p *program) goOnCommands(s *steps.State, over *takenOver) []string {
	if over != nil {
		return []string{p.command("watch", over.run), p.command("status", over.run)}
	}
	return []string{p.command("resume", s.Begun.Run)}
}

func (p *program) statusOf(state *steps.State, walked bool) status {
	s := status{
		Run: state.Begun.Run, Service: state.Begun.Service, Lab: state.Begun.Lab,
		State: stateOf(state, walked),
		Stage: state.Stage.String(), Step: stepOf(state), Blocking: state.Blocking(p.asOf(state)),
		Undos:    undosOf(state, p.asOf(state)),
		ByHand:   byHandOf(state),
		Readings: readingsOf(state, p.asOf(state)),
		Owed:     append([]string{}, state.Owed()...), Overrides: append([]steps.Override{}, state.OverridesAt(p.asOf(state))...),
	}
	if shift := state.Shift; shift != nil && state.Ending == "" {
		s.Watch = &watchkeeper{To: shift.To, Until: shift.Until, By: shift.By, Since: shift.Since.UTC(), Reason: shift.Reason}
	}
	if since, out := state.OutAgain(); out && state.Ending == "" {
		since = since.UTC()
		s.OutSince = &since
	}
	if !notWalked(s.State) {
		s.Approvals = approvalsOf(offered(state))
	}
	if state.Stage == 0 {
		s.Stage = ""
	}
	return s
}

// after takes in that another run may have taken over: then nothing of this one can come any more.
func (s status) after(over *takenOver, state *steps.State) status {
	if over == nil {
		s.NotMade = undosNotMade(state, "")
		return s
	}
	s.TakenBy, s.Blocking, s.NotMade = over.run, over.sentence, undosNotMade(state, over.run)
	s.Owed, s.Undos, s.Readings, s.Approvals, s.Watch, s.OutSince = []string{}, nil, nil, nil, nil, nil
	return s
}

func stateOf(s *steps.State, walking bool) runState {
	switch {
	case s.Ending == steps.EndedClosed:
		return stateClosed
	case s.Ending == steps.EndedAborted:
		return stateAborted
	case !walking:
		return stateInterrupted
	case len(s.Holds()) > 0:
		return stateHeld
	case s.Recovered != nil:
		return stateRecovered
	}
	return stateRunning
}

// notWalked reports that no process walks a run: others may have changed its controls.
func notWalked(state runState) bool {
	return state == stateClosed || state == stateAborted || state == stateInterrupted
}

// stepOf is the step that the walk stands in: the last that was entered and is not done.
func stepOf(s *steps.State) string {
	current := ""
	for step := range s.Doc.Steps() {
		if s.Step(step.Name).Phase == steps.StepEntered {
			current = step.Name
		}
	}
	return current
}

// asOf is the time at which a state is looked at: for the lab, whose time is its own,
// that of its last record.
func (p *program) asOf(s *steps.State) time.Time {
	if s.Begun.Lab {
		return s.LastAt
	}
	return p.clock.Now()
}
