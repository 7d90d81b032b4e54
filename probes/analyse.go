package probes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// selector is one place where a query touches stored series.
type selector struct {
	vector    string            // the bare selector: up{job="catalog"}
	name      string            // the metric's name, "" when it is not matched by equality
	matchers  []*labels.Matcher // all of them, the name's included
	offset    time.Duration     // its own
	window    time.Duration     // its range; zero for an instant selector
	enclosing []subquery        // from the innermost outwards
}

type subquery struct{ window, step, offset time.Duration }

var promqlParser = parser.NewParser(parser.Options{EnableExperimentalFunctions: true})

// analyse finds every selector of a query. What cannot be placed in time before the
// query runs is an error: the @ modifier, negative offsets, durations that are
// expressions, anchored and smoothed ranges, and a query without a selector.
func analyse(query string) ([]selector, error) {
	expr, err := promqlParser.ParseExpr(query)
	if err != nil {
		return nil, err
	}
	var found []selector
	var problem error
	parser.Inspect(expr, func(node parser.Node, path []parser.Node) error {
		if problem == nil {
			problem = unplaceable(node)
		}
		if v, ok := node.(*parser.VectorSelector); ok {
			found = append(found, newSelector(v, path))
		}
		return nil
	})
	if problem != nil {
		return nil, problem
	}
	if len(found) == 0 {
		return nil, errors.New("the query selects no series")
	}
	return found, nil
}

func unplaceable(node parser.Node) error {
	switch n := node.(type) {
	case *parser.VectorSelector:
		switch {
		case n.Timestamp != nil || n.StartOrEnd != 0:
			return errors.New("the @ modifier looks at a fixed moment and not at what happens now")
		case n.OriginalOffset < 0:
			return errors.New("a negative offset looks into the future")
		case n.OriginalOffsetExpr != nil:
			return errors.New("an offset must be a plain duration")
		case n.Anchored || n.Smoothed:
			return errors.New("anchored and smoothed ranges look further back than they say")
		}
	case *parser.MatrixSelector:
		if n.RangeExpr != nil {
			return errors.New("a range must be a plain duration")
		}
	case *parser.SubqueryExpr:
		switch {
		case n.Timestamp != nil || n.StartOrEnd != 0:
			return errors.New("the @ modifier looks at a fixed moment and not at what happens now")
		case n.OriginalOffset < 0:
			return errors.New("a negative offset looks into the future")
		case n.RangeExpr != nil || n.StepExpr != nil || n.OriginalOffsetExpr != nil:
			return errors.New("a subquery's durations must be plain")
		}
	}
	return nil
}

func newSelector(v *parser.VectorSelector, path []parser.Node) selector {
	bare := *v
	bare.OriginalOffset, bare.Offset = 0, 0
	s := selector{vector: bare.String(), matchers: v.LabelMatchers, offset: v.OriginalOffset}
	for _, m := range v.LabelMatchers {
		if m.Name == model.MetricNameLabel && m.Type == labels.MatchEqual {
			s.name = m.Value
		}
	}
	for _, node := range slices.Backward(path) {
		switch n := node.(type) {
		case *parser.MatrixSelector:
			s.window = n.Range
		case *parser.SubqueryExpr:
			s.enclosing = append(s.enclosing, subquery{n.Range, n.Step, n.OriginalOffset})
		}
	}
	return s
}

// instant reports whether the selector takes the latest sample, however old, and not a range.
func (s selector) instant() bool { return s.window == 0 }

// shift is how far the selector looks away from the evaluation time at its nearest.
func (s selector) shift() time.Duration {
	sum := s.offset
	for _, q := range s.enclosing {
		sum += q.offset
	}
	return sum
}

// reach is how far the selector looks back at its furthest.
func (s selector) reach() time.Duration {
	sum := s.shift() + s.window
	for _, q := range s.enclosing {
		sum += q.window
	}
	return sum
}

// newest and stalest are the queries for the newest sample that the selector can see,
// of the series that is furthest ahead and of the one that is furthest behind.
// timestamp() gives a sample's time only for a bare selector, so it stands innermost.
func (s selector) newest() string  { return "max(" + timestampOf(s.vector, s.shift()) + ")" }
func (s selector) stalest() string { return "min(" + timestampOf(s.vector, s.shift()) + ")" }

// sources is the query for the number of series behind the selector.
func (s selector) sources() string { return "count(" + s.vector + offsetText(s.shift()) + ")" }

// oldest is the query for the oldest sample that an instant selector's value rests on.
func (s selector) oldest() string {
	inner := timestampOf(s.vector, s.offset)
	for _, q := range s.enclosing {
		inner = fmt.Sprintf("min_over_time(%s[%s:%s]%s)", inner, durationText(q.window), stepText(q.step),
			offsetText(q.offset))
	}
	return "min(" + inner + ")"
}

func timestampOf(vector string, offset time.Duration) string {
	return "timestamp(" + vector + offsetText(offset) + ")"
}

func offsetText(offset time.Duration) string {
	if offset == 0 {
		return ""
	}
	return " offset " + durationText(offset)
}

func stepText(step time.Duration) string {
	if step == 0 {
		return ""
	}
	return durationText(step)
}

func durationText(d time.Duration) string { return model.Duration(d).String() }

// recorded reports whether the selector may touch series that rules write: names with
// a colon, alerts, or no particular name.
func (s selector) recorded() bool {
	return s.name == "" || strings.Contains(s.name, ":") || s.name == alertsName || s.name == alertsForName
}
