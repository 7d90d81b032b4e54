package evidence

import (
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// ledger spends the time of a run: each stretch between two records goes to what the run waited for
// behind the first of them.
type ledger struct {
	last  int64 // run time of the record before
	begun bool
	on    runbook.Stage
	goes  *int64 // where the stretch that has begun goes
	spent [runbook.StageCount + 1]StageTime
}

func newLedger() ledger { return ledger{} }

func (l *ledger) take(e entry, s *steps.State) {
	if l.begun {
		took := e.T - l.last
		l.spent[l.on].TotalMS += took
		*l.goes += took
	}
	l.begun, l.last, l.on = true, e.T, s.Stage
	stage := &l.spent[s.Stage]
	switch q, waits := s.Question(e.At); {
	case e.Kind == steps.KindIntended:
		l.goes = &stage.ActionMS
	case waits && (q.Asks != "" || len(q.Offers) > 0):
		l.goes = &stage.PersonMS
	case len(s.Holds()) > 0:
		l.goes = &stage.HeldMS
	default:
		l.goes = &stage.GateMS
	}
}

// stages gives the stages that were entered.
func (l *ledger) stages() []StageTime {
	list := []StageTime{}
	for stage := runbook.DeclareMode; stage <= runbook.Reconcile; stage++ {
		if spent := l.spent[stage]; spent.TotalMS > 0 || stage <= l.on {
			spent.Stage = stage.String()
			list = append(list, spent)
		}
	}
	return list
}
