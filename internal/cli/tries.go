package cli

import (
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/steps"
)

// tries keeps a flip that Redis does not take from filling the screen: it is tried every
// two seconds with the same plan and the same answer. The records have every try.
type tries map[tryKey]said

type tryKey struct{ kind, where string }

type said struct {
	text string
	at   time.Time
}

// sayTryAgain is how long a line about the same try is left out.
const sayTryAgain = 15 * time.Second

// again reports whether an event only repeats what was said shortly before. Each answer
// that is another one is said, and a flip that was made ends the repetition.
func (t tries) again(record audit.Record, body any, e event) bool {
	switch b := body.(type) {
	case *steps.Planned, *steps.Intended:
	case *steps.Settled:
		if b.Result == steps.ResultApplied || b.Result == steps.ResultNothing {
			for _, kind := range []string{steps.KindPlanned, steps.KindIntended, steps.KindSettled} {
				delete(t, tryKey{kind, e.where})
			}
			return false
		}
	default:
		return false
	}
	key := tryKey{record.Kind, e.where}
	if last, ok := t[key]; ok && last.text == e.text && record.At.Sub(last.at) < sayTryAgain {
		return true
	}
	t[key] = said{e.text, record.At}
	return false
}
