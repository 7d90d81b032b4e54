// Command bare is a cobra program that does nothing: what a start costs at least.
package main

import "github.com/spf13/cobra"

func main() {
	root := &cobra.Command{Use: "bare"}
	root.AddCommand(&cobra.Command{Use: "version", Run: func(*cobra.Command, []string) {}})
	if err := root.Execute(); err != nil {
		panic(err)
	}
}
