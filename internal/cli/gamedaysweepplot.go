package cli

import (
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/rewarm/rewarm/internal/gameday"
	"github.com/rewarm/rewarm/runbook"
)

const (
	sweepNames = 220.0 // width of the names of the variants
	sweepBar   = 20.0  // height of a variant
)

// writeSweepPlot draws each figure with a bar for each variant: from the least to the
// greatest, thick from the median to the 95th percentile.
func writeSweepPlot(w io.Writer, s *gameday.Sweep) error {
	var b strings.Builder
	panel := sweepBar*float64(len(s.Variants)) + panelGap
	height := marginTop + panel*float64(len(sweepScores))
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" font-family="sans-serif" font-size="12">`+"\n",
		sweepNames+panelWidth+60, height)
	title := fmt.Sprintf("%s, seeds %d..%d: least to greatest, thick from the median to the 95th percentile (every figure is a model's)", s.Day, s.From, s.To)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" fill="white"/><text x="10" y="20" font-size="14">%s</text>`+"\n",
		html.EscapeString(printable(title)))
	top := marginTop
	for _, d := range runbook.DayScores {
		if shown(d.Name) {
			drawScore(&b, s, d.Name, d.Unit, top)
			top += panel
		}
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func drawScore(b *strings.Builder, s *gameday.Sweep, score, unit string, top float64) {
	most := 0.0
	for i := range s.Variants {
		sketch := s.Variants[i].Scores[score]
		most = max(most, sketch.Max)
	}
	most = niceMost(most)
	x := func(v float64) float64 { return sweepNames + panelWidth*v/most }
	fmt.Fprintf(b, `<text x="%.0f" y="%.1f">%s, %s</text>`+"\n", sweepNames, top-5, score, html.EscapeString(unit))
	for _, part := range []float64{0, 0.25, 0.5, 0.75, 1} {
		fmt.Fprintf(b, `<path d="M%.1f %.1fv%.1f" stroke="#ddd"/><text x="%.1f" y="%.1f" font-size="9" text-anchor="middle">%s</text>`+"\n",
			x(part*most), top, sweepBar*float64(len(s.Variants)), x(part*most), top+sweepBar*float64(len(s.Variants))+10,
			trimmed(part*most))
	}
	for i := range s.Variants {
		v := &s.Variants[i]
		sketch, middle := v.Scores[score], top+sweepBar*(float64(i)+0.5)
		fmt.Fprintf(b, `<text x="%.0f" y="%.1f" text-anchor="end">%s</text>`, sweepNames-6, middle+4,
			html.EscapeString(printable(v.Name)))
		if sketch.Count == 0 {
			continue
		}
		least, median, high, greatest := x(sketch.Min), x(sketch.Quantile(0.5)), x(sketch.Quantile(0.95)), x(sketch.Max)
		fmt.Fprintf(b, `<path d="M%.1f %.1fH%.1f" stroke="#1f5fa8"/><path d="M%.1f %.1fH%.1f" stroke="#1f5fa8" stroke-width="7"/>`,
			least, middle, greatest, median, middle, max(high, median+1))
		fmt.Fprintf(b, `<path d="M%.1f %.1fv12" stroke="#b3261e" stroke-width="2"/>`+"\n", median, middle-6)
	}
}
