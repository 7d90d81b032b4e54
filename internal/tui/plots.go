package tui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/NimbleMarkets/ntcharts/canvas"
	"github.com/NimbleMarkets/ntcharts/linechart"
	"github.com/NimbleMarkets/ntcharts/linechart/timeserieslinechart"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// leastPlot is the least room in which a plot says anything, in cells.
const (
	leastPlotWidth  = 36
	leastPlotHeight = 7
)

// plots draws the probes that the exit judges, and then all others that were measured, as many as
// there is room for, from the offset on, and says how many a page has.
func (d *drawing) plots(width, height int, offset *int) (drawn []string, page int) {
	across := max(1, width/(2*leastPlotWidth)+1)
	down := max(1, height/(leastPlotHeight+2))
	asks := d.plotted()
	if len(asks) == 0 || width < leastPlotWidth || height < leastPlotHeight {
		return []string{d.fit("nothing to plot yet, or no room: a plot needs 36 columns and 7 rows", width)}, 1
	}
	*offset = min(*offset, max(0, len(asks)-1))
	page = across * down
	all, first := len(asks), *offset/page*page
	asks = asks[first:min(len(asks), first+page)]
	shown := len(asks)
	across = min(across, len(asks))
	down = (len(asks) + across - 1) / across
	var rows []string
	for len(asks) > 0 {
		n := min(across, len(asks))
		rows = append(rows, d.plotRow(asks[:n], width/across, (height-1)/down)...)
		asks = asks[n:]
	}
	if shown < all {
		rows = append(fill(rows, height-1), d.ink.quiet.paint(d.fit(fmt.Sprintf("probes %d to %d of %d; PgDn, PgUp", first+1, first+shown, all), width)))
	}
	return rows, page
}

// plotted are the questions worth a plot: those of the exit first.
func (d *drawing) plotted() []probes.Ask {
	asks := probes.Asks(d.s.Doc, d.s.Doc.Exit.When, "", "")
	for i := range d.s.Doc.Probes {
		if ask := (probes.Ask{Probe: d.s.Doc.Probes[i].Name}); !slices.Contains(asks, ask) {
			asks = append(asks, ask)
		}
	}
	return slices.DeleteFunc(asks, func(ask probes.Ask) bool {
		past := d.story.pasts[ask]
		return past == nil || len(past.points) < 2
	})
}

func (d *drawing) plotRow(asks []probes.Ask, width, height int) []string {
	rows := make([]string, height)
	for _, ask := range asks {
		for i, line := range d.plot(ask, width, height) {
			rows[i] += padPainted(line, width)
		}
	}
	return rows
}

// plot is one probe over the last minutes, with its title above.
func (d *drawing) plot(ask probes.Ask, width, height int) []string {
	points := d.story.pasts[ask].points
	last := points[len(points)-1]
	unit := ""
	if p := d.s.Doc.Probe(ask.Probe); p != nil {
		unit = p.Unit
	}
	against := d.originFigures(unit)
	title := ask.Probe + " " + runbook.FormatQuantity(shortened(last.high), unit)
	for _, f := range against {
		title += ", " + f.Name + " " + runbook.FormatQuantity(f.Value, "")
	}
	rows := []string{d.heading(title, width-1)}
	return append(rows, fill(d.line(points, against, width-1, height-1), height-1)...)
}

// originFigures are the limit and the knee, for what is measured in their unit.
func (d *drawing) originFigures(unit string) (figures []*runbook.Figure) {
	for _, name := range [...]string{figureLimit, figureKnee} {
		if f := d.s.Doc.Figure(name); f != nil && f.Unit == unit {
			figures = append(figures, f)
		}
	}
	return figures
}

// line draws points with the chart of the library, against figures as levels.
func (d *drawing) line(points []point, against []*runbook.Figure, width, height int) []string {
	begin := max(0, len(points)-longestPast)
	from, to := points[begin].time(), points[len(points)-1].time()
	low, top := 0.0, 0.0
	for _, p := range points[begin:] {
		low, top = min(low, p.high), max(top, p.high)
	}
	for _, f := range against {
		low, top = min(low, f.Value), max(top, f.Value)
	}
	if top == low {
		top = low + 1
	}
	chart := timeserieslinechart.New(width, height,
		timeserieslinechart.WithTimeRange(from, to), timeserieslinechart.WithYRange(low, top),
		timeserieslinechart.WithXYSteps(2, 2),
		timeserieslinechart.WithXLabelFormatter(clockLabel), timeserieslinechart.WithYLabelFormatter(numberLabel))
	for _, p := range points[begin:] {
		chart.Push(timeserieslinechart.TimePoint{Time: p.time(), Value: p.high})
	}
	if d.ink.ascii {
		chart.Draw()
	} else {
		chart.DrawBraille()
	}
	for _, f := range against {
		d.level(&chart, (f.Value-low)/(top-low))
	}
	return strings.Split(chart.View(), "\n")
}

// level marks a height of the graph, from 0 to 1, where its line leaves room.
func (d *drawing) level(chart *timeserieslinechart.Model, share float64) {
	up := min(int(share*float64(chart.GraphHeight())), chart.GraphHeight()-1)
	at := canvas.Point{Y: chart.Origin().Y - 1 - up}
	for at.X = chart.Origin().X + 1; at.X < chart.Width(); at.X += 2 {
		if r := chart.Canvas.Cell(at).Rune; r == 0 || r == ' ' {
			chart.Canvas.SetRune(at, d.signs.level)
		}
	}
}

// shortened has four digits.
func shortened(v float64) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	return short
}

var clockLabel linechart.LabelFormatter = func(_ int, v float64) string { return time.Unix(int64(v), 0).UTC().Format("15:04:05") }

// numberLabel keeps labels short: 12.5k, 0.02.
var numberLabel linechart.LabelFormatter = func(_ int, v float64) string {
	if v >= 10_000 {
		return fmt.Sprintf("%.3gk", v/1000)
	}
	return fmt.Sprintf("%.4g", v)
}
