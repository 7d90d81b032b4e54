package simulation

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Plan is one incident: all that an execution depends on.
type Plan struct {
	Book   Book
	Manual bool // persons approve; else the gates alone do
	Faults []Fault
}

// Fault is one thing that goes wrong, or that somebody does, at a boundary.
type Fault struct {
	At    int    // the boundary at which it strikes
	What  string // one of the kinds of table faults
	Name  string // of a control, a step, a kind of answer; "" where there is none
	Value string // raw value, text, sort of failure
	For   time.Duration
}

// String is the line that parseFault reads.
func (f Fault) String() string {
	return fmt.Sprintf("%d %s %q %q %s", f.At, f.What, f.Name, f.Value, f.For)
}

func parseFault(line string) (Fault, error) {
	var f Fault
	var lasts string
	if _, err := fmt.Sscanf(line, "%d %s %q %q %s", &f.At, &f.What, &f.Name, &f.Value, &lasts); err != nil {
		return f, fmt.Errorf("fault %q: %w", line, err)
	}
	d, err := time.ParseDuration(lasts)
	f.For = d
	return f, err
}

// String is the text that ParsePlan reads: the book, who approves, a line for each fault.
func (p Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "book %s\nmanual %v\n", p.Book, p.Manual)
	for _, f := range p.Faults {
		fmt.Fprintln(&b, f)
	}
	return b.String()
}

// ParsePlan reads a plan; lines that begin with # are remarks.
func ParsePlan(text string) (Plan, error) {
	var p Plan
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		word, rest, _ := strings.Cut(line, " ")
		var err error
		switch word {
		case "", "#":
		case "book":
			p.Book, err = parseBook(rest)
		case "manual":
			p.Manual, err = strconv.ParseBool(rest)
		default:
			var f Fault
			if f, err = parseFault(line); err == nil {
				p.Faults = append(p.Faults, f)
			}
		}
		if err != nil {
			return p, err
		}
	}
	return p, lines.Err()
}

// lastFault is the latest boundary at which a drawn fault strikes: most walks have passed
// the brakes, the warming and some of the ladder by then.
const lastFault = 900

// sameBook is how many seeds in a row walk the same runbook: parsing one takes as long as
// a fifth of a walk.
const sameBook = 32

// Draw makes the plan of a seed.
func Draw(seed uint64) Plan {
	r := rand.New(rand.NewPCG(seed, 0x72657761726d))
	p := Plan{Book: drawBook(rand.New(rand.NewPCG(seed/sameBook, 0x626f6f6b))), Manual: r.IntN(3) == 0}
	p.Book.Stop = pick(r, stages)
	for range r.IntN(9) {
		p.Faults = append(p.Faults, drawFault(r, p.Book))
	}
	slices.SortStableFunc(p.Faults, func(a, b Fault) int { return a.At - b.At })
	return p
}

// drawFault draws a boundary, more often an early one, and what happens there.
func drawFault(r *rand.Rand, b Book) Fault {
	f := Fault{At: int(float64(lastFault) * r.Float64() * r.Float64())}
	draw := faults[r.IntN(len(faults))]
	f.What = draw.what
	if draw.names != nil {
		f.Name = pick(r, draw.names(b))
	}
	if len(draw.values) > 0 {
		f.Value = pick(r, draw.values)
	}
	if len(draw.lasts) > 0 {
		f.For = pick(r, draw.lasts)
	}
	return f
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// shrink leaves out every fault without which the plan still fails in the same way.
func shrink(p Plan, fails func(Plan) bool) Plan {
	for size := max(1, len(p.Faults)/2); size >= 1; size /= 2 {
		for i := 0; i+size <= len(p.Faults); {
			fewer := p
			fewer.Faults = slices.Delete(slices.Clone(p.Faults), i, i+size)
			if fails(fewer) {
				p = fewer
			} else {
				i++
			}
		}
	}
	return p
}
