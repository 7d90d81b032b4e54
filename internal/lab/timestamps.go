package lab

import (
	"slices"
	"strings"
	"sync"
	"time"

	prom "github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
)

// Gates ask, beside every value, how old the samples behind it are: dozens of
//
//	label_replace(min(timestamp(SELECTOR)), "tag", "0", "", "") or label_replace(…) or …
//
// in one query. Here all series are scraped at once, so the answer to each of them follows
// from the times of the scrapes. What else is asked in the same query is left to the
// engine, and so is every query of another shape.

// agesOf answers such queries over a store.
type agesOf struct {
	store  *store
	parser parser.Parser

	mu    sync.Mutex
	known map[string]*questions // by query; nil when it has another shape
}

// questions is a query taken apart.
type questions struct {
	tag  string // the label that tells the questions apart
	all  []question
	rest string // those that the engine has to answer, as one query; "" for none
}

// question is one part of a query: label_replace(…, tag, value, "", "").
type question struct {
	value    string            // of its tag
	matchers []*labels.Matcher // of the selector whose age is asked; none for the engine's
}

// mostKnown bounds the queries that are remembered.
const mostKnown = 1000

// answer puts the ages together with what the engine answered for the rest.
func (a *agesOf) answer(q *questions, rest promql.Vector, at time.Time) promql.Vector {
	a.store.mu.RLock()
	defer a.store.mu.RUnlock()
	vector := make(promql.Vector, 0, len(q.all))
	for _, one := range q.all {
		if one.matchers == nil {
			vector = appendTagged(vector, rest, q.tag, one.value)
			continue
		}
		if t, found := a.store.ageOf(one.matchers, at.UnixMilli()); found {
			vector = append(vector, promql.Sample{Metric: labels.FromStrings(q.tag, one.value), T: at.UnixMilli(), F: float64(t) / 1000})
		}
	}
	return vector
}

// appendTagged appends the samples that carry a tag.
func appendTagged(vector, from promql.Vector, tag, value string) promql.Vector {
	for _, s := range from {
		if s.Metric.Get(tag) == value {
			vector = append(vector, s)
		}
	}
	return vector
}

// ageOf is the time of the newest samples before a moment.
func (s *store) ageOf(matchers []*labels.Matcher, at milliseconds) (milliseconds, bool) {
	oldest := max(0, s.scrapes-keptScrapes)
	newest := s.search(oldest, s.scrapes, at+1) - 1
	if newest < oldest || s.times[newest%keptScrapes] <= at-lookback.Milliseconds() {
		return 0, false
	}
	for _, series := range s.byName[matchers[0].Value] {
		if series.born <= newest && matches(series.labels, matchers) {
			return s.times[newest%keptScrapes], true
		}
	}
	return 0, false
}

// questions takes a query apart, once; nil when it asks for no ages.
func (a *agesOf) questions(query string) *questions {
	a.mu.Lock()
	defer a.mu.Unlock()
	q, known := a.known[query]
	if known {
		return q
	}
	if expr, err := a.parser.ParseExpr(query); err == nil {
		q = takeApart(expr)
	}
	if len(a.known) < mostKnown {
		a.known[query] = q
	}
	return q
}

// takeApart finds the questions of an expression; nil when it is no list of questions
// with tags of their own, or asks for no ages.
func takeApart(expr parser.Expr) *questions {
	q := &questions{}
	var rest []string
	for _, part := range alternatives(expr, nil) {
		tagged, tag, value := tagOf(part)
		if tagged == nil || q.tag != "" && tag != q.tag || q.asks(value) {
			return nil
		}
		q.tag = tag
		one := question{value: value, matchers: ageAsked(tagged)}
		if one.matchers == nil {
			rest = append(rest, part.String())
		}
		q.all = append(q.all, one)
	}
	if len(rest) == len(q.all) {
		return nil
	}
	q.rest = strings.Join(rest, " or ")
	return q
}

func (q *questions) asks(value string) bool {
	return slices.ContainsFunc(q.all, func(one question) bool { return one.value == value })
}

// alternatives appends what stands between the plain ors of an expression.
func alternatives(expr parser.Expr, before []parser.Expr) []parser.Expr {
	if either, ok := expr.(*parser.BinaryExpr); ok && either.Op == parser.LOR && len(either.VectorMatching.MatchingLabels) == 0 && !either.VectorMatching.On {
		return alternatives(either.RHS, alternatives(either.LHS, before))
	}
	return append(before, expr)
}

// tagOf reads label_replace(EXPR, "tag", "value", "", ""), which puts the same label on
// everything; nil for another expression.
func tagOf(expr parser.Expr) (tagged parser.Expr, tag, value string) {
	call, ok := expr.(*parser.Call)
	if !ok || call.Func.Name != "label_replace" || text(call.Args[3]) != "" || text(call.Args[4]) != "" {
		return nil, "", ""
	}
	tag, value = text(call.Args[1]), text(call.Args[2])
	if tag == "" || value == "" || strings.Contains(value, "$") {
		return nil, "", ""
	}
	return call.Args[0], tag, value
}

// ageAsked gives the matchers of min(timestamp(SELECTOR)), or nil.
func ageAsked(expr parser.Expr) []*labels.Matcher {
	aggregate, ok := expr.(*parser.AggregateExpr)
	if !ok || aggregate.Op != parser.MIN && aggregate.Op != parser.MAX || len(aggregate.Grouping) > 0 || aggregate.Without {
		return nil
	}
	call, ok := aggregate.Expr.(*parser.Call)
	if !ok || call.Func.Name != "timestamp" {
		return nil
	}
	selector, ok := call.Args[0].(*parser.VectorSelector)
	if !ok || selector.OriginalOffset != 0 || selector.Timestamp != nil || selector.StartOrEnd != 0 || selector.Name == "" {
		return nil
	}
	return nameFirst(selector)
}

// nameFirst are a selector's matchers, that of the name before the others.
func nameFirst(selector *parser.VectorSelector) []*labels.Matcher {
	name := labels.MustNewMatcher(labels.MatchEqual, prom.MetricNameLabel, selector.Name)
	matchers := []*labels.Matcher{name}
	for _, m := range selector.LabelMatchers {
		if m.Name != prom.MetricNameLabel {
			matchers = append(matchers, m)
		}
	}
	return matchers
}

// text is a string literal, and "?" for what is none.
func text(expr parser.Expr) string {
	if literal, ok := expr.(*parser.StringLiteral); ok {
		return literal.Val
	}
	return "?"
}
