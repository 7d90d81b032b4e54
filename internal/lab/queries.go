package lab

import (
	"slices"
	"sync"

	"github.com/prometheus/prometheus/promql/parser"
)

// Gates ask the same queries every second. Their expressions are parsed once; the engine
// gets a copy each time, for it changes what it evaluates.

// queryParser remembers the expressions of queries.
type queryParser struct {
	parser.Parser

	mu    sync.Mutex
	known map[string]parser.Expr
}

func newQueryParser() *queryParser {
	return &queryParser{Parser: parser.NewParser(parser.Options{}), known: map[string]parser.Expr{}}
}

// ParseExpr gives an expression that is the caller's own.
func (p *queryParser) ParseExpr(query string) (parser.Expr, error) {
	p.mu.Lock()
	expr := p.known[query]
	p.mu.Unlock()
	if expr == nil {
		var err error
		if expr, err = p.Parser.ParseExpr(query); err != nil {
			return expr, err
		}
		p.remember(query, expr)
	}
	return copyOf(expr), nil
}

func (p *queryParser) remember(query string, expr parser.Expr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.known) < mostKnown {
		p.known[query] = expr
	}
}

// mostKnown bounds the queries that are remembered.
const mostKnown = 1000

// copyOf is an expression of which nothing that the engine writes to is shared.
func copyOf(expr parser.Expr) parser.Expr {
	switch n := expr.(type) {
	case *parser.VectorSelector:
		own := *n
		return &own
	case *parser.MatrixSelector:
		own := *n
		own.VectorSelector = copyOf(n.VectorSelector)
		return &own
	case *parser.SubqueryExpr:
		own := *n
		own.Expr = copyOf(n.Expr)
		return &own
	case *parser.AggregateExpr:
		own := *n
		own.Expr, own.Grouping = copyOf(n.Expr), slices.Clone(n.Grouping)
		if n.Param != nil {
			own.Param = copyOf(n.Param)
		}
		return &own
	case *parser.BinaryExpr:
		own := *n
		own.LHS, own.RHS = copyOf(n.LHS), copyOf(n.RHS)
		return &own
	case *parser.Call:
		own := *n
		own.Args = make(parser.Expressions, len(n.Args))
		for i, arg := range n.Args {
			own.Args[i] = copyOf(arg)
		}
		return &own
	case *parser.ParenExpr:
		own := *n
		own.Expr = copyOf(n.Expr)
		return &own
	case *parser.UnaryExpr:
		own := *n
		own.Expr = copyOf(n.Expr)
		return &own
	}
	return expr // a literal
}
