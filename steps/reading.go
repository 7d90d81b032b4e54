package steps

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
)

// longestReading is how long a reading by hand may stand: then somebody looks again.
const longestReading = 30 * time.Minute

// readingForm is what a person types, and readingExample one that works.
const (
	readingForm    = "reading PROBE VALUE until TIME from SOURCE"
	readingExample = "like: reading queue-age 400ms until 10m from grafana of the origin"
)

// HandReading is a reading that a person has given, as long as no later one stands for
// the same probe and rung.
type HandReading struct {
	probes.Manual
	Ask   probes.Ask
	Value float64 // in the unit of the probe
	Unit  string
	given []*ApprovalState // by whom, as far as two persons are concerned
}

// Shown is the value with its unit.
func (r *HandReading) Shown() string { return runbook.FormatQuantity(r.Value, r.Unit) }

// Readings gives the readings by hand that stand at a time, by probe and rung.
func (s *State) Readings(now time.Time) []*HandReading {
	var list []*HandReading
	for _, ask := range slices.SortedFunc(maps.Keys(s.readings), func(a, b probes.Ask) int {
		return strings.Compare(a.Probe+" "+a.From+" "+a.To, b.Probe+" "+b.From+" "+b.To)
	}) {
		if r := s.readings[ask]; r.Until.After(now) {
			list = append(list, r)
		}
	}
	return list
}

// read takes a reading that a person gives for a probe that nobody can measure now.
func (m *Machine) read(o Order) error {
	ask, err := m.state.askNamed(o.Step)
	if err != nil {
		return err
	}
	body, err := parseReading(m.state.Doc.Probe(ask.Probe), o.Text, m.c.Clock.Now())
	if err != nil {
		return &RefusedOrder{Sentence: err.Error(), Hint: readingForm + ", " + readingExample}
	}
	body.Ask, body.By = ask, o.By
	if body.Digest, err = digestOfReading(m.state.Begun.Run, body); err != nil {
		return err
	}
	return m.by(o, KindManual, body)
}

// askNamed finds the probe that a person names, with the rung where its query asks for one:
// PROBE, or PROBE@FROM..TO.
func (s *State) askNamed(name string) (probes.Ask, error) {
	probeName, rung, hasRung := strings.Cut(name, "@")
	p := s.Doc.Probe(probeName)
	switch {
	case p == nil:
		return probes.Ask{}, &RefusedOrder{Sentence: fmt.Sprintf("the runbook has no probe %q", probeName),
			Hint: "probes are " + strings.Join(s.probeNames(), ", ")}
	case p.Baseline:
		return probes.Ask{}, &RefusedOrder{Sentence: p.Name + " is a start value, which is measured once and for all",
			Hint: "skip what is compared with it"}
	case !p.UsesRung() && hasRung:
		return probes.Ask{}, &RefusedOrder{Sentence: p.Name + " depends on no rung", Hint: readingForm}
	case !p.UsesRung():
		return probes.Ask{Probe: p.Name}, nil
	}
	asked := s.rungsAsked(p.Name)
	from, to, _ := strings.Cut(rung, "..")
	if ask := (probes.Ask{Probe: p.Name, From: from, To: to}); hasRung && slices.Contains(asked, ask) {
		return ask, nil
	}
	hint := "nothing asks it now"
	if len(asked) > 0 {
		hint = fmt.Sprintf("what is asked now: reading %s@%s..%s VALUE until TIME from SOURCE", p.Name,
			asked[0].From, asked[0].To)
	}
	return probes.Ask{}, &RefusedOrder{Sentence: p.Name +
		" depends on the rung, and a reading counts for the one that it names", Hint: hint}
}

func (s *State) probeNames() []string {
	var names []string
	for i := range s.Doc.Probes {
		names = append(names, s.Doc.Probes[i].Name)
	}
	return names
}

// rungsAsked gives the rungs for which a probe is asked now.
func (s *State) rungsAsked(probe string) []probes.Ask {
	var asked []probes.Ask
	for _, w := range s.watches() {
		for _, ask := range s.asksOf(w) {
			if ask.Probe == probe && !slices.Contains(asked, ask) {
				asked = append(asked, ask)
			}
		}
	}
	return asked
}

// parseReading reads "VALUE until TIME from SOURCE".
func parseReading(p *runbook.Probe, text string, now time.Time) (*ManualBody, error) {
	words := strings.Fields(text)
	end := slices.Index(words, "until")
	switch {
	case end < 0:
		return nil, fmt.Errorf("it does not say until when it stands")
	case end == 0:
		return nil, fmt.Errorf("the value is missing")
	case len(words) < end+3 || words[end+2] != "from":
		return nil, fmt.Errorf("it does not say where it was read")
	}
	value, err := p.ParseValue(strings.Join(words[:end], " "))
	if err != nil {
		return nil, err
	}
	until, err := parseEnd(words[end+1], now)
	if err != nil {
		return nil, err
	}
	source := strings.Trim(strings.Join(words[end+3:], " "), `"'`)
	if strings.TrimSpace(source) == "" {
		return nil, fmt.Errorf("it does not say where it was read")
	}
	return &ManualBody{Value: probes.NewReading("", value).Raw, Unit: p.Unit, Until: until.UTC(),
		Source: audit.Cut(source, longestSeries)}, nil
}

// parseEnd reads until when a reading stands.
func parseEnd(text string, now time.Time) (time.Time, error) {
	until, err := ParseUntil(text, now)
	if err != nil {
		return until, err
	}
	if left := until.Sub(now); left <= 0 || left > longestReading {
		return until, fmt.Errorf("a reading by hand stands for at most %s from now, and %q is not within that",
			longestReading, text)
	}
	return until, nil
}

// digestOfReading is what a second person confirms: the reading as it was given.
func digestOfReading(run string, body *ManualBody) (string, error) {
	text, err := json.Marshal(struct {
		Run     string      `json:"run"`
		Reading *ManualBody `json:"reading"`
	}{run, body})
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), err
}

// ReadingNamed finds a reading that still stands by its digest, or its first 8 hex digits or more.
func (s *State) ReadingNamed(digest string, now time.Time) *HandReading {
	if len(digest) < shortestDigest {
		return nil
	}
	for _, r := range s.Readings(now) {
		if strings.HasPrefix(r.Digest, strings.ToLower(digest)) {
			return r
		}
	}
	return nil
}

// confirmReading takes the word of a second person for a reading.
func (m *Machine) confirmReading(o Order, r *HandReading) error {
	for _, given := range r.given {
		if m.state.samePerson(given.By, o.By) {
			return &RefusedOrder{Sentence: fmt.Sprintf("%s has given this reading or confirmed it already: it takes another person", o.By), Hint: secondPerson(m.state.Begun.Run, r.Digest)}
		}
	}
	body := &ManualBody{Ask: r.Ask, Value: probes.NewReading("", r.Value).Raw, Unit: r.Unit, Until: r.Until,
		Source: r.Source,
		By:     o.By, Digest: r.Digest, Confirms: r.By}
	if !m.state.twoPersons(append(slices.Clone(r.given), personOf(body, o.Origin))) {
		return &RefusedOrder{Sentence: "one of the two persons has to be known: who gives or confirms a reading from elsewhere does so where only they may write",
			Hint: secondPerson(m.state.Begun.Run, r.Digest)}
	}
	return m.by(o, KindManual, body)
}

// personOf is who stands for a reading, as twoPersons counts.
func personOf(b *ManualBody, origin *Origin) *ApprovalState {
	return &ApprovalState{Approved: Approved{By: b.By, Origin: origin}}
}

// manual takes in a reading, or a second person's word for one. A new one for the same
// probe and rung takes the place of the one before.
func (s *State) manual(b *ManualBody) error {
	if b.Confirms != "" {
		r := s.readings[b.Ask]
		if r == nil || r.Digest != b.Digest {
			return fmt.Errorf("confirms a reading of %s that was not given", b.Ask.Probe)
		}
		confirmed := *r // the polls keep what they were judged by
		confirmed.given = append(slices.Clone(r.given), personOf(b, b.Origin))
		confirmed.Confirmed = append(slices.Clone(r.Confirmed), b.By)
		s.readings[b.Ask] = &confirmed
		return nil
	}
	value, err := strconv.ParseFloat(b.Value, 64)
	if err != nil {
		return fmt.Errorf("the reading %q of %s is not a number", b.Value, b.Ask.Probe)
	}
	s.readings[b.Ask] = &HandReading{Ask: b.Ask, Value: value, Unit: b.Unit,
		given:  []*ApprovalState{personOf(b, b.Origin)},
		Manual: probes.Manual{By: b.By, Source: b.Source, Given: s.LastAt, Until: b.Until, Digest: b.Digest}}
	return nil
}

// replaceUnseen puts readings by hand in the place of answers that no gate could use.
// What is measured always goes before.
func (s *State) replaceUnseen(answers []probes.Answer, now time.Time) {
	for _, r := range s.Readings(now) {
		for i := range answers {
			a := &answers[i]
			if a.Ask != r.Ask {
				continue
			}
			fresh := probes.Freshness{StaleAfter: s.longestStale(r.Ask), Latest: s.latest}
			if !a.Usable(s.Doc.Probe(a.Ask.Probe), fresh) {
				manual := r.Manual
				answers[i] = probes.ByHand(a, fresh, r.Value, &manual, now)
			}
		}
	}
}

// longestStale is the age up to which some gate that asks can use an answer.
func (s *State) longestStale(ask probes.Ask) time.Duration {
	longest := time.Duration(0)
	for _, w := range s.watches() {
		if slices.Contains(s.asksOf(w), ask) {
			longest = max(longest, w.StaleAfter)
		}
	}
	return longest
}

// lostReasons are those for which a person may read a value somewhere else.
var lostReasons = []probes.Reason{probes.Transport, probes.Malformed, probes.Rejected, probes.Stale, probes.NoData,
	probes.NotAlive, probes.SourceCount, probes.Partial}

// readingHint says what a person may do about a gate that cannot be measured.
func readingHint(findings []probes.Finding) string {
	if words := readingWords(findings); len(words) > 0 {
		return "; a reading gives by hand what cannot be measured"
	}
	return ""
}

// readingWords is how the first probe is given by hand that cannot be measured.
func readingWords(findings []probes.Finding) []string {
	for _, f := range findings {
		if f.Verdict == probes.Unknown && slices.Contains(lostReasons, f.Reason) {
			return []string{"reading " + f.Probe + " VALUE until TIME from SOURCE"}
		}
	}
	return nil
}

// byHand reports whether an answer to one of the asks was given by hand.
func (p *poll) byHand(asks []probes.Ask) bool {
	return slices.ContainsFunc(asks, func(ask probes.Ask) bool {
		a := p.answer(ask)
		return a != nil && a.Manual != nil
	})
}
