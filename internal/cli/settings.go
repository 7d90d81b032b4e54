package cli

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rewarm/rewarm/steps"
)

// settings are the global flags, each with its environment variable and, where it
// makes sense, its key in a profile.
type settings struct {
	prometheus, prometheusConfig string
	redis, redisConfig           string
	stateDir                     string
	profile                      string
	output                       string
	plain                        bool
	approve                      string
	set                          []string
	logFile                      string
	emergencyLog                 string
	notify                       string
	metricsListen                string
	speed                        string

	given   map[string]bool // by flag, environment or profile
	flagged []string        // on the command line, in the order of their names
	learned []string        // from the log of a run
}

func (s *settings) register(f *pflag.FlagSet) {
	f.StringVar(&s.prometheus, "prometheus", "", "`URL` of Prometheus, or of what speaks its API")
	f.StringVar(&s.prometheusConfig, "prometheus-config", "", "`FILE` with HTTP client settings in Prometheus' own format")
	f.StringVar(&s.redis, "redis", "", "`URL` of Redis: redis://, rediss://, ?addr= for more nodes, ?master_name= for Sentinel")
	f.StringVar(&s.redisConfig, "redis-config", "", "`FILE` with addresses, users, password files and TLS")
	f.StringVar(&s.stateDir, "state-dir", "", "`DIR` for runs and keys (default $XDG_STATE_HOME/rewarm)")
	f.StringVar(&s.profile, "profile", "", "`NAME` of a profile in $XDG_CONFIG_HOME/rewarm/config.yaml")
	f.StringVar(&s.output, "output", "text", "text or json")
	f.BoolVar(&s.plain, "plain", false, "one line an event, no redraw, no colour")
	f.StringVar(&s.approve, "approve", "manual", "manual or auto: who approves what releases")
	f.StringArrayVar(&s.set, "set", nil, "`NAME=VALUE` for a parameter of the runbook; may be repeated")
	f.StringVar(&s.logFile, "log-file", "", "`FILE` for diagnostics, secrets removed")
	f.StringVar(&s.emergencyLog, "emergency-log", "",
		"`FILE` on another disk, for the brakes' records when the log's disk is full or broken")
	f.StringVar(&s.notify, "notify", "", "`FILE` of receivers that are told of a walk: webhooks, Slack, Grafana")
	f.StringVar(&s.metricsListen, "metrics-listen", "",
		"`ADDRESS` to serve a walk's own metrics on; a port alone is of this machine")
	f.StringVar(&s.speed, "speed", "", "`N` times real time, or max; only on the lab")
}

// variable is the environment variable of a flag.
func variable(flag string) string {
	return "REWARM_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// prepare resolves the settings before a command runs: flag, then environment,
// then profile, then default.
func (p *program) prepare(cmd *cobra.Command) error {
	s := &p.settings
	s.given = map[string]bool{}
	flags := cmd.Root().PersistentFlags()
	flags.VisitAll(func(f *pflag.Flag) {
		if s.given[f.Name] = f.Changed; f.Changed {
			s.flagged = append(s.flagged, f.Name)
		}
	})
	if err := s.fromEnvironment(flags, p.where.getenv); err != nil {
		return err
	}
	if err := s.fromProfile(flags, p.where.getenv); err != nil {
		return err
	}
	if err := s.check(); err != nil {
		return err
	}
	return p.openLog()
}

func (s *settings) fromEnvironment(flags *pflag.FlagSet, getenv func(string) string) error {
	var problems []error
	flags.VisitAll(func(f *pflag.Flag) {
		value := getenv(variable(f.Name))
		if f.Name == "help" || value == "" || s.given[f.Name] {
			return
		}
		if err := s.put(flags, f.Name, splitSet(f.Name, value)); err != nil {
			problems = append(problems, usage(fmt.Errorf("%s: %w", variable(f.Name), err),
				"unset it, or see rewarm --help for what it takes"))
		}
	})
	if len(problems) > 0 {
		return problems[0]
	}
	return nil
}

// splitSet reads REWARM_SET: one NAME=VALUE a line.
func splitSet(flag, value string) []string {
	if flag != "set" {
		return []string{value}
	}
	var pairs []string
	for line := range strings.Lines(value) {
		if line = strings.TrimSpace(line); line != "" {
			pairs = append(pairs, line)
		}
	}
	return pairs
}

func (s *settings) put(flags *pflag.FlagSet, flag string, values []string) error {
	for _, value := range values {
		if err := flags.Set(flag, value); err != nil {
			return fmt.Errorf("%q is not a value for it", value)
		}
	}
	s.given[flag] = true
	return nil
}

func (s *settings) fromProfile(flags *pflag.FlagSet, getenv func(string) string) error {
	if s.profile == "" {
		return nil
	}
	profile, err := loadProfile(configFile(getenv), s.profile)
	if err != nil {
		return err
	}
	for flag, values := range profile.values() {
		if s.given[flag] {
			continue
		}
		if err := s.put(flags, flag, values); err != nil {
			return usage(fmt.Errorf("%s: profile %s: %s: %w", profile.file, s.profile, flag, err),
				"see rewarm --help for what it takes")
		}
	}
	return nil
}

// check refuses what no command can work with.
func (s *settings) check() error {
	if s.output != "text" && s.output != "json" {
		return usage(fmt.Errorf("--output %q is neither text nor json", s.output),
			"write --output json for records, or leave it out")
	}
	if s.approve != string(steps.Manual) && s.approve != string(steps.Auto) {
		return usage(fmt.Errorf("--approve %q is neither manual nor auto", s.approve),
			"manual asks a person for each release, auto releases as soon as a gate is green")
	}
	if _, _, err := s.pace(1); err != nil {
		return err
	}
	if _, err := s.metricsAddress(); err != nil {
		return err
	}
	_, err := s.parameters()
	return err
}

// json reports whether results are wanted as JSON.
func (s *settings) json() bool { return s.output == "json" }

// parameters are the pairs of --set.
func (s *settings) parameters() (map[string]string, error) {
	pairs := map[string]string{}
	for _, pair := range s.set {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" {
			return nil, usage(fmt.Errorf("--set %q has no name and value", pair), "write --set name=value")
		}
		if _, twice := pairs[name]; twice {
			return nil, usage(fmt.Errorf("--set %s is given twice", name), "keep one of them")
		}
		pairs[name] = value
	}
	return pairs, nil
}

// pace is the speed of the lab; flat out when it does not wait at all.
func (s *settings) pace(otherwise float64) (speed float64, flatOut bool, err error) {
	switch s.speed {
	case "":
		return otherwise, false, nil
	case "max":
		return 0, true, nil
	}
	speed, err = strconv.ParseFloat(s.speed, 64)
	if err != nil || math.IsNaN(speed) || speed < 0.1 || speed > 1000 {
		return 0, false, usage(fmt.Errorf("--speed %q is neither max nor a number from 0.1 to 1000", s.speed),
			"write --speed 4 for four modelled seconds a second")
	}
	return speed, false, nil
}

// stateHome is the directory of runs and keys.
func (p *program) stateHome() (string, error) {
	dir := p.settings.stateDir
	if dir == "" {
		home, err := xdg(p.where.getenv, "XDG_STATE_HOME", ".local", "state")
		if err != nil {
			return "", fail(exitUsage, err, "give --state-dir DIR")
		}
		dir = filepath.Join(home, "rewarm")
	}
	return filepath.Abs(dir)
}

// xdg is a directory of the XDG base directory specification. A relative path in
// the variable is ignored, as the specification demands.
func xdg(getenv func(string) string, name string, fallback ...string) (string, error) {
	if dir := getenv(name); filepath.IsAbs(dir) {
		return dir, nil
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(append([]string{home}, fallback...)...), nil
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(append([]string{home}, fallback...)...), nil
	}
	return "", errors.New("neither " + name + " nor HOME is set")
}
