package runbook

import (
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// selector is one use of a metric in a query, with how far back it looks.
type selector struct {
	metric   string
	matchers []*labels.Matcher
	ranged   bool          // a range selector, not an instant one
	width    time.Duration // the range of a range selector
	span     time.Duration // the range, and the ranges and offsets around it
}

// selectorsOf lists the uses of metrics in a query that has been checked.
func selectorsOf(query string) []selector {
	expr := parsedQuery(query)
	if expr == nil {
		return nil
	}
	var all []selector
	parser.Inspect(expr, func(n parser.Node, path []parser.Node) error {
		if v, ok := n.(*parser.VectorSelector); ok {
			all = append(all, selectorAt(v, path))
		}
		return nil
	})
	return all
}

func selectorAt(v *parser.VectorSelector, path []parser.Node) selector {
	s := selector{metric: metricName(v), matchers: v.LabelMatchers, span: v.OriginalOffset}
	for _, around := range path {
		switch around := around.(type) {
		case *parser.MatrixSelector:
			s.ranged, s.width = true, around.Range
			s.span += around.Range
		case *parser.SubqueryExpr:
			s.span += around.Range + around.OriginalOffset
		}
	}
	return s
}

func metricName(v *parser.VectorSelector) string {
	if v.Name != "" {
		return v.Name
	}
	for _, m := range v.LabelMatchers {
		if m.Name == model.MetricNameLabel && m.Type == labels.MatchEqual {
			return m.Value
		}
	}
	return ""
}

// recorded reports whether the metric is the result of a recording rule, by the
// colon that such names have.
func (s selector) recorded() bool { return strings.Contains(s.metric, ":") }
