//go:build !race

package cli

import "testing"

// TestIncidents runs the scripts that play whole incidents on the lab, a minute and more of processor time under
// the race detector, which sees what they do at once in cores.txtar and in the tests of the packages below.
func TestIncidents(t *testing.T) {
	t.Parallel()
	runScripts(t, "incidents")
}
