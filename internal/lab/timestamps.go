package lab

import (
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
// in one query. Here all series are scraped at once, so the answer follows from
// the times of the scrapes. Queries of exactly this shape are answered from them,
// as the engine would; all others go to the engine.

// agesOf answers such queries over a store.
type agesOf struct {
	store  *store
	parser parser.Parser

	mu    sync.Mutex
	known map[string][]ageQuestion // by query; nil when it has another shape
}

// ageQuestion is one part of a query.
type ageQuestion struct {
	matchers []*labels.Matcher
	labels   labels.Labels // of its answer
}

// mostKnown bounds the queries that are remembered.
const mostKnown = 1000

// answer gives the vector for a query, or false when the engine has to.
func (a *agesOf) answer(query string, at time.Time) (promql.Vector, bool) {
	questions := a.questions(query)
	if questions == nil {
		return nil, false
	}
	a.store.mu.RLock()
	defer a.store.mu.RUnlock()
	vector := make(promql.Vector, 0, len(questions))
	for _, q := range questions {
		if t, found := a.store.ageOf(q, at.UnixMilli()); found {
			vector = append(vector, promql.Sample{Metric: q.labels, T: at.UnixMilli(), F: float64(t) / 1000})
		}
	}
	return vector, true
}

// ageOf is the time of the newest samples before a moment.
func (s *store) ageOf(q ageQuestion, at milliseconds) (milliseconds, bool) {
	oldest := max(0, s.scrapes-keptScrapes)
	newest := s.search(oldest, s.scrapes, at+1) - 1
	if newest < oldest || s.times[newest%keptScrapes] <= at-lookback.Milliseconds() {
		return 0, false
	}
	for _, series := range s.byName[q.matchers[0].Value] {
		if series.born <= newest && matches(series.labels, q.matchers) {
			return s.times[newest%keptScrapes], true
		}
	}
	return 0, false
}

// questions takes a query apart, once.
func (a *agesOf) questions(query string) []ageQuestion {
	a.mu.Lock()
	defer a.mu.Unlock()
	questions, known := a.known[query]
	if known {
		return questions
	}
	if expr, err := a.parser.ParseExpr(query); err == nil {
		questions, known = takeApart(expr, nil)
		if !known {
			questions = nil
		}
	}
	if len(a.known) < mostKnown {
		a.known[query] = questions
	}
	return questions
}

// takeApart appends the questions of an expression, or reports false.
func takeApart(expr parser.Expr, questions []ageQuestion) ([]ageQuestion, bool) {
	if either, ok := expr.(*parser.BinaryExpr); ok && either.Op == parser.LOR && len(either.VectorMatching.MatchingLabels) == 0 && !either.VectorMatching.On {
		questions, ok = takeApart(either.LHS, questions)
		if !ok {
			return nil, false
		}
		return takeApart(either.RHS, questions)
	}
	q, ok := oneQuestion(expr)
	for _, before := range questions {
		ok = ok && !labels.Equal(before.labels, q.labels)
	}
	return append(questions, q), ok
}

// oneQuestion reads label_replace(min(timestamp(SELECTOR)), "tag", "text", "", "").
func oneQuestion(expr parser.Expr) (ageQuestion, bool) {
	tagged, ok := expr.(*parser.Call)
	if !ok || tagged.Func.Name != "label_replace" || text(tagged.Args[3]) != "" || text(tagged.Args[4]) != "" {
		return ageQuestion{}, false
	}
	aggregate, ok := tagged.Args[0].(*parser.AggregateExpr)
	if !ok || aggregate.Op != parser.MIN && aggregate.Op != parser.MAX || len(aggregate.Grouping) > 0 || aggregate.Without {
		return ageQuestion{}, false
	}
	call, ok := aggregate.Expr.(*parser.Call)
	if !ok || call.Func.Name != "timestamp" {
		return ageQuestion{}, false
	}
	selector, ok := call.Args[0].(*parser.VectorSelector)
	if !ok || selector.OriginalOffset != 0 || selector.Timestamp != nil || selector.StartOrEnd != 0 || selector.Name == "" {
		return ageQuestion{}, false
	}
	tag, value := text(tagged.Args[1]), text(tagged.Args[2])
	if tag == "" || value == "" || value[0] == '$' {
		return ageQuestion{}, false
	}
	return ageQuestion{matchers: nameFirst(selector), labels: labels.FromStrings(tag, value)}, true
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
