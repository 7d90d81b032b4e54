package runbook

// schema lists the keys that each kind of table takes, in the order in which the
// reference explains them.
var schema = map[string][]string{
	"runbook": {"apiVersion", "kind", "name", "service", "recover_within", "figures", "parameters", "defaults",
		"controls", "probes", "exit", "guards", "stages", "waive"},
	"figure":    {"value", "unit", "measured"},
	"parameter": {"kind", "default"},
	"defaults":  {"every", "passes", "timeout", "stale_after", "approval"},
	"approval":  {"protect", "release"},
	"control": {"kind", "unit", "min", "max", "choices", "steady", "absent", "protects", "scope", "temporary",
		"review", "back", "dead_man", "writer", "waive"},
	"probe":   {"query", "unit", "absent", "empty", "baseline", "sources", "alive", "memory", "second", "waive"},
	"absent":  {"as", "witness"},
	"sources": {"at_least"},
	"bound": {"probe", "above", "at_least", "below", "at_most", "equals", "between", "falling", "rising",
		"of", "series"},
	"group":   {"any"},
	"operand": {"figure", "probe", "control"},
	"exit":    {"when", "intervals", "interval", "waive"},
	"guard": {"probe", "above", "at_least", "below", "at_most", "equals", "between", "falling", "rising",
		"of", "series", "from", "to", "passes", "unknown", "otherwise", "waive"},
	"brake": {"flip"},
	"stages": {"declare-mode", "protect-origin", "preserve-stale", "constrain-leaders", "rank-warmth", "observe",
		"expand", "restore", "reconcile"},
	"stage": {"skip"},
	"step": {"step", "why", "modes", "when", "flip", "call", "confirm", "restore", "expect", "otherwise",
		"undo_if", "if_unmet", "else", "timeout", "every", "passes", "stale_after", "approval", "settle",
		"optional", "waive"},
	"flip":       {"control", "to", "through"},
	"call":       {"do", "undo", "check", "timeout"},
	"invocation": {"http"},
	"http":       {"method", "url", "body_file"},
	"confirm":    {"ask", "choose", "after", "else"},
	"restore":    {"order"},
	"if_unmet":   {"to", "after"},
	"else":       {"call"},
	"waiver":     {"rule", "reason"},

	"diagnosis": {"apiVersion", "kind", "name", "figures", "probes", "history", "questions", "modes", "pictures"},
	"question":  {"ask", "why", "when", "yes", "then"},
	"mode":      {"about", "needs", "supports", "against", "checks", "runbook"},
	"picture":   {"about", "needs", "supports", "advice", "avoid", "checks"},
	"sign":      {"when", "says"},
	"avoid":     {"do", "why"},

	"gameday": {"apiVersion", "kind", "name", "about", "scenario", "seed", "runbook", "set", "duration", "figures",
		"probes", "operator", "timeline", "mistakes", "expect", "breaks"},
	"operator": {"reacts", "approve", "word", "modes", "mistakes"},
	"mistake":  {"about", "timeline", "breaks"},
	"measured": {"control", "records", "where", "before", "score", "above", "at_least", "below", "at_most", "equals",
		"between", "falling", "rising"},
	"before":      {"records", "where", "before"},
	"expectation": {"name", "always", "never", "eventually", "at", "finally", "holds", "from", "until", "within"},
}

// comparisons are the keys of a bound that compare, in the order of the schema.
var comparisons = []Op{Above, AtLeast, Below, AtMost, Equals, Between, Falling, Rising}
