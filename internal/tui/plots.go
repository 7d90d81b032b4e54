package tui

// plots draws the past of the probes that the exit judges, as large as there is room for.
func (d *drawing) plots(width, height int) []string { return nil }
