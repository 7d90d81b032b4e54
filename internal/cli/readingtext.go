package cli

import (
	"strconv"
	"strings"
	"time"

	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// reading is a reading by hand that stands, as `status --output json` prints it.
type reading struct {
	Probe     string    `json:"probe"`
	From      string    `json:"from,omitempty"` // the rung that it is for
	To        string    `json:"to,omitempty"`
	Value     string    `json:"value"` // in the unit
	Unit      string    `json:"unit"`
	Source    string    `json:"source"`
	By        string    `json:"by"`
	Confirmed []string  `json:"confirmed,omitempty"`
	Given     time.Time `json:"given"`
	Until     time.Time `json:"until"`
	Digest    string    `json:"digest"`
}

func readingsOf(s *steps.State, now time.Time) []reading {
	var list []reading
	for _, r := range s.Readings(now) {
		list = append(list, reading{Probe: r.Ask.Probe, From: r.Ask.From, To: r.Ask.To, Value: plainNumber(r.Value),
			Unit:   r.Unit,
			Source: r.Source, By: r.By, Confirmed: r.Confirmed, Given: r.Given.UTC(), Until: r.Until.UTC(), Digest: r.Digest})
	}
	return list
}

func plainNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// readingRows are the readings by hand that stand, and what confirms those of one person.
func readingRows(s *steps.State, now time.Time) []string {
	var rows []string
	for _, r := range s.Readings(now) {
		row := "by hand: " + askText(r.Ask.Probe, r.Ask.From, r.Ask.To) + " " + r.Shown() + ", " + r.Text()
		if len(r.Confirmed) == 0 {
			row += "; it lifts nothing until another person says: approve " + short(r.Digest)
		}
		rows = append(rows, oneLine(row))
	}
	return rows
}

// askText names a probe and the rung that it is asked for.
func askText(probe, from, to string) string {
	if from+to == "" {
		return probe
	}
	return probe + "@" + from + ".." + to
}

// manualText tells of a reading that was given by hand, or of a second person's word for it.
func manualText(b *steps.ManualBody) string {
	value, err := strconv.ParseFloat(b.Value, 64)
	shown := b.Value + " " + b.Unit
	if err == nil {
		shown = runbook.FormatQuantity(value, b.Unit)
	}
	what := askText(b.Ask.Probe, b.Ask.From, b.Ask.To) + " " + strings.TrimSpace(shown)
	if b.Confirms != "" {
		return "reading " + short(b.Digest) + " of " + what + " by hand of " + b.Confirms + " confirmed by " + b.By +
			from(b.Origin)
	}
	return "reading " + short(b.Digest) + " BY HAND by " + b.By + from(b.Origin) + ": " + what +
		", from " + strconv.Quote(b.Source) + ", until " + b.Until.UTC().Format("15:04:05Z") +
		"; a release takes another person's approve " + short(b.Digest)
}

// byHandOf names the steps that were done by hand and are not taken back.
func byHandOf(s *steps.State) []string {
	var list []string
	for _, h := range s.DoneByHand() {
		list = append(list, h.String())
	}
	return list
}
