package steps

import (
	"reflect"
	"slices"
	"testing"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// sharedFields are the fields of a state that its clone may share, because the fold puts new ones in their place and
// never changes what is in them.
var sharedFields = []string{"Doc", "Modes", "Recovered", "End", "Shift", "diagnosed", "aborting", "refusal", "guardGates", "baselines",
	"compared", "lost", "returned", "plans[]", "open[]", "holds[]", "drifts[]", "readings[]", "polls[]", "partial.answers[]", "partial.numbers",
	"partial.baselines", "partial.propagation", "tracks[].since", "tracks[].counted", "tracks[].latest", "tracks[].before",
	"tracks[].earlier", "exit.asks", "exit.earlier", "exit.before", "exit.latest", "steps[].Failed", "steps[].Ordered", "controls[].Raw",
	"controls[].Expected", "controls[].Original", "controls[].Failed"}

// TestACloneSharesNothingThatChanges looks at a state that has something everywhere, so that a new field is either
// cloned or named above.
func TestACloneSharesNothingThatChanges(t *testing.T) {
	flip, seen := &FlipState{}, &poll{}
	s := &State{
		Doc: &runbook.Document{}, Modes: []runbook.Mode{""}, Recovered: &Recovered{}, End: &Ended{}, Shift: &Shift{},
		steps:    map[string]*StepState{"": {Failed: new(string), Awaiting: flip, Undoing: &FlipState{}, Acted: &FlipState{}, ByHand: &HandDone{}, Ordered: &UndoWord{}}},
		controls: map[string]*ControlState{"": {Raw: new(string), Expected: new(string), Original: new(string), Failed: new(string)}},
		plans:    map[Target]*Planned{{}: {}}, open: []*Intended{{}}, flips: []*FlipState{flip}, approvals: []*ApprovalState{{}},
		holds: []*HoldState{{}}, guards: map[string]bool{"": true}, guardGates: map[string]runbook.Gate{"": {}},
		confirms: map[string]*ConfirmState{"": {}}, diagnosed: &Noted{}, calls: []*CallState{{}}, baselines: map[string]float64{"": 1},
		readings: map[probes.Ask]*HandReading{{}: {}}, aborting: &OrderedBody{}, toIdle: []string{""}, drifts: map[string]*Drifted{"": {}},
		putBack: map[string]bool{"": true}, walkers: []string{""}, received: map[string]Receipt{"": {}}, lost: []string{""}, returned: map[string]int64{"": 0},
		retries: map[Target]retry{{}: {}}, refusal: &Settled{}, polls: []*poll{seen},
		partial: &poll{answers: []probes.Answer{{}}, numbers: map[string]float64{}, baselines: map[string]float64{}, propagation: &probes.Propagation{}},
		early:   []*FlipState{flip}, tracks: map[string]*track{"": {asks: []probes.Ask{{}}, since: seen, counted: seen, latest: seen, before: seen, earlier: seen}},
		compared: map[string]float64{"": 1}, exit: exitTrack{asks: []probes.Ask{{}}, earlier: seen, before: seen, latest: seen},
	}
	original, clone := reflect.ValueOf(s).Elem(), reflect.ValueOf(s.Clone()).Elem()
	for i := range original.NumField() {
		if name := original.Type().Field(i).Name; original.Field(i).IsZero() && holdsMemory(original.Field(i).Kind()) {
			t.Errorf("%s is empty in this test", name)
		}
	}
	findShared(t, "", original, clone)
	if c := s.Clone(); c.flips[0] != c.early[0] || c.flips[0] != c.steps[""].Awaiting {
		t.Error("what was one flip is several in the clone")
	}
}

func holdsMemory(kind reflect.Kind) bool {
	return kind == reflect.Pointer || kind == reflect.Map || kind == reflect.Slice
}

// findShared reports memory that two values share and that is not named in sharedFields.
func findShared(t *testing.T, path string, a, b reflect.Value) {
	if slices.Contains(sharedFields, path) {
		return
	}
	if holdsMemory(a.Kind()) && !a.IsNil() && a.Pointer() == b.Pointer() {
		t.Errorf("%s is shared with the clone", path)
		return
	}
	switch a.Kind() {
	case reflect.Pointer:
		if !a.IsNil() {
			findShared(t, path, a.Elem(), b.Elem())
		}
	case reflect.Struct:
		if a.Type().PkgPath() == "time" {
			return
		}
		for i := range a.NumField() {
			name := a.Type().Field(i).Name
			if path != "" {
				name = path + "." + name
			}
			findShared(t, name, a.Field(i), b.Field(i))
		}
	case reflect.Slice:
		for i := range a.Len() {
			findShared(t, path+"[]", a.Index(i), b.Index(i))
		}
	case reflect.Map:
		for _, key := range a.MapKeys() {
			findShared(t, path+"[]", a.MapIndex(key), b.MapIndex(key))
		}
	}
}
