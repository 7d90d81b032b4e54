package probes

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/rewarm/rewarm/runbook"
)

// sentences say what a reason means when there is nothing more particular.
var sentences = map[Reason]string{
	NotAsked:     "it was not asked yet",
	NoData:       "the query matched no series",
	NotANumber:   "the value is not a number",
	Infinite:     "the value is infinite",
	Stale:        "its samples are too old",
	SeriesCount:  "an unexpected number of series",
	SourceCount:  "too few series behind it",
	Histogram:    "a native histogram where a number was expected",
	WrongType:    "the result is not one number for each series",
	Malformed:    "the answer is not one of the Prometheus API",
	Partial:      "the answer may have holes",
	Warned:       "the server doubts its answer",
	Transport:    "there was no answer",
	Rejected:     "the server refused the query",
	NotAlive:     "nothing vouches that it is being measured",
	BeforeMark:   "it still looks at what was before the flip",
	Unconfirmed:  "it was given by hand by one person alone",
	Unresolved:   "how far back its series look is not known",
	NoPrevious:   "there is no earlier observation to compare with",
	SameSamples:  "the samples are those of the observation before",
	NoComparison: "what it is compared with is not known",
}

// explain gives the particular sentence, or else the general one.
func (r Reason) explain(detail string) string {
	if detail != "" {
		return detail
	}
	if text, ok := sentences[r]; ok {
		return text
	}
	return printable(string(r), longestText)
}

func (s *Situation) unknown(f Finding, reason Reason, detail string) Finding {
	f.Verdict, f.Reason = Unknown, reason
	if !s.mute {
		f.Sentence = f.Probe + " unknown: " + reason.explain(detail)
	}
	return f
}

func notes(a *Answer) []string {
	if len(a.Warnings)+len(a.Infos) == 0 {
		return nil
	}
	var all []string
	for _, w := range a.Warnings {
		all = append(all, printable(w, longestText))
	}
	for _, i := range a.Infos {
		all = append(all, printable(i, longestText))
	}
	return all
}

func seriesCountText(got, want int) string {
	return strconv.Itoa(got) + " series where " + strconv.Itoa(want) + " are expected"
}

// opWords are the comparisons as a person says them.
var opWords = map[runbook.Op]string{
	runbook.Above: "above", runbook.AtLeast: "at least", runbook.Below: "below", runbook.AtMost: "at most",
	runbook.Equals: "equals", runbook.Between: "between", runbook.Falling: "falling", runbook.Rising: "rising",
}

// boundText is the bound as a person would write it.
func boundText(b runbook.Bound) string {
	text := b.Probe
	if b.Any {
		text = "any " + text
	}
	text += " " + opWords[b.Op]
	switch b.Op {
	case runbook.Falling, runbook.Rising:
		return text
	case runbook.Between:
		return text + " " + operandText(b.Operand) + " and " + operandText(b.High)
	}
	return text + " " + operandText(b.Operand)
}

func operandText(o runbook.Operand) string {
	switch {
	case o.Text != "":
		return o.Text
	case o.Control != "":
		return "control " + o.Control
	case o.Probe != "":
		return "probe " + o.Probe
	}
	return numberText(o.Number)
}

// signs tell how a value stands to what it is compared with, when the bound holds and
// when it does not.
var signs = map[runbook.Op][2]string{
	runbook.Above: {">", "<="}, runbook.AtLeast: {">=", "<"}, runbook.Below: {"<", ">="},
	runbook.AtMost: {"<=", ">"}, runbook.Equals: {"=", "!="},
}

// levelSentence says "queue-age 412ms > 250ms at most, 800ms old".
func levelSentence(b runbook.Bound, p *runbook.Probe, now *Answer, r Reading, ok bool, low, high level) string {
	value, bound := pairText(r.Value, low.value, p.Unit)
	var s strings.Builder
	s.WriteString(b.Probe)
	s.WriteByte(' ')
	if b.Op == runbook.Between {
		s.WriteString(value + map[bool]string{true: " inside ", false: " outside "}[ok])
		s.WriteString(bound + " to " + quantityText(high.value, p.Unit))
	} else {
		sign := signs[b.Op][0]
		if !ok {
			sign = signs[b.Op][1]
		}
		s.WriteString(value + " " + sign + " " + bound)
		if b.Op == runbook.AtMost || b.Op == runbook.AtLeast {
			s.WriteString(" " + opWords[b.Op])
		}
	}
	for _, l := range []level{low, high} {
		if l.source != "" && (b.Op == runbook.Between || l == low) {
			s.WriteString(" (" + l.source + ")")
			break
		}
	}
	s.WriteString(whereText(b, now, r))
	return s.String()
}

// trendSentence says "queue-age 400ms after 600ms, falling".
func trendSentence(b runbook.Bound, p *runbook.Probe, now *Answer, c change, ok bool) string {
	value, from := pairText(c.Value, c.from.Value, p.Unit)
	text := b.Probe + " " + value + " after " + from + ", "
	if !ok {
		text += "not "
	}
	return text + opWords[b.Op] + whereText(b, now, c.Reading)
}

// whereText names the series that decides and the age of the samples.
func whereText(b runbook.Bound, a *Answer, r Reading) string {
	text := ""
	if r.Series != "{}" && r.Series != "" {
		text = " in " + r.Series
	}
	if a.Count > 1 {
		rank := "worst"
		if b.Any {
			rank = "best"
		}
		text += fmt.Sprintf(", %s of %d series", rank, a.Count)
	}
	if a.Assumed {
		text += ", assumed: no series, its witness has data"
	}
	if a.Source != "" {
		text += ", from the second source " + a.Source
	}
	if !a.Stalest.IsZero() {
		text += ", " + spanText(a.At.Sub(a.Stalest)) + " old"
	}
	return text
}

// quantityText is a value with its unit, rounded to what people read.
func quantityText(v float64, unit string) string { return exactText(rounded(v), unit) }

// exactText is a value with its unit to the last digit. Parts of a second are
// written in milliseconds.
func exactText(v float64, unit string) string {
	if v == runbook.Unlimited {
		return runbook.FormatQuantity(v, unit)
	}
	if plain := formatSample(v); strings.Contains(plain, "e") || math.IsInf(v, 0) || math.IsNaN(v) {
		return strings.TrimSpace(plain + " " + unit)
	}
	if unit == "s" && v != 0 && math.Abs(v) < 1 {
		return runbook.FormatQuantity(thousandfold(v), "ms")
	}
	return runbook.FormatQuantity(v, unit)
}

// thousandfold multiplies in decimals, so that 0.057 becomes 57.
func thousandfold(v float64) float64 {
	product, err := strconv.ParseFloat(strconv.FormatFloat(v, 'f', -1, 64)+"e3", 64)
	if err != nil {
		return v * 1000
	}
	return product
}

// numberText rounds to six digits, which is more than people read.
func numberText(v float64) string { return formatSample(rounded(v)) }

func rounded(v float64) float64 {
	if v == math.Trunc(v) && (math.Abs(v) < 1e15 || v == runbook.Unlimited) {
		return v
	}
	six, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil {
		return v
	}
	return six
}

// pairText writes two values so that they look different when they are.
func pairText(a, b float64, unit string) (string, string) {
	x, y := quantityText(a, unit), quantityText(b, unit)
	if x == y && a != b {
		return exactText(a, unit), exactText(b, unit)
	}
	return x, y
}

// spanText is a duration in seconds, to the millisecond.
func spanText(d time.Duration) string {
	return runbook.FormatQuantity(math.Round(d.Seconds()*1000)/1000, "s")
}

func momentText(t time.Time) string { return t.UTC().Format("15:04:05.000") }
