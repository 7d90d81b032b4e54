package runbook

import (
	"slices"
	"strings"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
)

// sourceLabels are labels that tell what kind of work an attempt was.
var sourceLabels = []string{"source", "class", "kind", "cause", "reason", "origin", "caller"}

// excludesPrewarm reports whether the matchers let no prewarm through.
func (s selector) excludesPrewarm() bool {
	return slices.ContainsFunc(s.matchers, func(m *labels.Matcher) bool {
		return slices.Contains(sourceLabels, m.Name) && !m.Matches("prewarm")
	})
}

// leavesPrewarmOut reports whether some metric of the query is asked for without
// prewarm.
func leavesPrewarmOut(query string) bool {
	return slices.ContainsFunc(selectorsOf(query), selector.excludesPrewarm)
}

func (l *linter) predictionCountsPrewarm() {
	for i := range l.d.Probes {
		p := &l.d.Probes[i]
		if !p.UsesRung() {
			continue
		}
		for _, s := range selectorsOf(p.Query) {
			if mentions(s.metric, "origin", "attempts", "admitted", "upstream", "backend", "database") && !s.excludesPrewarm() {
				l.report(p.Pos, p.Waive, "probe %s predicts from %s with prewarm in it", p.Name, printable(s.metric))
			}
		}
	}
}

// rawKeys are labels whose values are as many as the keys or the users.
var rawKeys = []string{
	"key", "cache_key", "raw_key", "redis_key", "product_id", "item_id", "sku", "user_id", "customer_id",
	"session_id", "account_id", "order_id", "request_id", "trace_id", "url", "uri",
}

func (l *linter) rawKeyLabel() {
	for i := range l.d.Probes {
		p := &l.d.Probes[i]
		var found []string
		for _, name := range labelsIn(p.parsed()) {
			if slices.Contains(rawKeys, strings.ToLower(name)) && !slices.Contains(found, name) {
				found = append(found, name)
				l.report(p.Pos, p.Waive, "probe %s uses label %s", p.Name, printable(name))
			}
		}
	}
}

// labelsIn lists the labels that a query matches, groups or joins by.
func labelsIn(expr parser.Expr) []string {
	var names []string
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.VectorSelector:
			for _, m := range n.LabelMatchers {
				names = append(names, m.Name)
			}
		case *parser.AggregateExpr:
			names = append(names, n.Grouping...)
		case *parser.BinaryExpr:
			if n.VectorMatching != nil {
				names = slices.Concat(names, n.VectorMatching.MatchingLabels, n.VectorMatching.Include)
			}
		}
		return nil
	})
	return names
}

func (l *linter) shortRange() {
	least := 4 * l.d.Defaults.Every
	for i := range l.d.Probes {
		p := &l.d.Probes[i]
		var found []time.Duration
		for _, s := range selectorsOf(p.Query) {
			if s.ranged && s.width < least && !slices.Contains(found, s.width) {
				found = append(found, s.width)
				l.report(p.Pos, p.Waive, "probe %s has a range of %s, shorter than 4 scrapes of %s", p.Name, s.width,
					l.d.Defaults.Every)
			}
		}
	}
}

func (l *linter) zeroWithoutWitness() {
	for i := range l.d.Probes {
		p := &l.d.Probes[i]
		if p.Alive != "" && zeroIdiom(parsedQuery(p.Alive)) != "" {
			l.report(p.Pos, p.Waive, "the alive query of probe %s answers without data too", p.Name)
		}
		if p.Absent == nil {
			continue
		}
		if w := l.d.Probe(p.Absent.Witness); w.Absent != nil || w.EmptyPass || zeroIdiom(w.parsed()) != "" {
			l.report(p.Pos, p.Waive, "the witness %s of probe %s answers without data too", w.Name, p.Name)
		}
	}
}

func (l *linter) averageHidesPeak() {
	reported := map[string]bool{}
	for _, b := range l.d.placedBounds() {
		p := l.d.Probe(b.Probe)
		upper := b.Op == AtMost || b.Op == Below || b.Op == Between
		if how := averageIn(p.parsed()); upper && how != "" && !reported[p.Name] {
			reported[p.Name] = true
			l.report(p.Pos, p.Waive, "probe %s is %s, and line %d bounds it from above", p.Name, how, b.Pos.Line)
		}
	}
}

// placedBound is a bound with the waivers that stand where it does.
type placedBound struct {
	Bound
	waivers []Waiver
}

// placedBounds gives every bound of the document.
func (d *Document) placedBounds() []placedBound {
	all := placed(d.Exit.When, d.Exit.Waive)
	for s := range d.Steps() {
		all = append(all, placed(slices.Concat(s.When, s.Expect, s.UndoIf), s.Waive)...)
	}
	for _, g := range d.Guards {
		all = append(all, placedBound{g.Bound, g.Waive})
	}
	return all
}

func placed(g Gate, waivers []Waiver) []placedBound {
	var all []placedBound
	for _, group := range g {
		for _, b := range group {
			all = append(all, placedBound{b, waivers})
		}
	}
	return all
}

// bareTime finds numbers without a unit that a probe of time reads in its own.
func (l *linter) bareTime() {
	for _, b := range l.d.placedBounds() {
		unit := l.d.Probe(b.Probe).Unit
		if scales[unit].family != "time" {
			continue
		}
		for _, o := range []Operand{b.Operand, b.High} {
			if o.Number != 0 && plainNumber.MatchString(o.Text) {
				l.report(o.Pos, b.waivers, "probe %s is in %s, so %s means %s; write %s", b.Probe, unit, o.Text,
					FormatQuantity(o.Number, unit), withUnits(o, unit))
			}
		}
	}
}

// withUnits gives the number in the unit that it has, and in the one that was
// likely meant.
func withUnits(o Operand, unit string) string {
	means := FormatQuantity(o.Number, unit)
	if unit == "s" && o.Number >= 10 {
		return means + ", or " + o.Text + "ms"
	}
	return means
}

// averageIn names the first average in a query.
func averageIn(expr parser.Expr) string {
	found := ""
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		if found == "" {
			found = averageAt(n)
		}
		return nil
	})
	return found
}

func averageAt(n parser.Node) string {
	switch n := n.(type) {
	case *parser.AggregateExpr:
		if n.Op == parser.AVG {
			return "an avg"
		}
		if n.Op == parser.QUANTILE && atMostMedian(n.Param) {
			return "a quantile up to the median"
		}
	case *parser.Call:
		switch {
		case n.Func.Name == "avg_over_time" || n.Func.Name == "histogram_avg":
			return "an " + n.Func.Name
		case (n.Func.Name == "histogram_quantile" || n.Func.Name == "quantile_over_time") && atMostMedian(n.Args[0]):
			return "a quantile up to the median"
		}
	case *parser.BinaryExpr:
		if n.Op == parser.DIV && endsIn(n.LHS, "_sum") && endsIn(n.RHS, "_count") {
			return "a sum divided by its count"
		}
	}
	return ""
}

func atMostMedian(expr parser.Expr) bool {
	number, ok := bare(expr).(*parser.NumberLiteral)
	return ok && number.Val <= 0.5
}

// endsIn reports whether every metric of an expression has the suffix, and there
// is one.
func endsIn(expr parser.Expr, suffix string) bool {
	any, all := false, true
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		if v, ok := n.(*parser.VectorSelector); ok {
			any, all = true, all && strings.HasSuffix(metricName(v), suffix)
		}
		return nil
	})
	return any && all
}
