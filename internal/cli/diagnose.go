package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/spf13/cobra"

	"github.com/rewarm/rewarm/internal/diagnosis"
	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/templates"
)

func (p *program) diagnoseCommand() *cobra.Command {
	var asked diagnosing
	cmd := &cobra.Command{
		Use:   "diagnose BOOK",
		Short: "Say which modes the signals speak for",
		Long: `Asks --prometheus the questions of the rules and says for each mode of a collapse what
speaks for it, what against it and what could not be measured, which checks tell it from
the others, and which runbook fits. Several modes can be likely at once, or none. It
writes nothing. BOOK gives the figures of the service.

The first question is the cheapest way out: is the removed cell still up and holding
its data?

--rules FILE adds rules of your own to the bundled ones, and replaces those with the same
names; it may be given again. With --lab it asks the embedded lab, --at after the start
of the scenario.`,
		Args: exactly(1, "diagnose BOOK"),
		RunE: func(cmd *cobra.Command, args []string) error {
			asked.given = func(flag string) bool { return cmd.Flags().Changed(flag) }
			return p.diagnose(cmd.Context(), args[0], asked)
		},
	}
	cmd.Flags().StringArrayVar(&asked.rules, "rules", nil, "`FILE` of rules that add to the bundled ones or replace them")
	cmd.Flags().BoolVar(&asked.onLab, "lab", false, "ask the embedded lab")
	cmd.Flags().DurationVar(&asked.at, "at", collapseAfter, "`DURATION` that the lab runs before it is asked")
	scenarioFlag(cmd, &asked.scenario)
	return cmd
}

// diagnosing is what a diagnosis is asked for.
type diagnosing struct {
	rules    []string
	onLab    bool
	scenario string
	at       time.Duration
	given    func(flag string) bool
}

// diagnosed is the JSON of diagnose.
type diagnosed struct {
	File       string `json:"file"`
	Service    string `json:"service"`
	Prometheus string `json:"prometheus"`
	Modelled   bool   `json:"modelled,omitempty"` // every figure is the lab's
	*diagnosis.Report
}

func (p *program) diagnose(ctx context.Context, book string, asked diagnosing) error {
	if err := asked.check(); err != nil {
		return err
	}
	doc, err := p.openBook(book)
	if err != nil {
		return err
	}
	rules, err := openRules(doc, asked.rules)
	if err != nil {
		return err
	}
	poller, err := p.diagnosticPoller(ctx, asked)
	if err != nil {
		return err
	}
	seen := poller.Poll(ctx, rules.Document(), diagnosis.Asks(rules), 0)
	report := diagnosis.Of(rules, seen, doc.Defaults.StaleAfter)
	view := diagnosed{File: doc.File, Service: doc.Service, Prometheus: poller.Address(), Modelled: asked.onLab,
		Report: report}
	if p.settings.json() {
		err = json.NewEncoder(p.out).Encode(view)
	} else {
		_, err = fmt.Fprint(p.out, view.text())
	}
	if err == nil && len(report.Trouble) > 0 {
		return fail(exitError, errors.New(report.Trouble[0]),
			"nothing was measured, so nothing speaks for or against any mode")
	}
	return err
}

func (asked diagnosing) check() error {
	if asked.at < 0 {
		return usage(fmt.Errorf("--at %s lies before the start", asked.at),
			"give a duration from the start of the scenario, like 30s")
	}
	for _, flag := range []string{"scenario", "at"} {
		if asked.given(flag) && !asked.onLab {
			return usage(fmt.Errorf("--%s is for the lab", flag), "add --lab, or leave it out")
		}
	}
	return nil
}

// rulesDir is where rules of diagnosis stand among the templates.
const rulesDir = "diagnosis"

// bundledRules are the rules that every diagnosis begins with.
func bundledRules() (runbook.RuleFile, error) {
	bundled := path.Join(rulesDir, "catalog.yaml")
	source, err := templates.Files.ReadFile(bundled)
	return runbook.RuleFile{Name: path.Join("templates", bundled), Source: source}, err
}

// openRules reads the bundled rules and then those of files.
func openRules(doc *runbook.Document, files []string) (*runbook.Diagnosis, error) {
	bundled, err := bundledRules()
	if err != nil {
		return nil, err
	}
	list := []runbook.RuleFile{bundled}
	for _, file := range files {
		source, err := readFile(file)
		if err != nil {
			return nil, usage(fmt.Errorf("read the rules: %w", err), "give a file of rules; docs/diagnosis.md describes them")
		}
		list = append(list, runbook.RuleFile{Name: file, Source: source})
	}
	rules, problems := runbook.ParseDiagnosis(doc, list...)
	return rules, problems.Err()
}

// diagnosticPoller asks the Prometheus of the settings, or the lab.
func (p *program) diagnosticPoller(ctx context.Context, asked diagnosing) (*probes.Poller, error) {
	s := p.settings
	if asked.onLab {
		return p.labPoller(ctx, asked)
	}
	if s.prometheus == "" {
		return nil, usage(errors.New("no prometheus is given"),
			"give --prometheus URL, set REWARM_PROMETHEUS, use a --profile, or try --lab")
	}
	poller, err := probes.NewPoller(probes.Options{URL: s.prometheus, ConfigFile: s.prometheusConfig}, p.clock)
	if err != nil {
		return nil, usage(err, "")
	}
	return poller, nil
}

func (p *program) labPoller(ctx context.Context, asked diagnosing) (*probes.Poller, error) {
	scenario, err := openScenario(asked.scenario)
	if err != nil {
		return nil, err
	}
	l, err := lab.New(lab.Options{Seed: scenario.Seed, Scenario: scenario, Start: labStart(p.clock.Now(), scenario)})
	if err != nil {
		return nil, err
	}
	p.closeLater(func() error { l.Close(); return nil })
	if err := l.Clock().Wait(ctx, l.Clock().Now().Add(asked.at)); err != nil {
		return nil, err
	}
	return probes.NewPoller(probes.Options{URL: labURL, Transport: l.Transport()}, l.Clock())
}
