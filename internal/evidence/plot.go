package evidence

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rewarm/rewarm/steps"
)

// plot is one probe over the run, with every flip marked.
type plot struct {
	Probe, Unit string
	Captured    bool      // drawn from what Prometheus kept, else from what the walk observed
	Before      time.Time // what was captured begins only here; before it, what the walk observed is drawn
	More        int       // series that are not drawn
	lines       []line
	observed    int // how many lines at the end of lines are observations before the capture
	from, to    time.Time
	flips       []FlipFigure
	references  []Reference // of the same unit
	hands       []hand
}

// line is one series of a plot.
type line struct {
	label string // what tells it from the others, "" when it is alone
	dots  []dot
}

type dot struct {
	at    time.Time
	value float64
}

// hand is a value that a person gave.
type hand struct {
	dot
	by string
}

// ByHand reports whether some of what is drawn was given by hand.
func (p plot) ByHand() bool { return len(p.hands) > 0 }

// Legend gives the labels of the lines, in their order; none where one line is alone.
func (p plot) Legend() []string {
	var labels []string
	for _, l := range p.lines[:len(p.lines)-p.observed] {
		if l.label != "" {
			labels = append(labels, l.label)
		}
	}
	return labels
}

// Observed reports whether a captured plot begins with observations.
func (p plot) Observed() bool { return p.observed > 0 }

// mostLines bounds the series of one plot; those with the highest values are drawn.
const mostLines = 6

// plotsOf draws the probes in the order of the runbook: what Prometheus kept where it was captured, else the
// observations of the walk.
func plotsOf(f *Figures, ranges *Ranges) []plot {
	var flips []FlipFigure
	for _, x := range f.Flips {
		if x.Result == string(steps.ResultApplied) {
			flips = append(flips, x)
		}
	}
	plots := []plot{}
	for i := range f.Probes {
		p := plot{Probe: f.Probes[i].Probe, Unit: f.Probes[i].Unit, flips: flips, from: f.Began, to: f.LastAt}
		for _, r := range f.References {
			if r.Unit == p.Unit {
				p.references = append(p.references, r)
			}
		}
		if captured := rangeOf(ranges, p.Probe); captured != nil {
			p.lines, p.More = linesOf(captured)
		}
		p.hands = handsOf(&f.Probes[i])
		p.Captured = len(p.lines) > 0
		p.join(observedLines(&f.Probes[i]), f.Began)
		if p.span() {
			plots = append(plots, p)
		}
	}
	return plots
}

// join draws what the walk observed where nothing was captured: the whole course, or its beginning when
// Prometheus did not keep that any more.
func (p *plot) join(observed []line, began time.Time) {
	if !p.Captured {
		p.lines = observed
		return
	}
	begins := earliest(p.lines)
	if begins.Sub(began) <= plotSlack {
		return
	}
	p.Before = begins
	for _, l := range observed {
		if early := before(l.dots, begins); len(early) > 0 {
			p.lines, p.observed = append(p.lines, line{l.label, early}), p.observed+1
		}
	}
}

func before(dots []dot, at time.Time) []dot {
	if i := slices.IndexFunc(dots, func(d dot) bool { return !d.at.Before(at) }); i >= 0 {
		return dots[:i]
	}
	return dots
}

// plotSlack is how much later than the run a capture may begin to be whole: series begin with a scrape.
const plotSlack = 15 * time.Second

func earliest(lines []line) time.Time {
	at := lines[0].dots[0].at
	for _, l := range lines {
		if l.dots[0].at.Before(at) {
			at = l.dots[0].at
		}
	}
	return at
}

func rangeOf(ranges *Ranges, probe string) *Range {
	if ranges == nil {
		return nil
	}
	for i := range ranges.Probes {
		if ranges.Probes[i].Probe == probe {
			return &ranges.Probes[i]
		}
	}
	return nil
}

// linesOf gives the series with the highest values, and how many others there are.
func linesOf(r *Range) (lines []line, more int) {
	for _, series := range r.Series {
		l := line{label: series.Labels}
		for _, point := range series.Points {
			if value, ok := finite(point.Value); ok {
				l.dots = append(l.dots, dot{point.At, value})
			}
		}
		if len(l.dots) > 0 {
			lines = append(lines, l)
		}
	}
	tellApart(lines)
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(highest(b.dots), highest(a.dots)) })
	drawn := min(len(lines), mostLines)
	return lines[:drawn], len(lines) - drawn
}

// labelPair is one label with its value, as a series prints it.
var labelPair = regexp.MustCompile(`[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\]|\\.)*"`)

// tellApart leaves of the labels those that some of the series do not share.
func tellApart(lines []line) {
	if len(lines) == 1 {
		lines[0].label = ""
		return
	}
	shared := map[string]int{}
	for _, l := range lines {
		for _, pair := range labelPair.FindAllString(l.label, -1) {
			shared[pair]++
		}
	}
	for i := range lines {
		var own []string
		for _, pair := range labelPair.FindAllString(lines[i].label, -1) {
			if shared[pair] < len(lines) {
				own = append(own, pair)
			}
		}
		if len(own) > 0 {
			lines[i].label = strings.Join(own, ", ")
		}
	}
}

func handsOf(p *ProbeFigure) []hand {
	var hands []hand
	for _, s := range p.Points {
		if value, ok := finite(s.Max); ok && s.ByHand != "" {
			hands = append(hands, hand{dot{s.At, value}, s.ByHand})
		}
	}
	return hands
}

func observedLines(p *ProbeFigure) []line {
	var low, high []dot
	apart := false
	for _, sample := range p.Points {
		least, ok1 := finite(sample.Min)
		most, ok2 := finite(sample.Max)
		if ok1 && ok2 {
			low, high = append(low, dot{sample.At, least}), append(high, dot{sample.At, most})
			apart = apart || least != most
		}
	}
	switch {
	case len(high) == 0:
		return nil
	case apart:
		return []line{{"highest of its series", high}, {"lowest of its series", low}}
	}
	return []line{{"", high}}
}

func finite(text string) (float64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && !math.IsNaN(v) && !math.IsInf(v, 0)
}

func highest(dots []dot) float64 {
	top := math.Inf(-1)
	for _, d := range dots {
		top = max(top, d.value)
	}
	return top
}

// span widens the time of a plot from that of the run to all that is drawn; false when there is nothing to draw.
func (p *plot) span() bool {
	points := 0
	for _, l := range p.lines {
		points = max(points, len(l.dots))
		for _, d := range l.dots {
			if d.at.Before(p.from) {
				p.from = d.at
			}
			if d.at.After(p.to) {
				p.to = d.at
			}
		}
	}
	return points > 1 && p.to.After(p.from)
}
