// Package demand is the arithmetic of what a service asks of its origin: when all
// is steady, when its hottest key expires everywhere, when a cache cell is lost and
// when it starts cold. It measures nothing and knows no service; it turns a few
// figures that a team has into those that it needs before an incident.
//
// # From text to a report
//
// Fields lists the inputs with their defaults, which are those of the case study of
// a hot-key collapse. Parse reads texts for them into Inputs, and Size makes the
// Report:
//
//	in, err := demand.Parse(map[string]string{"reads": "300000", "hit-ratio": "90%"})
//	report := demand.Size(in)
//
// Every Figure carries its formula in words, the same with its numbers put in, and
// the value. All three come from one expression, so they cannot part.
//
// # Exactness
//
// Numbers are exact fractions: 98.7 % of 120,000 leaves 1,560 and nothing else. They
// are rounded only when shown, and text then says "about". JSON has up to six
// decimals.
//
// # States
//
// In a State a share of the reads loses its cached values at once. The demand after
// it is what is exposed plus the steady misses of the rest. A Check holds that
// demand against the admission limit, and says what can be answered correctly
// meanwhile. What it predicts is the first moment: retries and added clients make it
// worse, refilled keys better.
package demand
