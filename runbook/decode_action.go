package runbook

import (
	"slices"
)

// flip reads a control and the value or the rungs that it is taken to; nil has
// been reported.
func (d *decoder) flip(n *node) *Flip {
	f, ok := d.fields(n, "flip", "flip")
	if !ok {
		return nil
	}
	flip := &Flip{Pos: n.pos}
	name, c := d.controlNamed(f.need("control", "write control: NAME"))
	flip.Control = name
	to, through := f.get("to"), f.get("through")
	switch {
	case to == nil && through == nil:
		d.fail(n.pos, "add to: VALUE, or through: [RUNGS]", "flip says no value")
	case to != nil && through != nil:
		d.fail(n.pos, "keep one of them", "flip has both to and through")
	case c == nil:
	case to != nil:
		flip.To, ok = d.value(to, c, "to")
	default:
		ok = d.rungs(through, c, flip)
	}
	if c == nil || !ok || (to == nil) == (through == nil) {
		return nil
	}
	return flip
}

func (d *decoder) rungs(n *node, c *Control, flip *Flip) bool {
	good := true
	for _, item := range d.list(n, "through") {
		v, ok := d.value(item, c, "through")
		good = good && ok
		flip.Through = append(flip.Through, v)
	}
	if len(flip.Through) == 0 || !good {
		return false
	}
	flip.To = flip.Through[len(flip.Through)-1]
	d.checkLadder(n.pos, "through", c, flip.Through)
	return true
}

// ifUnmet reads the harder brake of a flip.
func (d *decoder) ifUnmet(f fields, flip *Flip) *IfUnmet {
	n := f.get("if_unmet")
	if n == nil {
		return nil
	}
	u, ok := d.fields(n, "if_unmet", "if_unmet")
	if !ok {
		return nil
	}
	harder := &IfUnmet{Pos: n.pos}
	u.need("after", "write after: 20s, say")
	harder.After = u.duration("after", 0)
	to := u.need("to", "write to: VALUE, harder than that of the flip")
	if to == nil || flip == nil {
		return harder
	}
	c := d.controls[flip.Control]
	harder.To, ok = d.value(to, c, "to")
	if ok && c.Direction(flip.To, harder.To) != Protecting {
		d.fail(to.pos, "go further the way that the control protects", "if_unmet: %s is not harder than %s",
			c.Format(harder.To), c.Format(flip.To))
	}
	return harder
}

// instead reads what is done when Redis cannot be reached.
func (d *decoder) instead(f fields) *Else {
	n := f.get("else")
	if n == nil {
		return nil
	}
	e, ok := d.fields(n, "else", "else")
	if !ok {
		return nil
	}
	call := e.need("call", "write else: {call: {do: [...]}}")
	if call == nil {
		return nil
	}
	return &Else{Pos: n.pos, Call: d.call(call)}
}

func (d *decoder) call(n *node) *Call {
	f, ok := d.fields(n, "call", "call")
	if !ok {
		return nil
	}
	call := &Call{Pos: n.pos, Timeout: f.duration("timeout", defaultCallTimeout)}
	f.need("do", "write do: [COMMAND, ARGUMENT], or do: {http: {method, url}}")
	call.Do = d.invocation(f.get("do"), "do")
	call.Undo = d.invocation(f.get("undo"), "undo")
	call.Check = d.invocation(f.get("check"), "check")
	return call
}

// invocation reads an argument vector or an HTTP request.
func (d *decoder) invocation(n *node, what string) *Invocation {
	if n == nil {
		return nil
	}
	if n.shape == table {
		f, ok := d.fields(n, "invocation", what)
		if !ok {
			return nil
		}
		return d.request(f.need("http", "write http: {method, url}"))
	}
	if n.shape == scalar {
		d.fail(n.pos, "write a list: [COMMAND, ARGUMENT]; no shell reads it", "%s is one text, not a list of arguments", what)
		return nil
	}
	call := &Invocation{}
	for _, item := range d.list(n, what) {
		if item.shape != scalar {
			d.wrongShape(item, "an argument of "+what, scalar)
			continue
		}
		text, _ := d.expand(item, what, item.text, asText)
		call.Args = append(call.Args, text)
	}
	if len(call.Args) > 0 && call.Args[0] == "" {
		d.fail(n.items[0].pos, "name the command first", "%s has no command", what)
	}
	return call
}

var methodPattern = lazily(`^[A-Z]{3,10}$`)

func (d *decoder) request(n *node) *Invocation {
	if n == nil {
		return nil
	}
	f, ok := d.fields(n, "http", "http")
	if !ok {
		return nil
	}
	call := &Invocation{}
	method := f.need("method", "write method: POST, say")
	if text, ok := d.raw(method, "method"); ok {
		call.Method = text
		if !methodPattern.MatchString(text) {
			d.fail(method.pos, "write GET, POST, PUT, PATCH or DELETE", "method cannot be %s", quote(text))
		}
	}
	address := f.need("url", "write url: https://HOST/PATH")
	if text, ok := d.raw(address, "url"); ok {
		if expanded, ok := d.expand(address, "url", text, asURL); ok && d.checkURL(address, "url", expanded) {
			call.URL = expanded
		}
	}
	call.BodyFile, _ = d.raw(f.get("body_file"), "body_file")
	return call
}

func (d *decoder) confirm(n *node) *Confirm {
	f, ok := d.fields(n, "confirm", "confirm")
	if !ok {
		return nil
	}
	f.need("ask", "write ask: QUESTION")
	if f.has("after") && !f.has("else") {
		d.fail(f.get("after").pos, "add else: ANSWER", "confirm: after says when an answer is taken, but not which")
	}
	return &Confirm{
		Pos:   n.pos,
		Ask:   f.prose("ask"),
		Modes: f.word("choose", "", "modes") == "modes",
		After: f.duration("after", 0),
		Else:  f.prose("else"),
	}
}

// restore reads which controls are lifted first. Those that stay as they are
// cannot be in the order.
func (d *decoder) restore(n *node) *RestoreOrder {
	f, ok := d.fields(n, "restore", "restore")
	if !ok {
		return nil
	}
	restore := &RestoreOrder{Pos: n.pos}
	for _, item := range d.list(f.get("order"), "order") {
		name, c := d.controlNamed(item)
		if c == nil {
			continue
		}
		if slices.Contains(restore.Order, name) {
			d.fail(item.pos, "keep one of them", "order: control %s stands twice", name)
		}
		if !c.Temporary {
			d.fail(item.pos, "leave it out, or make the control temporary",
				"order: control %s is not temporary, so it is not restored", name)
		}
		restore.Order = append(restore.Order, name)
	}
	return restore
}
