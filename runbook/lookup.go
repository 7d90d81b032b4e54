package runbook

import (
	"crypto/sha256"
	"encoding/hex"
	"iter"
)

// Control finds the control with this name, or nil.
func (d *Document) Control(name string) *Control {
	for i := range d.Controls {
		if d.Controls[i].Name == name {
			return &d.Controls[i]
		}
	}
	return nil
}

// Probe finds the probe with this name, or nil.
func (d *Document) Probe(name string) *Probe {
	for i := range d.Probes {
		if d.Probes[i].Name == name {
			return &d.Probes[i]
		}
	}
	return nil
}

// Figure finds the figure with this name, or nil.
func (d *Document) Figure(name string) *Figure {
	for i := range d.Figures {
		if d.Figures[i].Name == name {
			return &d.Figures[i]
		}
	}
	return nil
}

// Step finds the step with this name, or nil.
func (d *Document) Step(name string) *Step {
	for s := range d.Steps() {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// Steps gives every step in the order of a walk.
func (d *Document) Steps() iter.Seq[*Step] {
	return func(yield func(*Step) bool) {
		for i := range d.Stages {
			for j := range d.Stages[i].Steps {
				if !yield(&d.Stages[i].Steps[j]) {
					return
				}
			}
		}
	}
}

// Sum is the SHA-256 of the file's exact bytes, in hex.
func (d *Document) Sum() string {
	sum := sha256.Sum256(d.Source)
	return hex.EncodeToString(sum[:])
}
