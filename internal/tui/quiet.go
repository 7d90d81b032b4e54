package tui

import "github.com/rewarm/rewarm/internal/tui/quietstart"

func init() { quietstart.Restore() }
