package evidence

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/rewarm/rewarm/audit"
)

// BuildIncident writes one bundle of several runs, whatever the order in which they are given: each run's bundle
// in a folder of its name, and one report whose timeline interleaves them.
func BuildIncident(to io.Writer, runs []Material, version string, signer note.Signer) error {
	list := files{}
	var all []*Figures
	for _, m := range sortedRuns(runs) {
		one, figures, err := m.bundled(version, signer)
		if err != nil {
			return fmt.Errorf("run %s: %w", m.Run, err)
		}
		for name, content := range one {
			list[m.Run+"/"+name] = content
		}
		all = append(all, figures)
	}
	if err := list.deriveIncident(all); err != nil {
		return err
	}
	if err := list.seal(Manifest{Runs: runsOf(all), Version: version}, signer); err != nil {
		return err
	}
	return pack(to, list)
}

func sortedRuns(runs []Material) []Material {
	return slices.SortedFunc(slices.Values(runs), func(a, b Material) int { return strings.Compare(a.Run, b.Run) })
}

func runsOf(all []*Figures) (runs []string) {
	for _, f := range all {
		runs = append(runs, f.Run)
	}
	return runs
}

// deriveIncident adds what follows from the figures of the runs.
func (list files) deriveIncident(all []*Figures) error {
	r := newIncident(all)
	list[timelineJSON], list[timelineCSV] = held(timelineLines(r.Timeline)), held(timelineTable(r.Timeline))
	return list.render(r, incidentTemplates)
}

// incident is the figures of several runs as people read them.
type incident struct {
	Runs     []*Figures
	Began    time.Time
	LastAt   time.Time
	Commands []command
	Timeline []TimelineRow
	Lab      bool // of at least one run every figure is a model's
}

// command is one stretch of time in which a process walked a run.
type command struct {
	Run, Service string
	Who          string
	From         time.Time
	Until        time.Time // of its last record
	How          string    // how it ended
}

func newIncident(all []*Figures) *incident {
	r := &incident{Runs: all}
	for i, f := range all {
		if i == 0 || f.Began.Before(r.Began) {
			r.Began = f.Began
		}
		if f.LastAt.After(r.LastAt) {
			r.LastAt = f.LastAt
		}
		r.Lab = r.Lab || f.Lab && !f.Past
		r.Commands = append(r.Commands, commandsOf(f)...)
	}
	slices.SortStableFunc(r.Commands, func(a, b command) int { return a.From.Compare(b.From) })
	r.Timeline = interleaved(all)
	return r
}

// commandsOf gives who walked a run from when to when: until the next process goes on, or to the last record.
func commandsOf(f *Figures) []command {
	var list []command
	for i, p := range f.Processes {
		c := command{Run: f.Run, Service: f.Service, Who: p.words(i > 0), From: p.At, Until: f.LastAt,
			How: "the run is " + f.State}
		if i+1 < len(f.Processes) {
			c.Until, c.How = f.Processes[i+1].At, "another process goes on"
		}
		list = append(list, c)
	}
	return list
}

// interleaved puts the timelines of the runs in the order of their wall clocks. Those of one run keep the order of
// their records, also where its clock was set back.
func interleaved(all []*Figures) []TimelineRow {
	type placed struct {
		TimelineRow
		at time.Time // never earlier than that of the row before
	}
	var rows []placed
	for _, f := range all {
		latest := time.Time{}
		for _, row := range timeline(f) {
			if row.At.After(latest) {
				latest = row.At
			}
			rows = append(rows, placed{row, latest})
		}
	}
	slices.SortStableFunc(rows, func(a, b placed) int {
		return cmp.Or(a.at.Compare(b.at), strings.Compare(a.Run, b.Run))
	})
	list := make([]TimelineRow, len(rows))
	for i, row := range rows {
		list[i] = row.TimelineRow
	}
	return list
}

// runFolders takes the bundle of an incident apart: what is of each run, and what is of all.
func (list files) runFolders(runs []string) (of map[string]files, rest files, err error) {
	of, rest = map[string]files{}, files{}
	for _, run := range runs {
		of[run] = files{}
	}
	for name, content := range list {
		folder, file, inside := strings.Cut(name, "/")
		switch {
		case !inside:
			rest[name] = content
		case of[folder] == nil:
			return nil, nil, broken(name, "no bundle of these runs has such a file")
		default:
			of[folder][file] = content
		}
	}
	return of, rest, nil
}

// verifyIncident checks every run by itself, and that the report follows from all of them.
func (v *Verified) verifyIncident(list files, check Check) error {
	of, rest, err := list.runFolders(v.Runs)
	if err != nil {
		return err
	}
	if err := v.checkRuns(of, check); err != nil {
		return err
	}
	if err := v.checkOuter(rest, check); err != nil {
		return err
	}
	v.sayExporter()
	if check.Version != v.Version {
		v.Claims = append(v.Claims, reportHTML, reportMD)
		return nil
	}
	var all []*Figures
	for i := range v.Each {
		all = append(all, v.Each[i].figures)
	}
	again := files{}
	if err := again.deriveIncident(all); err != nil {
		return err
	}
	for _, name := range []string{timelineJSON, timelineCSV, reportMD, reportHTML} {
		if same, err := equal(rest[name], again[name].(held)); err != nil || !same {
			return broken(name, "it does not follow from the runs")
		}
	}
	v.say("the timeline and the report of all follow from the %d runs", len(v.Runs))
	return nil
}

func (v *Verified) checkRuns(of map[string]files, check Check) error {
	head := check.Head
	check.Head = nil
	for _, run := range v.Runs {
		one, err := verifyRun(of[run], check)
		if inside := (*Broken)(nil); errors.As(err, &inside) {
			return &Broken{File: strings.TrimSuffix(run+"/"+inside.File, "/"), Why: inside.Why}
		}
		if err != nil {
			return err
		}
		if one.Run != run {
			return broken(run+"/"+manifestFile, "it is of another run, %s", one.Run)
		}
		v.Each = append(v.Each, one)
		for _, claim := range one.Claims {
			v.Claims = append(v.Claims, run+"/"+claim)
		}
		for _, sentence := range one.Sentences {
			v.say("%s: %s", run, sentence)
		}
	}
	if head == nil {
		return nil
	}
	return v.checkHeadOfAny(of, head)
}

// checkOuter checks the signature of the manifest of all runs.
func (v *Verified) checkOuter(rest files, check Check) error {
	known := []string{manifestFile, signatureFile, reportMD, reportHTML, timelineJSON, timelineCSV}
	for name := range rest {
		if !slices.Contains(known, name) {
			return broken(name, "no bundle has such a file")
		}
	}
	keys := check.Keys
	for i := 0; i < len(v.Each) && len(check.Keys) == 0; i++ {
		keys = append(keys, v.Each[i].keys...)
	}
	v.Pinned = len(check.Keys) > 0
	return v.checkSignature(rest, keys)
}

// checkHeadOfAny wants a head that was kept elsewhere in the log of one of the runs.
func (v *Verified) checkHeadOfAny(of map[string]files, head *audit.Head) error {
	var first error
	for _, run := range v.Runs {
		m, err := materialOf(run, of[run])
		if err != nil {
			return err
		}
		if _, err = verifySegments(m.Segments, audit.VerifyOptions{Run: run, Head: head}); err == nil {
			v.say("the head %s that was kept elsewhere is in the log of %s", head, run)
			return nil
		}
		first = cmp.Or(first, err)
	}
	return broken("the logs", "none of them has the head %s that was kept elsewhere: %v", head, first)
}
