package metrics

import (
	"strings"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// Record takes a record of the run, each once and in order.
func (w *Walk) Record(record audit.Record, body any) {
	w.seq.Set(float64(record.Seq))
	w.broken.Set(truth(record.Emergency))
	w.goOn(record.T)
	switch b := body.(type) {
	case *steps.Begun:
		w.begun.Set(seconds(record.At))
		file, host := strings.ToValidUTF8(b.File, "?"), strings.ToValidUTF8(b.Host, "?")
		w.info.WithLabelValues(file, b.Version, host, string(b.Approve)).Set(1)
	case *steps.StageBody:
		w.enter(b.Stage)
	case *steps.Observed:
		w.observed(b)
	case *steps.Approved:
		w.approvals.WithLabelValues(b.How).Inc()
	case *steps.Settled:
		w.settled(b)
	case *steps.Recovered:
		w.mu.Lock()
		w.recovered, w.recovery = true, time.Duration(b.TookMS)*time.Millisecond
		w.mu.Unlock()
	}
}

// goOn lets the recovery clock go on to a moment of the run.
func (w *Walk) goOn(runMS int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.recovered {
		w.recovery = time.Duration(runMS) * time.Millisecond
	}
}

func (w *Walk) enter(stage string) {
	for s := runbook.DeclareMode; s <= runbook.Reconcile; s++ {
		w.stage.WithLabelValues(s.String()).Set(truth(s.String() == stage))
	}
}

func (w *Walk) observed(b *steps.Observed) {
	for i := range b.Answers {
		if reason := b.Answers[i].Reason; reason != "" {
			w.unanswered.WithLabelValues(string(reason)).Inc()
		}
	}
	for _, gate := range b.Gates {
		kind, _, _ := strings.Cut(gate.Gate, " ")
		w.verdicts.WithLabelValues(kind, gate.Verdict).Inc()
	}
	if b.Redis != "" {
		w.redisErrors.Inc()
	}
}

func (w *Walk) settled(b *steps.Settled) {
	if b.Result == steps.ResultNothing {
		return
	}
	w.flips.WithLabelValues(string(b.Plan.Direction), string(b.Result)).Inc()
	if b.Result == steps.ResultUnknown || b.Result == steps.ResultUnreached {
		w.redisErrors.Inc()
	}
}

// Stand takes the state of the run as it is after the latest record.
func (w *Walk) Stand(s *steps.State) {
	w.within.Set(s.Doc.RecoverWithin.Seconds())
	w.owed.Set(float64(len(s.Owed())))
	w.overrides.Set(float64(len(s.Overrides())))
	w.broken.Set(truth(s.Broken))
	w.holds.Set(float64(len(s.Holds())))
	var holds []moment
	for _, hold := range s.Holds() {
		holds = append(holds, moment{[]string{hold.Cause}, hold.Since})
	}
	w.holdSince.replace(holds...)
	var entered []moment
	if step := s.CurrentStep(); step != nil {
		entered = append(entered, moment{[]string{step.Stage.String(), step.Name}, s.Step(step.Name).EnteredAt})
	}
	w.stepSince.replace(entered...)
}

// seconds is a moment as Prometheus has it.
func seconds(at time.Time) float64 { return float64(at.UnixMilli()) / 1000 }
