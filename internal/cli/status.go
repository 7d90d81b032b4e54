package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rewarm/rewarm/audit"
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
	Overrides []steps.Override `json:"overrides"`
	Lab       bool             `json:"lab,omitempty"`
	Watch     *watchkeeper     `json:"watch,omitempty"` // who has the watch, where it was handed over
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
and which controls are not at their steady value. With --service it needs no log: it
says from any machine who commands the service in --redis and which of its controls are
not at their steady value, past their review or set by hand.`,
		Args: atMost(1, "status [RUN]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case service == "":
				return p.status(append(args, "last")[0])
			case len(args) > 0:
				return usage(errors.New("a run and --service are both given"), "give one of them")
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
	store, err := p.storeOf(service)
	if err != nil {
		return err
	}
	survey, err := store.Survey(ctx)
	if err != nil {
		return commandError(err)
	}
	doc, err := p.declaredFor(ctx, store, survey, service, book)
	if err != nil {
		return err
	}
	shown := surveyOf(service, survey, doc)
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

func (p *program) status(name string) error {
	folder, err := p.findRun(name)
	if err != nil {
		return err
	}
	state, err := p.fold(folder)
	if err != nil {
		return err
	}
	s := p.statusOf(folder, state)
	if p.settings.json() {
		return json.NewEncoder(p.out).Encode(s)
	}
	v := standing{state: state, now: p.asOf(state), past: notWalked(s.State)}
	fmt.Fprintf(p.out, "state %s\n", s.State)
	if v.past {
		fmt.Fprintf(p.out, "as of this run's last record, %s UTC:\n", state.LastAt.UTC().Format(time.DateTime))
	}
	fmt.Fprint(p.out, v.text(columnsOf(p.out)))
	if s.State == stateInterrupted && !s.Lab {
		fmt.Fprintf(p.out, "next: %s\n", p.command("resume", folder.run))
	}
	return nil
}

func (p *program) statusOf(folder runFolder, state *steps.State) status {
	s := status{
		Run: state.Begun.Run, Service: state.Begun.Service, Lab: state.Begun.Lab,
		State: stateOf(state, beingWritten(folder.logPath())),
		Stage: state.Stage.String(), Step: stepOf(state), Blocking: state.Blocking(p.asOf(state)),
		Owed: append([]string{}, state.Owed()...), Overrides: append([]steps.Override{}, state.Overrides()...),
	}
	if shift := state.Shift; shift != nil && state.Ending == "" {
		s.Watch = &watchkeeper{To: shift.To, Until: shift.Until, By: shift.By, Since: shift.Since.UTC(), Reason: shift.Reason}
	}
	if state.Stage == 0 {
		s.Stage = ""
	}
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

func (p *program) runsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "runs",
		Short: "List the runs of this machine, oldest first",
		Args:  exactly(0, "runs"),
		RunE:  func(*cobra.Command, []string) error { return p.runs() },
	}
}

// listed is one line of `runs --output json`.
type listed struct {
	Run       string    `json:"run"`
	Service   string    `json:"service"`
	State     runState  `json:"state"`
	Stage     string    `json:"stage"`
	Hand      bool      `json:"hand,omitempty"` // one flip by hand, and no walk
	Began     time.Time `json:"began,omitzero"`
	TookMS    int64     `json:"took_ms,omitempty"` // until it recovered
	Overrides int       `json:"overrides"`
	Lab       bool      `json:"lab,omitempty"`
	Trouble   string    `json:"trouble,omitempty"`
}

func (p *program) runs() error {
	folders, err := p.runFolders()
	if err != nil {
		return err
	}
	seen := map[runState]bool{}
	for _, folder := range folders {
		l := p.listedRun(folder)
		seen[l.State] = true
		if err := p.showListed(l); err != nil {
			return err
		}
	}
	if len(folders) == 0 && !p.settings.json() {
		fmt.Fprintln(p.out, "no runs yet; rewarm demo makes one")
	}
	switch {
	case seen[stateDamaged]:
		return quiet(exitUnverified, errors.New("a log does not verify"))
	case seen[stateUnreadable]:
		return quiet(exitError, errors.New("a log cannot be read by this version"))
	}
	return nil
}

func (p *program) listedRun(folder runFolder) listed {
	state, err := p.fold(folder)
	switch {
	case errors.Is(err, audit.ErrEmpty) || errors.Is(err, audit.ErrMissing):
		return listed{Run: folder.run, State: stateDamaged, Trouble: "it has no records"}
	case err != nil:
		return p.listedTrouble(folder, err)
	}
	s := p.statusOf(folder, state)
	l := listed{Run: folder.run, Service: s.Service, State: s.State, Stage: s.Stage, Began: state.BegunAt.UTC(), Overrides: len(s.Overrides), Lab: s.Lab,
		Hand: state.Begun.Hand != nil}
	if state.Recovered != nil {
		l.TookMS = state.Recovered.TookMS
	}
	return l
}

// listedTrouble is the row of a log that cannot be folded: which record, and why.
func (p *program) listedTrouble(folder runFolder, err error) listed {
	state := stateDamaged
	if _, damage := p.verify(folder, ""); damage == nil {
		state = stateUnreadable
	}
	first, _, _ := strings.Cut(err.Error(), "\n")
	return listed{Run: folder.run, State: state, Trouble: first}
}

func (p *program) showListed(l listed) error {
	if p.settings.json() {
		return json.NewEncoder(p.out).Encode(l)
	}
	text := fmt.Sprintf("%-44s %-11s ", l.Run, l.State)
	if l.Trouble != "" {
		text += l.Trouble
	} else {
		text += strings.TrimSpace(l.Service + " " + l.Stage)
	}
	if l.Hand {
		text += " by hand"
	}
	if l.TookMS > 0 {
		text += ", recovered in " + seconds(l.TookMS)
	}
	if l.Overrides > 0 {
		text += ", " + countOf(l.Overrides, "control") + " not at the steady value"
	}
	if l.Lab {
		text += ", on the lab"
	}
	_, err := fmt.Fprintln(p.out, oneLine(text))
	return err
}
