package cli

import (
	"context"
	"errors"
	"fmt"
	"html"
	"math"
	"os"
	"strings"
	"time"

	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/runbook"
)

// curve is one run of a plot: how the lab stood, second by second.
type curve []lab.Figures

// lead is how much of the time before the collapse a plot shows.
const lead = 2 * time.Minute

// plotComparison writes a picture of a scenario left alone and walked, as SVG.
func plotComparison(
	ctx context.Context, file string, doc *runbook.Document, scenario *lab.Scenario, seed uint64,
) error {
	alone, err := recorded(ctx, doc, scenario, seed, func(t *trial) error { _, err := t.leftAlone(ctx); return err })
	if err != nil {
		return err
	}
	walked, err := recorded(ctx, doc, scenario, seed, func(t *trial) error { _, err := t.walked(ctx, true); return err })
	if err != nil {
		return err
	}
	title := fmt.Sprintf("%s, seed %d: left alone, and walked with %s (every figure is a model's)", scenario.Name,
		seed, doc.Name)
	return os.WriteFile(file, []byte(drawPlots(title, alone, walked)), 0o644)
}

// longestPlot bounds what is drawn, in the lab's time after the collapse.
const longestPlot = 25 * time.Minute

func recorded(
	ctx context.Context, doc *runbook.Document, scenario *lab.Scenario, seed uint64, play func(*trial) error,
) (curve, error) {
	collapse := scenario.Start + collapseAfter
	l, err := lab.New(lab.Options{Seed: seed, Scenario: scenario, From: collapse - lead,
		Start: dayOfTrials.Add(collapse - lead)})
	if err != nil {
		return nil, err
	}
	defer l.Close()
	var seen curve
	t := &trial{doc: doc, lab: l, longest: longestPlot, each: func() error {
		if f := l.Figures(); len(seen) == 0 || f.At-seen[len(seen)-1].At >= time.Second {
			seen = append(seen, f)
		}
		return nil
	}}
	for range int(lead / time.Second) {
		if err := t.second(ctx); err != nil {
			return nil, err
		}
	}
	t.began = l.Clock().Now()
	if err := play(t); err != nil && !errors.Is(err, errTooLong) {
		return nil, err
	}
	return seen, nil
}

// panel is one small plot.
type panel struct {
	title  string
	most   float64 // of its axis; 0 for what the curves need
	values func(now, before lab.Figures, seconds float64) float64
}

var panels = []panel{
	{"reads that got an answer, fresh or declared stale, a second", 130_000, func(n, b lab.Figures, s float64) float64 {
		return float64(n.Fresh+n.DeclaredStale-b.Fresh-b.DeclaredStale) / s
	}},
	{"hits of all lookups, percent: what the dashboard shows", 100, func(n, b lab.Figures, _ float64) float64 {
		return 100 * float64(n.Hits-b.Hits) / float64(max(1, n.Lookups-b.Lookups))
	}},
	{"attempts at the origin a second, refused ones too", 0, func(n, b lab.Figures, s float64) float64 {
		return float64(n.Attempts-b.Attempts) / s
	}},
	{"goodput: attempts that the origin completes a second", 4400, func(n, b lab.Figures, s float64) float64 {
		return float64(n.Completed-b.Completed) / s
	}},
	{"queue age at the origin, seconds", 3.2, func(n, _ lab.Figures, _ float64) float64 { return n.QueueAge }},
	{"declared stale, percent of the reads", 0, func(n, b lab.Figures, _ float64) float64 {
		return 100 * float64(n.DeclaredStale-b.DeclaredStale) / float64(max(1, n.Reads-b.Reads))
	}},
}

const (
	panelWidth, panelHeight = 900.0, 150.0
	marginLeft, marginTop   = 70.0, 60.0
	panelGap                = 42.0
)

// drawPlots draws all panels over one axis of time.
func drawPlots(title string, alone, walked curve) string {
	var b strings.Builder
	height := marginTop + float64(len(panels))*(panelHeight+panelGap)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="sans-serif" font-size="12">`+"\n", marginLeft+panelWidth+30, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/><text x="%.0f" y="20" font-size="14">%s</text>`+"\n",
		marginLeft, html.EscapeString(title))
	fmt.Fprintf(&b, `<text x="%.0f" y="38" fill="#b3261e">left alone</text><text x="%.0f" y="38" fill="#1f5fa8">walked, the gates approve</text>`+"\n", marginLeft, marginLeft+90)
	from := alone[0].At
	to := max(alone[len(alone)-1].At, walked[len(walked)-1].At)
	for i, p := range panels {
		top := marginTop + float64(i)*(panelHeight+panelGap)
		drawPanel(&b, p, top, from, to, alone, walked)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func drawPanel(b *strings.Builder, p panel, top float64, from, to time.Duration, alone, walked curve) {
	red, blue := p.of(alone), p.of(walked)
	most := p.most
	if most == 0 {
		for _, v := range append(append([]float64(nil), red...), blue...) {
			most = max(most, v)
		}
		most = niceMost(most)
	}
	x := func(at time.Duration) float64 { return marginLeft + panelWidth*float64(at-from)/float64(to-from) }
	y := func(v float64) float64 { return top + panelHeight*(1-min(v, most)/most) }
	fmt.Fprintf(b, `<text x="%.0f" y="%.1f">%s</text><rect x="%.0f" y="%.1f" width="%.0f" height="%.0f" fill="none" stroke="#999"/>`+"\n",
		marginLeft, top-5, html.EscapeString(p.title), marginLeft, top, panelWidth, panelHeight)
	for _, part := range []float64{0, 0.5, 1} {
		fmt.Fprintf(b, `<text x="%.0f" y="%.1f" text-anchor="end">%s</text>`, marginLeft-6, y(part*most)+4,
			trimmed(part*most))
	}
	for at := from.Truncate(time.Minute); at <= to; at += time.Minute {
		if at >= from {
			fmt.Fprintf(b, `<path d="M%.1f %.1fv%.0f" stroke="#ddd"/><text x="%.1f" y="%.1f" font-size="9" text-anchor="middle">%s</text>`,
				x(at), top, panelHeight, x(at), top+panelHeight+11, time.Time{}.Add(at).Format("15:04"))
		}
	}
	line := func(c curve, values []float64, color string) {
		fmt.Fprintf(b, "\n"+`<polyline fill="none" stroke="%s" stroke-width="1.4" points="`, color)
		for i, v := range values {
			fmt.Fprintf(b, "%.1f,%.1f ", x(c[i+1].At), y(v))
		}
		b.WriteString(`"/>`)
	}
	line(alone, red, "#b3261e")
	line(walked, blue, "#1f5fa8")
	b.WriteString("\n")
}

// of gives a panel's values of a curve, from its second moment on.
func (p panel) of(c curve) []float64 {
	values := make([]float64, 0, len(c))
	for i := 1; i < len(c); i++ {
		values = append(values, p.values(c[i], c[i-1], (c[i].At-c[i-1].At).Seconds()))
	}
	return values
}

// niceMost rounds an axis up.
func niceMost(v float64) float64 {
	if v <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	return math.Ceil(v/unit*2) / 2 * unit
}

func trimmed(v float64) string {
	return strings.TrimSuffix(strings.TrimRight(fmt.Sprintf("%.1f", v), "0"), ".")
}
