package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

// config is the file of profiles:
//
//	profiles:
//	  catalog-prod:
//	    prometheus: https://prometheus.example
//	    prometheus_config: prometheus-client.yaml
//	    redis: rediss://controls.example:6379
//	    redis_config: redis.yaml
//	    notify: notify.yaml
//	    set: {cell: cell-c}
//
// Relative files are looked for beside it.
type config struct {
	Profiles map[string]profile `yaml:"profiles"`
}

// profile is one set of defaults for the global flags.
type profile struct {
	Prometheus       string            `yaml:"prometheus"`
	PrometheusConfig string            `yaml:"prometheus_config"`
	Redis            string            `yaml:"redis"`
	RedisConfig      string            `yaml:"redis_config"`
	StateDir         string            `yaml:"state_dir"`
	Approve          string            `yaml:"approve"`
	Set              map[string]string `yaml:"set"`
	LogFile          string            `yaml:"log_file"`
	EmergencyLog     string            `yaml:"emergency_log"`
	Notify           string            `yaml:"notify"`
	MetricsListen    string            `yaml:"metrics_listen"`

	file string
}

// configFile is where profiles stand; "" when there is no home at all.
func configFile(getenv func(string) string) string {
	dir, err := xdg(getenv, "XDG_CONFIG_HOME", ".config")
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "rewarm", "config.yaml")
}

// maxConfig bounds the file of profiles, in bytes.
const maxConfig = 1 << 20

func loadProfile(file, name string) (profile, error) {
	source, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return profile{}, usage(fmt.Errorf("profile %q: there is no %s", name, file),
			"write the file with a key profiles, or leave --profile out")
	}
	if err != nil {
		return profile{}, usage(fmt.Errorf("profile %q: %w", name, err), "make the file readable, or leave --profile out")
	}
	if len(source) > maxConfig {
		return profile{}, usage(fmt.Errorf("%s is larger than 1 MiB", file), "is it the right file?")
	}
	var c config
	if err := yaml.UnmarshalWithOptions(source, &c, yaml.Strict()); err != nil {
		return profile{}, usage(yamlError(file, err), "see the profiles in the README")
	}
	found, ok := c.Profiles[name]
	if !ok {
		return profile{}, usage(fmt.Errorf("%s has no profile %q", file, name), knownProfiles(c))
	}
	found.file = file
	return found, nil
}

func knownProfiles(c config) string {
	if len(c.Profiles) == 0 {
		return "it has no profiles at all"
	}
	return "it has " + strings.Join(slices.Sorted(maps.Keys(c.Profiles)), ", ")
}

// yamlError puts file, line and column before what the YAML library says. The
// file may hold passwords, so no source line is quoted.
func yamlError(file string, err error) error {
	var at yaml.Error
	if errors.As(err, &at) && at.GetToken() != nil {
		pos := at.GetToken().Position
		return fmt.Errorf("%s:%d:%d: %s", file, pos.Line, pos.Column, at.GetMessage())
	}
	return fmt.Errorf("%s: not valid YAML", file)
}

// values gives the flags that the profile sets.
func (p profile) values() map[string][]string {
	values := map[string][]string{}
	for flag, value := range map[string]string{
		"prometheus": p.Prometheus, "redis": p.Redis, "approve": p.Approve, "metrics-listen": p.MetricsListen,
		"prometheus-config": p.beside(p.PrometheusConfig), "redis-config": p.beside(p.RedisConfig),
		"state-dir": p.beside(p.StateDir), "log-file": p.beside(p.LogFile), "emergency-log": p.beside(p.EmergencyLog),
		"notify": p.beside(p.Notify),
	} {
		if value != "" {
			values[flag] = []string{value}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.Set)) {
		values["set"] = append(values["set"], name+"="+p.Set[name])
	}
	return values
}

// beside resolves a relative file against the folder of the profiles.
func (p profile) beside(file string) string {
	if file == "" || filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(filepath.Dir(p.file), file)
}
