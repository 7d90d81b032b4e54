package demand

import (
	"slices"
	"strings"
)

// Mode is how cached values are lost.
type Mode string

// The modes, by the names that runbooks use where they have one.
const (
	Expiry     Mode = "expiry"      // the hottest key lapses everywhere at once
	CellLoss   Mode = "cell-loss"   // one cell is gone or replaced by an empty one
	ColdRegion Mode = "cold-region" // a region starts with an empty cache
	TierLoss   Mode = "tier-loss"   // all of the cache is gone
)

var modes = []Mode{Expiry, CellLoss, ColdRegion, TierLoss}

// State is a moment in which a share of the reads finds nothing in the cache.
type State struct {
	Mode  Mode
	Share Number // of the reads, 0 to 1
}

const stateHint = "write expiry, cell-loss, cold-region or tier-loss, the first three with =SHARE where it is another, such as cell-loss=0.3"

// ParseState reads MODE or MODE=SHARE. Without a share an expiry takes the hottest
// key, a cell loss the cell of the inputs, and the others everything.
func ParseState(text string, in Inputs) (State, error) {
	name, shareText, given := strings.Cut(text, "=")
	state := State{Mode(name), in.usualShare(Mode(name))}
	switch {
	case !slices.Contains(modes, state.Mode):
		return State{}, named("after", wrong(stateHint, "%q is not a state", name))
	case !given:
		return state, nil
	case state.Mode == TierLoss:
		return State{}, named("after", wrong("write tier-loss alone, or cell-loss=SHARE for a part of the tier",
			"tier-loss takes no share"))
	}
	var err error
	state.Share, err = ParseRatio(shareText)
	return state, named("after", err)
}

func (in Inputs) usualShare(mode Mode) Number {
	switch mode {
	case Expiry:
		return in.HotShare
	case CellLoss:
		return in.CellShare
	}
	return Whole(1)
}

// String is "the loss of a cell with 30 % of the reads".
func (s State) String() string {
	of := " with " + s.Share.exactPercent() + " of the reads"
	switch s.Mode {
	case Expiry:
		return "the expiry of a key" + of
	case CellLoss:
		return "the loss of a cell" + of
	case ColdRegion:
		return "the cold start of a region" + of
	}
	return "the loss of the whole tier"
}

const (
	keyPredicted  = "predicted_attempts_per_second"
	namePredicted = "predicted attempts"
)

// exposure gives what loses its values, and with it what is asked of the origin: the
// exposed reads, and the steady misses of the rest.
func (in Inputs) exposure(s State) (exposed, attempts Figure) {
	lost := share(s.Share, "share")
	exposed = in.reads().times(lost).figure(keyExposed, "exposed reads", unitReads)
	attempts = exposed.term().plus(in.elsewhere(s)).figure(keyPredicted, namePredicted, unitAttempts)
	return exposed, attempts
}

// elsewhere is the steady misses of the reads that lost nothing.
func (in Inputs) elsewhere(s State) term {
	return in.steadyMisses().term().times(share(s.Share, "share").rest())
}
