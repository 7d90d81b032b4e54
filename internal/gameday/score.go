package gameday

import (
	"slices"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// scoreboard is what a day has brought so far. Moments are times of the day, and have come
// when they are above zero.
type scoreboard struct {
	w                 *world
	modelled          bool // the service has figures of its own
	first, latest     lab.Figures
	declared, guarded time.Duration
	recovered, closed time.Duration
	aborted           time.Duration
	holding           time.Time // since when the exit has held, without a walk
	waited            float64
	worstDemand       int
	worstQueue        float64
	holds, words      int
	held, persons     time.Duration
	deeds             []Deed
	waits             []Wait
	counting          bool // demand counts from now on
}

func newScoreboard(w *world) *scoreboard {
	f, known := w.ground.figures()
	return &scoreboard{w: w, first: f, latest: f, modelled: known}
}

// second takes the figures of a second.
func (s *scoreboard) second() {
	now, known := s.w.ground.figures()
	if known && now.At-s.latest.At >= second {
		s.demand(now)
		s.latest = now
	}
}

// demand keeps the worst, from when somebody could do something about it: at the first
// release, or when nobody releases anything, when the operator has reacted.
func (s *scoreboard) demand(now lab.Figures) {
	if !s.counting {
		s.counting = s.guarded > 0 || !s.w.walks() && s.w.elapsed() > s.w.day.Operator.Reacts
		return
	}
	asked := int(float64(now.Attempts-s.latest.Attempts) / (now.At - s.latest.At).Seconds())
	s.worstDemand = max(s.worstDemand, asked)
	s.worstQueue = max(s.worstQueue, now.QueueAge)
	s.waited += float64(now.Waiting) * (now.At - s.latest.At).Seconds()
}

// spend books a time to what the walk waits for.
func (s *scoreboard) spend(d time.Duration) {
	run := s.w.run()
	switch {
	case run == nil || run.machine == nil || run.stopped:
	case run.question.Asks != "" || len(run.question.Offers) > 0:
		s.persons += d
		s.waits = addWait(s.waits, run.question.Step, d.Seconds())
	case len(run.machine.State().Holds()) > 0:
		s.held += d
	}
}

// record takes what follows from a record of the run.
func (s *scoreboard) record(record audit.Record, body any) {
	now := s.w.elapsed()
	if d, is := deedOf(body); is {
		if d.Seconds = now.Seconds(); d.said() {
			d.By = record.Actor
		}
		if s.deeds = append(s.deeds, d); s.w.options.person && d.word() {
			s.words++
		}
	}
	switch b := body.(type) {
	case *steps.ConfirmedBody:
		if len(b.Modes) > 0 && s.declared == 0 {
			s.declared = now
		}
	case *steps.StageBody:
		stage, known := runbook.ParseStage(b.Stage)
		if known && !stage.Protects() && s.guarded == 0 {
			s.guarded = now
		}
	case *steps.Held:
		if !b.Lifted && !s.stops(b) {
			s.holds++
		}
	case *steps.Recovered:
		s.recovered = b.RecoveredAt.Sub(s.w.began)
	}
	s.ending(now)
}

// stops reports whether it is the hold with which a process leaves its walk, which holds nothing up.
func (s *scoreboard) stops(b *steps.Held) bool {
	state := s.w.run().machine.State()
	if state == nil || state.Stopped() == nil {
		return false
	}
	return state.Stopped().Cause == b.Cause
}

func (s *scoreboard) ending(now time.Duration) {
	run := s.w.run()
	if run.machine == nil || run.machine.State() == nil {
		return
	}
	switch run.machine.State().Ending {
	case steps.EndedClosed:
		s.closed = now
	case steps.EndedAborted:
		s.aborted = now
	}
}

// exit takes a second's verdict on the exit, where nobody walks.
func (s *scoreboard) exit(verdict probes.Verdict) {
	now := s.w.clock.Now()
	switch exit := s.w.day.Book.Exit; {
	case verdict != probes.Pass:
		s.holding = time.Time{}
	case s.holding.IsZero():
		s.holding = now
	case s.recovered == 0 && now.Sub(s.holding) >= time.Duration(exit.Intervals)*exit.Interval:
		s.recovered = s.w.elapsed()
	}
}

// ended is when nothing more was to be done on this day.
func (s *scoreboard) ended() (time.Time, bool) {
	at := max(s.closed, s.aborted)
	if !s.w.walks() {
		at = s.recovered
	}
	return s.w.began.Add(at), at > 0
}

// figure gives one figure of the scorecard; false when it has not come.
func (s *scoreboard) figure(name string) (float64, bool) {
	moment := func(d time.Duration) (float64, bool) { return d.Seconds(), d > 0 }
	switch name {
	case "declared":
		return moment(s.declared)
	case "protected":
		return moment(s.guarded)
	case "recovered":
		return moment(s.recovered)
	case "closed":
		return moment(s.closed)
	}
	if !ofService(name) {
		return s.ofRun(name)
	}
	if !s.modelled {
		return 0, false
	}
	switch name {
	case "worst-demand":
		return float64(s.worstDemand), s.counting
	case "worst-queue":
		return s.worstQueue, s.counting
	case "waited":
		return s.waited, s.counting
	case "stale-reads":
		return float64(s.latest.DeclaredStale - s.first.DeclaredStale), true
	case "lost-reads":
		return float64(s.latest.Rejected + s.latest.Errors - s.first.Rejected - s.first.Errors), true
	}
	return 0, false
}

// ofService reports whether a figure is of the lab's service, and not of the walk.
func ofService(score string) bool {
	return slices.Contains([]string{"worst-demand", "worst-queue", "waited", "stale-reads", "lost-reads"}, score)
}

// ofRun gives a figure that follows from the walk alone.
func (s *scoreboard) ofRun(name string) (float64, bool) {
	switch name {
	case "holds":
		return float64(s.holds), true
	case "held":
		return s.held.Seconds(), true
	case "persons":
		return s.persons.Seconds(), true
	case "words":
		return float64(s.words), true
	case "left":
		return s.left()
	}
	return 0, false
}

// left is how many controls of the run are not steady.
func (s *scoreboard) left() (float64, bool) {
	run := s.w.run()
	if run == nil || run.machine == nil || run.machine.State() == nil {
		return 0, false
	}
	return float64(len(run.machine.State().Overrides())), true
}
