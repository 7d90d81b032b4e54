//go:build !race

package gameday

import (
	"strings"
	"testing"

	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/templates"
)

// withoutRouting has the runbook of a cell loss without the step that routes its readers away.
type withoutRouting struct{ bundled }

func (withoutRouting) Runbook(name string, set map[string]string) (*runbook.Document, error) {
	source, err := templates.Files.ReadFile("runbooks/" + name + ".yaml")
	if err != nil {
		return nil, err
	}
	before, rest, _ := strings.Cut(string(source), "    - step: route-around\n")
	_, after, _ := strings.Cut(rest, "    - step: ")
	doc, problems := runbook.Parse(name+".yaml", []byte(before+"    - step: "+after), set)
	return doc, problems.Err()
}

// docs/lab.md tells why: readers who are routed away warm nothing, and ask the origin for less.
func TestRoutingAwayCostsTimeAndBuysDemand(t *testing.T) {
	source, err := templates.Files.ReadFile("gamedays/cell-loss.yaml")
	if err != nil {
		t.Fatal(err)
	}
	figures := func(library Library) (recovered, demand float64) {
		day, err := Parse("cell-loss.yaml", source, library)
		if err != nil {
			t.Fatal(err)
		}
		r, err := day.Play(t.Context(), Options{Seed: 1, Approve: runbook.ApproveAuto})
		if err != nil {
			t.Fatal(err)
		}
		recovered, _ = r.Score("recovered")
		demand, _ = r.Score("worst-demand")
		return recovered, demand
	}
	away, awayDemand := figures(bundled{})
	looking, lookingDemand := figures(withoutRouting{})
	if looking >= away || lookingDemand <= awayDemand {
		t.Errorf("routed away, it takes %.0f s at %.0f attempts/s; looking up, %.0f s at %.0f", away, awayDemand, looking, lookingDemand)
	}
}
