// Package quietstart keeps a program that links Bubble Tea from asking the terminal for its colours
// before main.
//
// Bubble Tea v1 does so in an init function of its own, in every command, and waits up to five
// seconds for an answer that a relayed terminal may never give: five seconds before a brake.
// It asks nothing where the environment says CI. Go initialises packages in the order of their import
// paths as far as imports allow; this package imports nothing but os, and Bubble Tea needs
// golang.org/x/sys, whose path comes later. So CI is set before Bubble Tea looks, and package tui,
// which is initialised after it, calls Restore.
//
// https://github.com/charmbracelet/bubbletea/issues/1771
package quietstart

import "os"

const name = "CI"

var before, set = os.LookupEnv(name)

func init() { os.Setenv(name, "true") }

// Restore puts the environment back as the process got it.
func Restore() {
	if set {
		os.Setenv(name, before)
		return
	}
	os.Unsetenv(name)
}
