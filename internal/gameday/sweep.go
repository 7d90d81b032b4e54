package gameday

import (
	"errors"
	"fmt"
	"slices"
)

// SweepFormat is the format of a sweep's results.
const SweepFormat = "rewarm sweep v1"

// Sweep is what many plays of one day have brought. Its size does not grow with the seeds.
type Sweep struct {
	Format   string    `json:"format"`
	Day      string    `json:"day"`
	SHA256   string    `json:"day_sha256"`
	Modelled bool      `json:"modelled"` // always
	From     uint64    `json:"from_seed"`
	To       uint64    `json:"to_seed"`
	Shards   []int     `json:"shards"` // that are in it, from 1
	Of       int       `json:"of"`     // shards
	Variants []Variant `json:"variants"`
}

// Variant is one way of playing the day, over all seeds.
type Variant struct {
	Name   string            `json:"name"`
	Book   string            `json:"runbook_sha256"`
	Played int               `json:"played"`
	Held   int               `json:"held"`   // plays in which everything held
	Broken *uint64           `json:"broken"` // the first seed of which not everything held
	Scores map[string]Sketch `json:"scores"`
	// Beside is how much more than the first variant, seed by seed.
	Beside map[string]Paired `json:"minus_first,omitempty"`
}

// NewSweep makes a sweep without plays of variants, of which name and runbook are given.
func NewSweep(day, sum string, from, to uint64, shard, of int, variants []Variant) *Sweep {
	s := &Sweep{Format: SweepFormat, Day: day, SHA256: sum, Modelled: true, From: from, To: to,
		Shards: []int{shard}, Of: of}
	for _, v := range variants {
		v.Scores, v.Beside = map[string]Sketch{}, map[string]Paired{}
		s.Variants = append(s.Variants, v)
	}
	return s
}

// Add takes the plays of one seed, one for each variant in their order.
func (s *Sweep) Add(plays []*Result) {
	for i, r := range plays {
		v := &s.Variants[i]
		v.Played++
		if r.Passed {
			v.Held++
		} else if v.Broken == nil {
			v.Broken = &r.Seed
		}
		for _, score := range r.Scores {
			sketch := v.Scores[score.Name]
			if score.Value == nil {
				sketch.Missing++
			} else {
				sketch.Add(*score.Value)
			}
			v.Scores[score.Name] = sketch
		}
		if i > 0 {
			v.compare(r, plays[0])
		}
	}
}

// compare takes the differences of one seed where both plays have a figure.
func (v *Variant) compare(r, first *Result) {
	for _, score := range r.Scores {
		other, known := first.Score(score.Name)
		if !known || score.Value == nil {
			continue
		}
		paired := v.Beside[score.Name]
		paired.Add(*score.Value - other)
		v.Beside[score.Name] = paired
	}
}

// Join takes another shard of the same sweep.
func (s *Sweep) Join(o *Sweep) error {
	switch {
	case o.Format != SweepFormat || s.Format != SweepFormat:
		return fmt.Errorf("format %q is not %s", o.Format, SweepFormat)
	case o.Day != s.Day || o.SHA256 != s.SHA256:
		return fmt.Errorf("it is of game day %s with sum %.12s, not of %s with %.12s", o.Day, o.SHA256, s.Day, s.SHA256)
	case o.From != s.From || o.To != s.To || o.Of != s.Of:
		return fmt.Errorf("it is of seeds %d..%d in %d shards, not of %d..%d in %d", o.From, o.To, o.Of, s.From, s.To, s.Of)
	case !slices.EqualFunc(s.Variants, o.Variants, func(a, b Variant) bool { return a.Name == b.Name && a.Book == b.Book }):
		return errors.New("it plays other variants, or other runbooks under their names")
	}
	for _, shard := range o.Shards {
		if slices.Contains(s.Shards, shard) {
			return fmt.Errorf("shard %d of %d is there twice", shard, s.Of)
		}
		s.Shards = append(s.Shards, shard)
	}
	slices.Sort(s.Shards)
	for i := range s.Variants {
		s.Variants[i].join(&o.Variants[i])
	}
	return nil
}

func (v *Variant) join(o *Variant) {
	v.Played += o.Played
	v.Held += o.Held
	if v.Broken == nil || o.Broken != nil && *o.Broken < *v.Broken {
		v.Broken = o.Broken
	}
	for score, more := range o.Scores {
		sketch := v.Scores[score]
		sketch.Join(more)
		v.Scores[score] = sketch
	}
	for score, more := range o.Beside {
		paired := v.Beside[score]
		paired.Join(more)
		v.Beside[score] = paired
	}
}

// Missing are the shards that are not in it.
func (s *Sweep) Missing() []int {
	var missing []int
	for shard := 1; shard <= s.Of; shard++ {
		if !slices.Contains(s.Shards, shard) {
			missing = append(missing, shard)
		}
	}
	return missing
}
