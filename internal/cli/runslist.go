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

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/steps"
)

func (p *program) runsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "runs",
		Short: "List the runs of this machine, oldest first",
		Long: `Lists the runs of this machine, oldest first. With --redis it takes what only the mirrors
there have of an unfinished one, and lists the runs of other machines behind.`,
		Args: exactly(0, "runs"),
		RunE: func(cmd *cobra.Command, _ []string) error { return p.runs(cmd.Context()) },
	}
}

// listed is one line of `runs --output json`.
type listed struct {
	Run     string    `json:"run"`
	Service string    `json:"service"`
	State   runState  `json:"state"`
	Stage   string    `json:"stage"`
	Hand    bool      `json:"hand,omitempty"` // one flip by hand, and no walk
	Began   time.Time `json:"began,omitzero"`
	TookMS  int64     `json:"took_ms,omitempty"` // until it recovered
	// IncidentMS is the same from when the first of the runs began that were taken over one from another.
	IncidentMS int64  `json:"incident_ms,omitempty"`
	Overrides  int    `json:"overrides"`
	TakenBy    string `json:"taken_over_by,omitempty"` // the run that has taken over: the overrides are its now
	Lab        bool   `json:"lab,omitempty"`
	Mirrored   int    `json:"mirrored,omitempty"`  // records that only the mirror in Redis has
	Elsewhere  bool   `json:"elsewhere,omitempty"` // this machine has nothing of it
	Trouble    string `json:"trouble,omitempty"`
}

func (p *program) runs(ctx context.Context) error {
	folders, err := p.runFolders()
	if err != nil {
		return err
	}
	ask := p.redisGiven()
	seen, none := map[runState]bool{}, true
	for _, folder := range folders {
		log := &runLog{folder: folder, files: p.segments(folder)}
		if ask {
			log = p.completed(ctx, log)
			ask = log.unasked == nil
			p.warnOf(log.unasked)
		}
		l := p.listedRun(log)
		seen[l.State], none = true, false
		if err := p.showListed(l); err != nil {
			return err
		}
	}
	if ask {
		others, err := p.showElsewhere(ctx, folders)
		p.warnOf(err)
		none = none && others == 0
	}
	if none && !p.settings.json() {
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

// completed is a log of this machine with what only its mirror has, as far as that can be had.
func (p *program) completed(ctx context.Context, log *runLog) *runLog {
	whole, err := p.logOf(ctx, log.folder.run, "")
	if err != nil {
		return log
	}
	return whole
}

// showElsewhere lists the runs that only Redis knows.
func (p *program) showElsewhere(ctx context.Context, here []runFolder) (count int, err error) {
	runs, err := p.allMirrored(ctx)
	if err != nil {
		return 0, err
	}
	for _, r := range runs {
		if slices.ContainsFunc(here, func(f runFolder) bool { return f.run == r.Run }) {
			continue
		}
		to, err := p.reach(r.Run, r.Service)
		if err != nil {
			return count, err
		}
		count++
		l := listed{Run: r.Run, Service: r.Service, State: to.state(ctx), Elsewhere: true}
		if by, err := to.store.TakenOver(ctx, r.Run); err == nil && by != nil && l.State == stateInterrupted {
			l.TakenBy = by.Run
		}
		if err := p.showListed(l); err != nil {
			return count, err
		}
	}
	return count, nil
}

// state is where a run stands, as the end of its mirror and the commander of its service say.
func (to addressee) state(ctx context.Context) runState {
	switch to.ending(ctx) {
	case steps.EndedClosed:
		return stateClosed
	case steps.EndedAborted:
		return stateAborted
	}
	if c, err := to.store.Commander(ctx); err == nil && c.Run == to.run && !c.Lapsed() {
		return stateRunning
	}
	return stateInterrupted
}

func (p *program) listedRun(log *runLog) listed {
	folder := log.folder
	state, err := log.fold()
	switch {
	case errors.Is(err, audit.ErrEmpty) || errors.Is(err, audit.ErrMissing):
		return listed{Run: folder.run, State: stateDamaged, Trouble: "it has no records"}
	case err != nil:
		return p.listedTrouble(folder, err)
	}
	s := p.statusOf(state, log.walked()).after(p.takenOverIn(log, state), state)
	l := listed{Run: folder.run, Mirrored: len(log.mirrored), Service: s.Service, State: s.State, Stage: s.Stage,
		Began: state.BegunAt.UTC(), Overrides: len(s.Overrides), TakenBy: s.TakenBy, Lab: s.Lab,
		Hand: state.Begun.Hand != nil}
	if state.Recovered != nil {
		l.TookMS, l.IncidentMS = state.Recovered.TookMS, state.Recovered.IncidentMS
	}
	return l
}

// listedTrouble is the row of a log that cannot be folded: which record, and why.
func (p *program) listedTrouble(folder runFolder, err error) listed {
	state := stateDamaged
	if _, damage := p.verify(folder); damage == nil {
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
		text += ", recovered in " + lasting(l.TookMS)
	}
	if l.IncidentMS > 0 {
		text += " (" + lasting(l.IncidentMS) + " with what it took over)"
	}
	if l.Overrides > 0 {
		text += ", " + countOf(l.Overrides, "control") + " not at the steady value"
	}
	if l.TakenBy != "" {
		text += " when run " + l.TakenBy + " took over"
	}
	if l.Lab {
		text += ", on the lab"
	}
	if l.Mirrored > 0 {
		text += ", " + countOf(l.Mirrored, "record") + " of it only in redis"
	}
	if l.Elsewhere {
		text += ", of another machine"
	}
	_, err := fmt.Fprintln(p.out, oneLine(text))
	return err
}
