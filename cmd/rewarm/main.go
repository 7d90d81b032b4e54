// Command rewarm walks an executable recovery runbook for cache collapses.
package main

import (
	"os"

	"github.com/rewarm/rewarm/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
