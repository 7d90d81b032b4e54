package steps

import (
	"bytes"
	"encoding/json"
	"hash/crc32"
	"slices"
	"strconv"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rewarm/rewarm/probes"
)

// Decoder reads the bodies of the records of a log as DecodeBody does, and faster. Nearly all of a log are
// observations, and from one to the next hardly a text changes: it reads them as this package writes them, with their
// keys in their order, and keeps the texts that it has seen. What is written in any other way it leaves to DecodeBody.
// It is for one goroutine.
type Decoder struct {
	texts   [1 << 11]seenText
	moments [1 << 6]seenMoment
	latest  [2]*seenMoment // the last two: most times of an observation are one of them
	order   []*seenText    // of the last observation: most likely the next has the same ones again

	// How many of each the last observation had, for the next to have room at once.
	answers, readings, newest, gates, findings int
}

// seenText is a text as JSON has it between its quotes, and what it says.
type seenText struct {
	raw, text string
	number    float64 // that it spells, when numeric
	numeric   bool
}

// longestSeen bounds the texts that are kept, in bytes.
const longestSeen = 2 << 10

// noText is the empty text, which is no number.
var noText seenText

type seenMoment struct {
	raw string
	at  time.Time
}

// NewDecoder gives a decoder that has seen nothing yet.
func NewDecoder() *Decoder { return &Decoder{} }

// place spreads texts over a table, the same ones the same way each time.
func place(raw []byte, places uint32) uint32 { return crc32.Checksum(raw, castagnoli) % places }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Body gives the typed body of a record. It keeps no part of raw.
func (d *Decoder) Body(kind Kind, raw json.RawMessage) (any, error) {
	if kind == KindObserved {
		if body, ok := d.observed(raw); ok {
			return body, nil
		}
	}
	return DecodeBody(kind, raw)
}

// observed reads an observation that is written as this package does; ok is false for any other.
func (d *Decoder) observed(raw []byte) (body *Observed, ok bool) {
	c := cursor{Decoder: d, rest: raw, allReadings: make([]probes.Reading, 0, d.readings),
		allNewest: make([]time.Time, 0, d.newest), allFindings: make([]probes.Finding, 0, d.findings)}
	body = c.observed()
	d.answers, d.gates = len(body.Answers), len(body.Gates)
	d.readings, d.newest, d.findings = len(c.allReadings), len(c.allNewest), len(c.allFindings)
	return body, !c.failed && len(c.rest) == 0
}

// cursor walks over a body. After the first thing that it does not expect it has failed, and stands still.
type cursor struct {
	*Decoder
	rest   []byte
	failed bool
	nth    int // text

	// Of the whole observation: its lists are parts of these.
	allReadings []probes.Reading
	allNewest   []time.Time
	allFindings []probes.Finding
}

func (c *cursor) fail() { c.failed, c.rest = true, nil }

// has steps over a literal text if it comes next.
func (c *cursor) has(literal string) bool {
	if len(c.rest) < len(literal) || string(c.rest[:len(literal)]) != literal {
		return false
	}
	c.rest = c.rest[len(literal):]
	return true
}

func (c *cursor) must(literal string) {
	if !c.has(literal) {
		c.fail()
	}
}

func (c *cursor) observed() *Observed {
	o := &Observed{}
	c.must(`{"at":"`)
	o.At = c.moment()
	c.must(`,"offset_ms":`)
	o.OffsetMS = c.number()
	if c.has(`,"answers":[`) {
		o.Answers = make([]probes.Answer, 0, c.answers)
		for more := true; more; more = c.has(",") {
			c.answer(another(&o.Answers))
		}
		c.must("]")
	}
	if c.has(`,"gates":[`) {
		o.Gates = make([]GateSeen, 0, c.gates)
		for more := true; more; more = c.has(",") {
			o.Gates = append(o.Gates, c.gate())
		}
		c.must("]")
	}
	if c.has(`,"propagation":{`) {
		o.Propagation = c.propagation()
	}
	o.More = c.has(`,"more":true`)
	c.must("}")
	return o
}

// another makes a list longer by one, in its room when it has some: that is empty and need not be written.
func another[T any](list *[]T) *T {
	if n := len(*list); n < cap(*list) {
		*list = (*list)[:n+1]
	} else {
		*list = append(*list, *new(T))
	}
	return &(*list)[len(*list)-1]
}

func (c *cursor) answer(a *probes.Answer) {
	c.must(`{"ask":{"probe":"`)
	a.Ask.Probe = c.text()
	if !c.has("}") {
		a.Ask.From, a.Ask.To = c.textOf(`,"from":"`), c.textOf(`,"to":"`)
		c.must("}")
	}
	a.Query = c.textOf(`,"query":"`)
	c.must(`,"at":"`)
	a.At = c.moment()
	a.SetStored(c.readings())
	if c.has(`,"count":`) {
		a.Count = int(c.number())
	}
	a.WindowStart, a.Oldest, a.Stalest = c.momentOf(`,"window_start":"`), c.momentOf(`,"oldest":"`),
		c.momentOf(`,"stalest":"`)
	if c.has(`,"newest":["`) {
		begins := len(c.allNewest)
		for more := true; more; more = c.has(`,"`) {
			c.allNewest = append(c.allNewest, c.moment())
		}
		c.must("]")
		a.Newest = c.allNewest[begins:len(c.allNewest):len(c.allNewest)]
	}
	if c.has("}") { // most have no more
		return
	}
	a.Reason, a.Detail = probes.Reason(c.textOf(`,"reason":"`)), c.textOf(`,"detail":"`)
	a.Assumed = c.has(`,"assumed":true`)
	a.Source, a.Instead = c.textOf(`,"source":"`), c.textOf(`,"instead":"`)
	a.Warnings, a.Infos = c.textsOf(`,"warnings":["`), c.textsOf(`,"infos":["`)
	c.must("}")
}

func (c *cursor) readings() []probes.Reading {
	if !c.has(`,"readings":[`) {
		return nil
	}
	begins := len(c.allReadings)
	for more := true; more; more = c.has(",") {
		c.must(`{"series":"`)
		series := c.text()
		c.must(`,"value":"`)
		value, raw := c.value()
		c.allReadings = append(c.allReadings, probes.Reading{Series: series, Value: value, Raw: raw})
		c.must("}")
	}
	c.must("]")
	return c.allReadings[begins:len(c.allReadings):len(c.allReadings)]
}

// value reads the number that a string spells, from behind its opening quote.
func (c *cursor) value() (float64, string) {
	seen := c.seen()
	if !seen.numeric {
		value, err := strconv.ParseFloat(seen.text, 64)
		if err != nil {
			c.fail()
			return 0, ""
		}
		seen.number, seen.numeric = value, true
	}
	return seen.number, seen.text
}

func (c *cursor) gate() (g GateSeen) {
	c.must(`{"gate":"`)
	g.Gate = c.text()
	c.must(`,"verdict":"`)
	g.Verdict = c.text()
	c.must(`,"passes":`)
	g.Passes = int(c.number())
	c.must(`,"of":`)
	g.Of = int(c.number())
	c.must(`,"findings":`)
	if c.has("[") {
		begins := len(c.allFindings)
		for more := true; more; more = c.has(",") {
			c.allFindings = append(c.allFindings, c.finding())
		}
		c.must("]")
		g.Findings = c.allFindings[begins:len(c.allFindings):len(c.allFindings)]
	} else {
		c.must("null")
	}
	c.must("}")
	return g
}

func (c *cursor) finding() (f probes.Finding) {
	c.must(`{"bound":"`)
	f.Bound = c.text()
	c.must(`,"probe":"`)
	f.Probe = c.text()
	c.must(`,"verdict":"`)
	if f.Verdict.UnmarshalText([]byte(c.text())) != nil {
		c.fail()
	}
	f.Reason = probes.Reason(c.textOf(`,"reason":"`))
	f.Value, f.Series = c.textOf(`,"value":"`), c.textOf(`,"series":"`)
	c.must(`,"sentence":"`)
	f.Sentence = c.text()
	f.ByHand, f.Source, f.Notes = c.textOf(`,"by_hand":"`), c.textOf(`,"source":"`), c.textsOf(`,"notes":["`)
	c.must("}")
	return f
}

func (c *cursor) propagation() *probes.Propagation {
	p := &probes.Propagation{}
	c.must(`"version":`)
	p.Version = c.number()
	p.Reported = c.has(`,"reported":true`)
	if !p.Reported {
		c.must(`,"reported":false`)
	}
	c.must(`,"processes":`)
	p.Processes = int(c.number())
	c.must(`,"obeying":`)
	p.Obeying = int(c.number())
	p.Oldest = c.momentOf(`,"oldest":"`)
	p.Reason, p.Detail = probes.Reason(c.textOf(`,"reason":"`)), c.textOf(`,"detail":"`)
	c.must("}")
	return p
}

// longestNumber is how many digits every int64 can have.
const longestNumber = 18

// number reads a whole number in its only spelling.
func (c *cursor) number() int64 {
	negative := c.has("-")
	n, value := 0, int64(0)
	for n < len(c.rest) && n <= longestNumber && c.rest[n] >= '0' && c.rest[n] <= '9' {
		value = 10*value + int64(c.rest[n]-'0')
		n++
	}
	if n == 0 || n > longestNumber || c.rest[0] == '0' && (n > 1 || negative) {
		c.fail()
		return 0
	}
	c.rest = c.rest[n:]
	if negative {
		return -value
	}
	return value
}

// textOf reads the text of a key that may be missing.
func (c *cursor) textOf(key string) string {
	if !c.has(key) {
		return ""
	}
	return c.text()
}

func (c *cursor) textsOf(key string) []string {
	if !c.has(key) {
		return nil
	}
	list := []string{c.text()}
	for c.has(`,"`) {
		list = append(list, c.text())
	}
	c.must("]")
	return list
}

// text reads a string from behind its opening quote.
func (c *cursor) text() string { return c.seen().text }

// seen reads a string from behind its opening quote. What stood at its place in the last observation is tried first.
func (c *cursor) seen() *seenText {
	c.nth++
	if c.nth > len(c.order) {
		c.order = append(c.order, &noText)
	}
	likely := c.order[c.nth-1]
	if c.quotes(likely.raw) {
		return likely
	}
	raw := c.quoted()
	seen := c.placeOf(raw)
	if seen.raw != string(raw) {
		text, ok := unquoted(raw)
		if !ok {
			c.fail()
			return &noText
		}
		*seen = seenText{raw: text, text: text}
		if text != string(raw) {
			seen.raw = string(raw)
		}
	}
	c.order[c.nth-1] = seen
	return seen
}

// quotes steps over a string and its closing quote if it is this one.
func (c *cursor) quotes(raw string) bool {
	n := len(raw)
	if n >= len(c.rest) || c.rest[n] != '"' || string(c.rest[:n]) != raw {
		return false
	}
	c.rest = c.rest[n+1:]
	return true
}

// placeOf gives where a text is kept, or new room for one that is too long for that.
func (c *cursor) placeOf(raw []byte) *seenText {
	if len(raw) > longestSeen {
		return new(seenText)
	}
	return &c.texts[place(raw, uint32(len(c.texts)))]
}

// momentOf reads the time of a key that may be missing.
func (c *cursor) momentOf(key string) time.Time {
	if !c.has(key) {
		return time.Time{}
	}
	return c.moment()
}

// moment reads a time from behind its opening quote.
func (c *cursor) moment() time.Time {
	for _, latest := range c.latest {
		if latest != nil && c.quotes(latest.raw) {
			return latest.at
		}
	}
	raw := c.quoted()
	seen := &c.moments[place(raw, uint32(len(c.moments)))]
	if len(raw) == 0 || seen.raw != string(raw) {
		var at time.Time
		if jsonv2.Unmarshal(inQuotes(raw), &at) != nil {
			c.fail()
			return at
		}
		*seen = seenMoment{string(raw), at}
	}
	c.latest[0], c.latest[1] = seen, c.latest[0]
	return seen.at
}

// quoted steps over a string and its closing quote, and gives what stands before that.
func (c *cursor) quoted() []byte {
	for end := 0; ; end++ {
		n := bytes.IndexByte(c.rest[end:], '"')
		if n < 0 {
			c.fail()
			return nil
		}
		if end += n; !escaped(c.rest[:end]) {
			raw := c.rest[:end]
			c.rest = c.rest[end+1:]
			return raw
		}
	}
}

// escaped reports whether what comes behind is escaped: by an odd number of backslashes.
func escaped(before []byte) bool {
	n := len(before)
	for n > 0 && before[n-1] == '\\' {
		n--
	}
	return (len(before)-n)%2 == 1
}

// unquoted gives what a string says, if it is one.
func unquoted(raw []byte) (string, bool) {
	if plain(raw) {
		return string(raw), true
	}
	text, err := jsontext.AppendUnquote(nil, inQuotes(raw))
	return string(text), err == nil
}

func inQuotes(raw []byte) []byte { return slices.Concat([]byte{'"'}, raw, []byte{'"'}) }

// plain reports whether a string stands for itself.
func plain(raw []byte) bool {
	for _, b := range raw {
		if b < ' ' || b > '~' || b == '\\' {
			return false
		}
	}
	return true
}
