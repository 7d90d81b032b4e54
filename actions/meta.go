package actions

import "github.com/rewarm/rewarm/actions/controls"

// Meta is what Redis keeps about the last flip of a control.
type Meta = controls.Meta
