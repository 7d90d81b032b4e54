package runbook

import (
	"errors"
	"strings"

	"github.com/prometheus/prometheus/promql/parser"
)

// promQL parses queries without the features that a server has to be told to
// switch on.
var promQL = parser.NewParser(parser.Options{})

// The numbers that stand for a rung while a query is checked.
const sampleFrom, sampleTo = "10", "25"

// query reads a PromQL query: parameters replaced, parsed, and free of what a
// gate cannot judge.
func (d *decoder) query(n *node, what string) string {
	text, ok := d.raw(n, what)
	if !ok {
		return ""
	}
	query, ok := d.expand(n, what, strings.TrimSpace(text), asQuery)
	if !ok {
		return ""
	}
	expr, err := promQL.ParseExpr(sample(query))
	if err != nil {
		d.fail(n.pos, queryHint(text), "%s does not parse: %s", what, queryError(err))
		return ""
	}
	if wrong := refuseQuery(expr); wrong != nil {
		d.blame(n, what, wrong)
		return ""
	}
	return query
}

func sample(query string) string {
	return strings.NewReplacer("${from}", sampleFrom, "${to}", sampleTo).Replace(query)
}

// parsed gives the syntax of a query that has been checked.
func (p *Probe) parsed() parser.Expr { return parsedQuery(p.Query) }

func parsedQuery(query string) parser.Expr {
	expr, err := promQL.ParseExpr(sample(query))
	if err != nil {
		return nil
	}
	return expr
}

// queryError is the parser's first complaint on one harmless line.
func queryError(err error) string {
	var all parser.ParseErrors
	if errors.As(err, &all) && len(all) > 0 {
		err = &all[0]
	}
	return printable(strings.Join(strings.Fields(err.Error()), " "))
}

// queryHint knows the mistake that string parameters invite.
func queryHint(text string) string {
	if strings.Contains(text, `"${`) || strings.Contains(text, `'${`) {
		return "a string parameter brings its own quotes: write {cell=${cell}}"
	}
	if strings.Contains(text, "{{") {
		return "write ${NAME} for a figure or a parameter"
	}
	return ""
}

// refuseQuery finds what a gate cannot judge.
func refuseQuery(expr parser.Expr) *fault {
	switch expr.Type() {
	case parser.ValueTypeVector, parser.ValueTypeScalar:
	default:
		return faultf("put a function like rate() around it", "the answer is a %s, not one value a series",
			parser.DocumentedType(expr.Type()))
	}
	if top, ok := bare(expr).(*parser.BinaryExpr); ok && top.Op.IsComparisonOperator() && !top.ReturnBool {
		return faultf("leave the comparison to the bound, or write "+top.Op.String()+" bool",
			"the comparison %s drops the series that do not hold, so the gate sees no data", top.Op)
	}
	selectors := 0
	var wrong *fault
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		if _, ok := n.(*parser.VectorSelector); ok {
			selectors++
		}
		if wrong == nil {
			wrong = refuseNode(n)
		}
		return nil
	})
	if wrong == nil && selectors == 0 {
		return faultf("select a metric", "the query asks for no series")
	}
	return wrong
}

// bare takes the brackets off an expression.
func bare(expr parser.Expr) parser.Expr {
	for {
		p, ok := expr.(*parser.ParenExpr)
		if !ok {
			return expr
		}
		expr = p.Expr
	}
}

// refuseNode finds what cannot be judged in one part of a query.
func refuseNode(n parser.Node) *fault {
	switch n := n.(type) {
	case *parser.VectorSelector:
		if n.Anchored || n.Smoothed {
			return faultf("leave it out", "anchored and smoothed need a feature of the server that is off by default")
		}
		return refuseTimes(n.Timestamp, n.StartOrEnd, n.OriginalOffset.Seconds(), n.OriginalOffsetExpr)
	case *parser.SubqueryExpr:
		if n.RangeExpr != nil || n.StepExpr != nil {
			return computedDuration()
		}
		return refuseTimes(n.Timestamp, n.StartOrEnd, n.OriginalOffset.Seconds(), n.OriginalOffsetExpr)
	case *parser.MatrixSelector:
		if n.RangeExpr != nil {
			return computedDuration()
		}
	}
	return nil
}

func refuseTimes(at *int64, end parser.ItemType, offset float64, computed *parser.DurationExpr) *fault {
	switch {
	case at != nil || end != 0:
		return faultf("leave it out", "@ fixes the time of the samples, so the gate would judge the past")
	case offset < 0:
		return faultf("leave it out", "a negative offset looks into the future")
	case computed != nil:
		return computedDuration()
	}
	return nil
}

func computedDuration() *fault {
	return faultf("write the duration out, like 5s", "a computed duration needs a feature of the server that is off by default")
}

// zeroIdiom names the part of a query that answers although nothing was
// measured: absent(), absent_over_time(), or an "or" with a constant.
func zeroIdiom(expr parser.Expr) string {
	found := ""
	if expr == nil {
		return found
	}
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		switch n := n.(type) {
		case *parser.Call:
			if n.Func.Name == "absent" || n.Func.Name == "absent_over_time" {
				found = n.Func.Name + "()"
			}
		case *parser.BinaryExpr:
			if n.Op == parser.LOR && (constant(n.LHS) || constant(n.RHS)) {
				found = "or vector()"
			}
		}
		return nil
	})
	return found
}

// constant reports whether an expression asks for no series.
func constant(expr parser.Expr) bool {
	found := false
	parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
		if _, ok := n.(*parser.VectorSelector); ok {
			found = true
		}
		return nil
	})
	return !found
}
