package evidence

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// checkDerived works out again what follows from the records.
func (v *Verified) checkDerived(list files, m Material, version string) error {
	again, figures, err := m.files()
	if err != nil {
		return &Broken{File: "the log", Why: err.Error()}
	}
	v.figures = figures
	for name := range m.Captures {
		v.Claims = append(v.Claims, capturesDir+"/"+name)
	}
	slices.Sort(v.Claims)
	derived, err := v.derivedHere(list, version)
	if err != nil {
		return err
	}
	for _, name := range append([]string{runbookFile}, derived...) {
		if same, err := equal(list[name], again[name].(held)); err != nil || !same {
			return v.notDerived(name, m)
		}
	}
	if len(derived) == 0 {
		v.say("the runbook is the one of the log")
		return nil
	}
	v.say("the runbook is the one of the log, and %s follow from the records", strings.Join(derived, ", "))
	return nil
}

// derivedHere names what this rewarm works out again. What another has made in a way that this one does not know
// is the word of who exported.
func (v *Verified) derivedHere(list files, version string) ([]string, error) {
	figures, reports := []string{figuresFile, timelineJSON, timelineCSV}, []string{reportMD, reportHTML}
	if version == v.Version {
		return append(figures, reports...), nil
	}
	format, err := formatOf(list[figuresFile])
	if err != nil {
		return nil, broken(figuresFile, "%v", err)
	}
	if format != FiguresFormat {
		v.Claims = append(v.Claims, append(figures, reports...)...)
		v.say("the figures have the format %q and were not worked out again: this rewarm writes %q", format, FiguresFormat)
		return nil, nil
	}
	v.Claims = append(v.Claims, reports...)
	v.say("the reports were made by rewarm %s and were not rendered again by this one", v.Version)
	return figures, nil
}

// formatOf reads the format line of figures; "" where they have none.
func formatOf(figures Source) (string, error) {
	if figures == nil {
		return "", errors.New("it is missing")
	}
	text, err := hold(figures)
	if err != nil {
		return "", err
	}
	var f struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return "", fmt.Errorf("it cannot be read: %w", err)
	}
	return f.Format, nil
}

func (v *Verified) notDerived(name string, m Material) error {
	switch {
	case name == runbookFile:
		return broken(name, "it is not the runbook that the run began with")
	case (name == reportMD || name == reportHTML) && len(m.Captures) > 0 && v.ManifestBy == "":
		return broken(name, "it does not follow from the records and the captures: one of them was changed, and no signature tells which")
	}
	return broken(name, "it does not follow from the records")
}
