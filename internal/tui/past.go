package tui

import (
	"strings"
	"time"
)

// past is what a probe measured lately, oldest first.
type past struct{ points []point }

// point is one answer: when it was, in nanoseconds since 1970, and the lowest and the highest of its series.
type point struct {
	at        int64
	low, high float64
}

func (p point) time() time.Time { return time.Unix(0, p.at) }

// longestPast bounds what is kept of one probe: ten minutes at a poll a second.
const longestPast = 600

func (p *past) add(at point) {
	if len(p.points) >= 2*longestPast {
		p.points = append([]point{}, p.points[len(p.points)-longestPast:]...) // a clone of the story has the others yet
	}
	p.points = append(p.points, at)
}

// graph draws the last minutes in as many cells as the row has, one row high, each cell the worst of its time:
// the highest when high is set, else the lowest. Where something was flipped stands a mark. What was in the row is lost.
func (p *past) graph(row []mark, until time.Time, span time.Duration, high bool, flips []time.Time, s *signs) string {
	if p == nil {
		return spaces(len(row))
	}
	clear(row)
	p.worst(row, until, span, high)
	low, top := extremes(row)
	markFlips(row, until, span, flips)
	var b strings.Builder
	b.Grow(len(row) * len(s.flip))
	for _, m := range row {
		switch {
		case m.flip:
			b.WriteString(s.flip)
		case !m.seen:
			b.WriteByte(' ')
		default:
			b.WriteString(s.levels[level(m.value, low, top, len(s.levels))])
		}
	}
	return b.String()
}

// mark is one cell of a graph.
type mark struct {
	value float64
	seen  bool // something was measured in its time
	flip  bool // something was flipped
}

func (p *past) worst(row []mark, until time.Time, span time.Duration, high bool) {
	for i := len(p.points) - 1; i >= 0; i-- {
		cell, ok := cellOf(p.points[i].time(), len(row), until, span)
		if !ok {
			break
		}
		value := p.points[i].low
		if high {
			value = p.points[i].high
		}
		if m := &row[cell]; !m.seen || high && value > m.value || !high && value < m.value {
			m.value, m.seen = value, true
		}
	}
}

// cellOf is the cell of a moment; false when it lies before the graph.
func cellOf(at time.Time, cells int, until time.Time, span time.Duration) (int, bool) {
	back := until.Sub(at)
	if back > span {
		return 0, false
	}
	return max(0, min(cells-1, cells-1-int(back*time.Duration(cells)/(span+1)))), true
}

func markFlips(row []mark, until time.Time, span time.Duration, flips []time.Time) {
	for i := len(flips) - 1; i >= 0; i-- {
		cell, ok := cellOf(flips[i], len(row), until, span)
		if !ok {
			break
		}
		row[cell].flip = true
	}
}

func extremes(row []mark) (low, top float64) {
	first := true
	for _, m := range row {
		if m.seen && (first || m.value < low) {
			low = m.value
		}
		if m.seen && (first || m.value > top) {
			top = m.value
		}
		first = first && !m.seen
	}
	return min(low, 0), top
}

func level(value, low, top float64, levels int) int {
	if top <= low {
		return 0
	}
	return max(0, min(levels-1, int((value-low)/(top-low)*float64(levels-1)+0.5)))
}
