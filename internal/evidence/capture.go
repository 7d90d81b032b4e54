package evidence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// The captures, by their file names.
const (
	rangesFile   = "ranges.json"
	controlsFile = "controls.json"
)

var captureNames = []string{controlsFile, rangesFile}

// Ranges is what Prometheus kept of a run: the whole course of every probe.
type Ranges struct {
	CapturedAt time.Time `json:"captured_at"`
	Source     string    `json:"source"`            // the address without secrets
	Missing    string    `json:"missing,omitempty"` // why nothing could be had
	From       time.Time `json:"from,omitzero"`
	To         time.Time `json:"to,omitzero"`
	StepMS     int64     `json:"step_ms,omitempty"`
	Probes     []Range   `json:"probes,omitempty"`
}

// Range is one probe over the run.
type Range struct {
	Probe   string   `json:"probe"`
	Unit    string   `json:"unit"`
	Query   string   `json:"query"`
	Missing string   `json:"missing,omitempty"`
	Series  []Series `json:"series,omitempty"`
}

// Series is one series of a range, with its labels made printable.
type Series struct {
	Labels string  `json:"labels"`
	Points []Point `json:"points"`
}

// Point is one value. Values are strings, as in the log: NaN is not JSON.
type Point struct {
	At    time.Time `json:"at"`
	Value string    `json:"value"`
}

// Controls is what Redis held at the end of a run.
type Controls struct {
	CapturedAt time.Time      `json:"captured_at"`
	Source     string         `json:"source"`
	Missing    string         `json:"missing,omitempty"`
	Controls   []ControlValue `json:"controls,omitempty"`
}

// ControlValue is one control with who set it last.
type ControlValue struct {
	Control string    `json:"control"`
	Value   *string   `json:"value"` // nil when the field is absent
	Run     string    `json:"run,omitempty"`
	Actor   string    `json:"actor,omitempty"`
	At      time.Time `json:"at,omitzero"`
	Edited  bool      `json:"edited,omitempty"` // by hand since
}

// KeepRanges writes the ranges into a run's folder, once: what is there already stays.
func KeepRanges(dir string, r Ranges) error { return keep(dir, rangesFile, r) }

// KeepControls writes the controls into a run's folder, once.
func KeepControls(dir string, c Controls) error { return keep(dir, controlsFile, c) }

// Captured reports whether a run's folder has all captures.
func Captured(dir string) bool {
	for _, name := range captureNames {
		if _, err := os.Stat(filepath.Join(dir, capturesDir, name)); err != nil {
			return false
		}
	}
	return true
}

// keep writes a file that is not there yet; it is whole or absent.
func keep(dir, name string, capture any) error {
	dir = filepath.Join(dir, capturesDir)
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	text, err := encode(capture)
	if err != nil {
		return fmt.Errorf("capture %s: %w", name, err)
	}
	file, err := os.CreateTemp(dir, name+".*")
	if err != nil {
		return fmt.Errorf("capture: %w", err)
	}
	_, err = file.Write(text)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
		return fmt.Errorf("capture %s: %w", name, err)
	}
	return nil
}

// encode writes JSON as people can read it, with a newline at its end.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
