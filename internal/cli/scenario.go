package cli

import (
	"fmt"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/templates"
)

// scenariosDir is where scenarios stand among the templates.
const scenariosDir = "scenarios"

// caseStudy is the scenario of the case study, which a lab plays unless told another.
const caseStudy = "hot-key-collapse"

// openScenario reads a scenario: a file or, where there is none, the bundled one of
// that name.
func openScenario(name string) (*lab.Scenario, error) {
	source, err := readFile(name)
	file := name
	if err != nil && !strings.ContainsAny(name, `/\`) {
		file = path.Join("templates", scenariosDir, name+".yaml")
		source, err = templates.Files.ReadFile(path.Join(scenariosDir, name+".yaml"))
	}
	if err != nil {
		return nil, usage(fmt.Errorf("there is no scenario %s", name),
			"give a file, or one of "+strings.Join(bundledScenarios(), ", "))
	}
	scenario, err := lab.ParseScenario(file, source)
	if err != nil {
		return nil, usage(err, "docs/lab.md describes scenario files")
	}
	return scenario, nil
}

// bundledScenarios are the names of the scenarios that come with rewarm.
func bundledScenarios() []string {
	entries, err := templates.Files.ReadDir(scenariosDir)
	if err != nil {
		return nil
	}
	var names []string
	for _, entry := range entries {
		names = append(names, strings.TrimSuffix(entry.Name(), ".yaml"))
	}
	return names
}

func scenarioFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "scenario", caseStudy, "`NAME` of a bundled scenario, or a file")
}
