package evidence

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rewarm/rewarm/runbook"
)

// The room of a plot, in the units of its picture.
const (
	plotWidth, plotHeight     = 640.0, 150.0
	plotLeft, plotTop, plotIn = 64.0, 8.0, 112.0
	plotInner                 = plotWidth - plotLeft - 8
	plotLabel                 = 11.0 // the height of a line of text
)

// bounds are the lowest and the highest value of a plot; zero is always between them.
func (p plot) bounds() (low, top float64) {
	for _, l := range p.lines {
		for _, d := range l.dots {
			low, top = min(low, d.value), max(top, d.value)
		}
	}
	for _, h := range p.hands {
		low, top = min(low, h.value), max(top, h.value)
	}
	if top == low {
		top = low + 1
	}
	measured := top
	for _, r := range p.references {
		if r.Value <= nearReference*measured {
			top = max(top, r.Value)
		}
	}
	return low, top
}

// nearReference is up to how many times what was measured a figure of the runbook is still drawn.
const nearReference = 1.5

// SVG draws the plot. Colours come from the page, so that it can be read in light, in dark and in print.
func (p plot) SVG() string {
	var b strings.Builder
	d := drawing{&b, p, 0, 0}
	d.low, d.top = p.bounds()
	fmt.Fprintf(&b, `<svg viewBox="0 0 %.0f %.0f" role="img" aria-label="%s over time, %s to %s UTC">`,
		plotWidth, plotHeight, html.EscapeString(p.Probe), p.from.UTC().Format("15:04:05"), p.to.UTC().Format("15:04:05"))
	fmt.Fprintf(&b, `<rect class="frame" x="%.0f" y="%.0f" width="%.0f" height="%.0f"/>`, plotLeft, plotTop,
		plotInner, plotIn)
	d.flips()
	d.references()
	d.lines()
	d.hands()
	d.axes()
	b.WriteString("</svg>")
	return b.String()
}

// drawing is a plot that is being drawn.
type drawing struct {
	*strings.Builder
	plot
	low, top float64
}

func (d *drawing) x(at time.Time) float64 {
	return plotLeft + plotInner*min(1, max(0, float64(at.Sub(d.from))/float64(d.to.Sub(d.from))))
}

func (d *drawing) y(v float64) float64 { return plotTop + plotIn*(1-(v-d.low)/(d.top-d.low)) }

func (d *drawing) flips() {
	for _, flip := range d.plot.flips {
		if !flip.At.Before(d.from) && !flip.At.After(d.to) {
			fmt.Fprintf(d, `<path class="flip" d="M%.1f %.0fv%.0f"><title>%s %s</title></path>`, d.x(flip.At), plotTop, plotIn,
				clock(flip.At), html.EscapeString(visible(flipText(flip))))
		}
	}
}

// references are drawn from the highest down; those that are close together share a label.
func (d *drawing) references() {
	list := slices.SortedStableFunc(slices.Values(d.plot.references),
		func(a, b Reference) int { return cmp.Compare(b.Value, a.Value) })
	var names []string
	for i, r := range list {
		if r.Value > d.top {
			continue
		}
		fmt.Fprintf(d, `<path class="reference" d="M%.0f %.1fh%.0f"/>`, plotLeft, d.y(r.Value), plotInner)
		names = append(names, r.Name)
		if i+1 < len(list) && d.y(list[i+1].Value)-d.y(r.Value) < plotLabel {
			continue
		}
		fmt.Fprintf(d, `<text class="reference" x="%.0f" y="%.1f" text-anchor="end">%s</text>`,
			plotLeft+plotInner-4, max(d.y(r.Value)-3, plotTop+9), html.EscapeString(strings.Join(names, ", ")))
		names = nil
	}
}

func (d *drawing) lines() {
	first := len(d.plot.lines) - d.observed
	for i, l := range d.plot.lines {
		class := fmt.Sprintf("l%d", i)
		if i >= first {
			class = fmt.Sprintf("l%d observed", i-first)
		}
		fmt.Fprintf(d, `<polyline class="line %s" points="`, class)
		for _, dot := range l.dots {
			fmt.Fprintf(d, "%.1f,%.1f ", d.x(dot.at), d.y(dot.value))
		}
		d.WriteString(`"/>`)
	}
}

func (d *drawing) hands() {
	for _, h := range d.plot.hands {
		fmt.Fprintf(d, `<circle class="hand" cx="%.1f" cy="%.1f" r="3"><title>read by hand by %s</title></circle>`,
			d.x(h.at), d.y(h.value), html.EscapeString(visible(h.by)))
	}
}

func (d *drawing) axes() {
	for _, v := range []float64{d.low, (d.low + d.top) / 2, d.top} {
		fmt.Fprintf(d, `<text x="%.0f" y="%.1f" text-anchor="end">%s</text>`, plotLeft-6, d.y(v)+4,
			html.EscapeString(axis(v, d.Unit)))
	}
	for part := range 5 {
		at := d.from.Add(time.Duration(part) * d.to.Sub(d.from) / 4)
		anchor := "middle"
		if part == 4 {
			anchor = "end" // there is no room behind it
		}
		fmt.Fprintf(d, `<text x="%.0f" y="%.0f" text-anchor="%s">%s</text>`, d.x(at), plotTop+plotIn+16, anchor,
			at.UTC().Format("15:04:05"))
	}
}

// axis is a value at an axis, short.
func axis(v float64, unit string) string {
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 3, 64), 64)
	if unit == "s" || unit == "ratio" || unit == "percent" {
		return runbook.FormatQuantity(rounded, unit)
	}
	return runbook.FormatQuantity(rounded, "")
}
