package cli

import (
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
}

func (p *program) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status [RUN]",
		Short: "Say where a run stands and what is still flipped, since when, by whom",
		Long: `Reads the log of a run, by default the latest, and says what blocks it, what is owed
and which controls are not at their steady value.`,
		Args: atMost(1, "status [RUN]"),
		RunE: func(_ *cobra.Command, args []string) error { return p.status(append(args, "last")[0]) },
	}
}

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
	l := listed{Run: folder.run, Service: s.Service, State: s.State, Stage: s.Stage, Began: state.BegunAt.UTC(), Overrides: len(s.Overrides), Lab: s.Lab}
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
		text += l.Service + " " + l.Stage
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
