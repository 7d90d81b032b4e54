package runbook

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// shape is what kind of thing stands at a place of the file.
type shape int

const (
	invalid shape = iota // a problem has been reported; nothing more is said about it
	null
	scalar
	sequence
	table
)

var shapeNames = [...]string{"nothing", "nothing", "a single value", "a list", "a table of keys"}

var shapeHints = [...]string{table: "write it as {key: value}", sequence: "write it as [item, item]",
	scalar: "write one value"}

// node is one place of the file, free of the parser it came from.
type node struct {
	pos     Position
	shape   shape
	text    string // of a scalar, unquoted
	quoted  bool   // a quoted or block scalar
	items   []*node
	entries []entry
}

// entry is one key of a table with its value.
type entry struct {
	pos   Position
	key   string
	value *node
}

// Limits of the syntax tree. The parser takes time in the square of a table's
// keys and of the depth of brackets; a runbook is far from both.
const (
	maxTokens = 20000
	maxDepth  = 64
)

// parseTree reads the text as one YAML document whose root is a table.
func (d *decoder) parseTree(text string) (root *node) {
	defer func() {
		if r := recover(); r != nil {
			d.fail(Position{1, 1}, "check the file with another YAML tool", "the file cannot be read as YAML")
			root = nil
		}
	}()
	tokens := lexer.Tokenize(text)
	if !d.withinLimits(tokens) {
		return nil
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		d.syntaxError(text, err)
		return nil
	}
	return d.root(file)
}

// withinLimits refuses what would take the parser too long.
func (d *decoder) withinLimits(tokens token.Tokens) bool {
	if len(tokens) > maxTokens {
		d.fail(Position{1, 1}, "split it", "the file has %d YAML tokens, the limit is %d", len(tokens), maxTokens)
		return false
	}
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		}
		if depth > maxDepth {
			d.fail(place(t), "", "brackets are nested deeper than %d", maxDepth)
			return false
		}
	}
	return true
}

// root finds the one document of the file.
func (d *decoder) root(file *ast.File) *node {
	var body ast.Node
	for i, doc := range file.Docs {
		if directive, ok := doc.Body.(*ast.DirectiveNode); ok {
			d.fail(place(directive.GetToken()), "leave it out", "a YAML directive")
			return nil
		}
		if i > 0 {
			d.fail(place(doc.Start), "keep one runbook a file", "a second document")
			return nil
		}
		body = doc.Body
	}
	if body == nil {
		d.fail(Position{1, 1}, "start with apiVersion: "+apiVersion, "the file holds no runbook")
		return nil
	}
	n := d.convert(body)
	if n.shape != table && n.shape != invalid {
		d.fail(n.pos, "start with apiVersion: "+apiVersion, "the file holds %s, not a runbook", shapeNames[n.shape])
	}
	if n.shape != table {
		return nil
	}
	return n
}

// convert turns the parser's node into ours and refuses what a runbook has no
// use for: anchors, aliases, merge keys, tags and keys that are not plain.
func (d *decoder) convert(from ast.Node) *node {
	switch from := from.(type) {
	case *ast.NullNode:
		return &node{pos: place(from.GetToken()), shape: null}
	case *ast.StringNode:
		return d.scalar(from.GetToken(), from.Value, from.Token.Type != token.StringType)
	case *ast.LiteralNode:
		return d.scalar(from.GetToken(), from.Value.Value, true)
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return d.scalar(from.GetToken(), from.GetToken().Value, false)
	case *ast.SequenceNode:
		return d.sequence(from)
	case *ast.MappingNode:
		return d.table(place(from.GetToken()), from.IsFlowStyle, from.Values)
	case *ast.MappingValueNode:
		return d.table(place(from.GetToken()), false, []*ast.MappingValueNode{from})
	case *ast.AnchorNode, *ast.AliasNode:
		d.fail(place(from.GetToken()), "write the value out where it is used", "anchors and aliases are not taken")
	case *ast.TagNode:
		d.fail(place(from.GetToken()), "leave it out", "tags are not taken")
	default:
		d.fail(place(from.GetToken()), "", "a kind of YAML that a runbook has no use for")
	}
	return &node{pos: place(from.GetToken())}
}

func (d *decoder) scalar(t *token.Token, text string, quoted bool) *node {
	n := &node{pos: place(t), shape: scalar, text: text, quoted: quoted}
	if r, bad := unprintable(text); bad {
		d.fail(n.pos, "take it out", "the text has the invisible character %s", fmt.Sprintf("%U", r))
		n.shape = invalid
	}
	return n
}

func (d *decoder) sequence(from *ast.SequenceNode) *node {
	n := &node{pos: place(from.GetToken()), shape: sequence}
	for _, item := range from.Values {
		n.items = append(n.items, d.convert(item))
	}
	return n
}

func (d *decoder) table(pos Position, flow bool, values []*ast.MappingValueNode) *node {
	n := &node{pos: pos, shape: table}
	first := map[string]Position{}
	for _, v := range values {
		if flow && n.rejoin(v) {
			continue
		}
		at := place(v.Key.GetToken())
		if !flow && len(n.entries) == 0 {
			n.pos = at
		}
		key, ok := d.key(v.Key, at)
		if !ok {
			continue
		}
		if earlier, twice := first[key]; twice {
			d.fail(at, "keep one of them", "key %s stands twice; the first is in line %d", quote(key), earlier.Line)
			continue
		}
		first[key] = at
		n.entries = append(n.entries, entry{at, key, d.convert(v.Value)})
	}
	return n
}

// The halves of a number with a comma in it, which ends the value in a table of
// one line.
var (
	beforeComma = lazily(`^[0-9]{1,3}(,[0-9]{3})*$`)
	afterComma  = lazily(`^[0-9]{3}([^0-9]|$)`)
)

// rejoin puts a number like 4,000 together again, so that whoever reads it finds
// one mistake in one place.
func (n *node) rejoin(next *ast.MappingValueNode) bool {
	_, valueless := next.Value.(*ast.NullNode)
	rest := next.Key.GetToken().Value
	if len(n.entries) == 0 || !valueless || !afterComma.MatchString(rest) {
		return false
	}
	last := n.entries[len(n.entries)-1].value
	if last.shape != scalar || last.quoted || !beforeComma.MatchString(last.text) {
		return false
	}
	last.text += "," + rest
	return true
}

// key gives the text of a plain key.
func (d *decoder) key(from ast.MapKeyNode, at Position) (string, bool) {
	switch from := from.(type) {
	case *ast.MergeKeyNode:
		d.fail(at, "write the keys out where they are used", "merge keys are not taken")
		return "", false
	case *ast.StringNode:
		if _, bad := unprintable(from.Value); !bad {
			return from.Value, true
		}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode, *ast.InfinityNode, *ast.NanNode:
		return from.GetToken().Value, true
	}
	d.fail(at, "write the key as plain text", "a key that is not plain text")
	return "", false
}

// place is the position of a token. Tokens that stand for something left out have
// none of their own, and then it is the start of the file.
func place(t *token.Token) Position {
	if t == nil || t.Position == nil {
		return Position{1, 1}
	}
	return Position{max(t.Position.Line, 1), max(t.Position.Column, 1)}
}
