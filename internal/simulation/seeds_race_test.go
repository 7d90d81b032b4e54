//go:build race

package simulation

// defaultSeeds are few, because the detector of races makes each ten times as long, and an
// incident has no second goroutine.
const defaultSeeds = 100
