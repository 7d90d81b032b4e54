package runbook

import "fmt"

// Stage is one of the nine stages of a recovery, always walked in this order.
// The zero Stage is none of them.
type Stage int

// The nine stages, in the order of the case study's recovery runbook: demand is
// controlled before warmth.
const (
	DeclareMode Stage = iota + 1
	ProtectOrigin
	PreserveStale
	ConstrainLeaders
	RankWarmth
	Observe
	Expand
	Restore
	Reconcile
)

// StageCount is the number of stages in every runbook.
const StageCount = 9

var stageNames = [StageCount + 1]string{
	"", "declare-mode", "protect-origin", "preserve-stale", "constrain-leaders",
	"rank-warmth", "observe", "expand", "restore", "reconcile",
}

// String gives the stage's name as it stands in a runbook.
func (s Stage) String() string {
	if s < DeclareMode || s > Reconcile {
		return fmt.Sprintf("stage(%d)", int(s))
	}
	return stageNames[s]
}

// ParseStage finds the stage with this name.
func ParseStage(name string) (Stage, bool) {
	for s := DeclareMode; s <= Reconcile; s++ {
		if stageNames[s] == name {
			return s, true
		}
	}
	return 0, false
}

// Protects reports whether the stage belongs to the first part of the walk, in
// which nothing may add load to the origin: declare-mode to constrain-leaders.
func (s Stage) Protects() bool { return s >= DeclareMode && s <= ConstrainLeaders }

// Mode is a kind of collapse that a confirm step may declare.
type Mode string

// Modes lists every mode that can be declared.
var Modes = []Mode{
	"synchronized-expiry", "cell-loss", "cold-region", "tier-loss",
	"invalidation-storm", "serializer-rejection", "origin-fault", "hot-shard",
}
