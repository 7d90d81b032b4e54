package gameday

import (
	"context"
	"errors"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// ground is what a day is played on.
type ground interface {
	// process makes a process of a run.
	process(walk Walk) (Process, error)
	// store opens a way to the controls that a run takes, and that the day may cut.
	store() (*actions.Store, error)
	// witness opens a way to the metrics that nothing cuts.
	witness() (*probes.Poller, error)
	// value is what a control is now; false when nobody could read it.
	value(c *runbook.Control) (runbook.Value, bool)
	// befall lets happen what is neither done to a run nor by its operator.
	befall(h *runbook.Happening, fault lab.Event) (outcome, detail string)
	// figures are those of the service; false when it has none that can be read.
	figures() (lab.Figures, bool)
	// second is called once a second, before anything is judged. An error ends the day.
	second(ctx context.Context) error
	// end lets others have the runs.
	end(ctx context.Context) error
	close()
}

// newGround opens what a day is played on, and sets its clock.
func newGround(w *world) (ground, error) {
	switch {
	case w.day.Target == "":
		return newLabGround(w)
	case w.options.Target == nil:
		return nil, errors.New("the day has a target, and none was opened")
	}
	return newServers(w)
}
