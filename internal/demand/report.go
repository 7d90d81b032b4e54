package demand

// Report is the demand of a service.
type Report struct {
	Inputs  Inputs
	Figures []Figure // nine, in the order of the story
	Risk    KeyRisk
	States  []Check  // synchronized expiry, cell loss, cold region
	After   []Check  // those that were asked for
	Notes   []string // what must be said in a sentence
}

// Size computes the demand. The states after are checked beside the usual three.
func Size(in Inputs, after ...State) Report {
	report := Report{Inputs: in, Figures: in.figures(), Risk: in.keyRisk(), Notes: in.notes()}
	for _, mode := range []Mode{Expiry, CellLoss, ColdRegion} {
		report.States = append(report.States, in.Check(State{mode, in.usualShare(mode)}))
	}
	for _, state := range after {
		report.After = append(report.After, in.Check(state))
	}
	return report
}
