package lab

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	prom "github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
)

// Gates ask, beside every value, what stands behind it: how old the samples are, how many series
// there are, how many processes obey a version of the controls. They ask dozens of
//
//	label_replace(min(timestamp(SELECTOR)), "tag", "0", "", "") or label_replace(…) or …
//
// in one query. Here all series are scraped at once, so the answer to each of them follows
// from the newest scrape alone. What else is asked in the same query is left to the
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
	value  string  // of its tag
	behind *behind // nil for one that is the engine's
}

// behind asks for the newest samples that a selector finds: how old they are, in
// min(timestamp(S)) or max; how many, in count(S); or either of those that are at least
// something, in count(S >= N) and min(timestamp(S) and (S >= N)).
type behind struct {
	matchers []*labels.Matcher // that of the name first
	count    bool
	bounded  bool
	least    float64
	found    atomic.Pointer[selected]
}

// selected is the series that matchers choose of so many.
type selected struct {
	of     int
	series []*series
}

// answer puts what is behind together with what the engine answered for the rest.
func (a *agesOf) answer(q *questions, rest promql.Vector, at time.Time) promql.Vector {
	a.store.mu.RLock()
	defer a.store.mu.RUnlock()
	vector := make(promql.Vector, 0, len(q.all))
	for _, one := range q.all {
		if one.behind == nil {
			vector = appendTagged(vector, rest, q.tag, one.value)
			continue
		}
		if v, found := a.store.lookBehind(one.behind, at.UnixMilli()); found {
			vector = append(vector, promql.Sample{Metric: labels.FromStrings(q.tag, one.value), T: at.UnixMilli(), F: v})
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

// lookBehind answers from the newest scrape before a moment.
func (s *store) lookBehind(b *behind, at milliseconds) (answer float64, found bool) {
	oldest := max(0, s.scrapes-keptScrapes)
	newest := s.search(oldest, s.scrapes, at+1) - 1
	if newest < oldest || s.times[newest%keptScrapes] <= at-lookback.Milliseconds() {
		return 0, false
	}
	n := 0
	for _, series := range s.selectedBy(b) {
		if !series.there(newest) || b.bounded && !(series.at(newest) >= b.least) {
			continue
		}
		if !b.count {
			return float64(s.times[newest%keptScrapes]) / 1000, true
		}
		n++
	}
	return float64(n), n > 0
}

// selectedBy chooses the series anew only when others have come.
func (s *store) selectedBy(b *behind) []*series {
	if known := b.found.Load(); known != nil && known.of == len(s.all) {
		return known.series
	}
	now := &selected{of: len(s.all)}
	for _, series := range s.byName[b.matchers[0].Value] {
		if matches(series.labels, b.matchers) {
			now.series = append(now.series, series)
		}
	}
	b.found.Store(now)
	return now.series
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
		one := question{value: value, behind: askedBehind(tagged)}
		if one.behind == nil {
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
	if either, ok := expr.(*parser.BinaryExpr); ok && either.Op == parser.LOR && plainMatching(either) {
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

// askedBehind reads what stands behind a selector; nil for another expression.
func askedBehind(expr parser.Expr) *behind {
	aggregate, ok := expr.(*parser.AggregateExpr)
	if !ok || len(aggregate.Grouping) > 0 || aggregate.Without {
		return nil
	}
	switch aggregate.Op {
	case parser.COUNT:
		if b := samplesAsked(aggregate.Expr); b != nil {
			b.count = true
			return b
		}
	case parser.MIN, parser.MAX:
		return timesAsked(aggregate.Expr)
	}
	return nil
}

// timesAsked reads timestamp(S) and timestamp(S) and (S >= N).
func timesAsked(expr parser.Expr) *behind {
	both, ok := expr.(*parser.BinaryExpr)
	if !ok {
		return timeAsked(expr)
	}
	if both.Op != parser.LAND || !plainMatching(both) {
		return nil
	}
	times, bounded := timeAsked(both.LHS), samplesAsked(both.RHS)
	if times == nil || bounded == nil || !sameMatchers(times.matchers, bounded.matchers) {
		return nil
	}
	return bounded
}

// timeAsked reads timestamp(S).
func timeAsked(expr parser.Expr) *behind {
	if call, ok := expr.(*parser.Call); ok && call.Func.Name == "timestamp" {
		return selectorAsked(call.Args[0])
	}
	return nil
}

// samplesAsked reads S and S >= N, with brackets or without.
func samplesAsked(expr parser.Expr) *behind {
	for {
		brackets, ok := expr.(*parser.ParenExpr)
		if !ok {
			break
		}
		expr = brackets.Expr
	}
	bound, ok := expr.(*parser.BinaryExpr)
	if !ok {
		return selectorAsked(expr)
	}
	least, ok := bound.RHS.(*parser.NumberLiteral)
	if !ok || bound.Op != parser.GTE || bound.ReturnBool {
		return nil
	}
	b := selectorAsked(bound.LHS)
	if b != nil {
		b.bounded, b.least = true, least.Val
	}
	return b
}

// selectorAsked reads a bare selector.
func selectorAsked(expr parser.Expr) *behind {
	selector, ok := expr.(*parser.VectorSelector)
	if !ok || selector.OriginalOffset != 0 || selector.OriginalOffsetExpr != nil || selector.Timestamp != nil ||
		selector.StartOrEnd != 0 || selector.Anchored || selector.Smoothed || selector.Name == "" {
		return nil
	}
	return &behind{matchers: nameFirst(selector)}
}

func sameMatchers(a, b []*labels.Matcher) bool {
	return slices.EqualFunc(a, b, func(a, b *labels.Matcher) bool { return a.String() == b.String() })
}

// plainMatching reports whether both sides match by all labels.
func plainMatching(expr *parser.BinaryExpr) bool {
	return len(expr.VectorMatching.MatchingLabels) == 0 && !expr.VectorMatching.On
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
