package lab

import (
	"context"
	"slices"
	"sort"
	"sync"
	"time"

	prom "github.com/prometheus/common/model"
	native "github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/util/annotations"
)

// keptScrapes bounds the memory of the store: at one scrape a second, ten minutes.
const keptScrapes = 600

// store keeps what was scraped from a page and answers the PromQL engine. All
// series are scraped at once, so one row of times serves them all.
type store struct {
	mu      sync.RWMutex
	page    *page
	byName  map[string][]*series // in the order of their labels
	all     []*series            // in the order in which they came
	blocks  []*block
	times   [keptScrapes]int64 // milliseconds, ring by scrape
	scrapes int
}

// block is what was scraped of some series: a row a scrape, so that a scrape writes to
// one place.
type block [keptScrapes][blockWidth]float64

const blockWidth = 128

func newStore(p *page) *store {
	s := &store{page: p, byName: map[string][]*series{}}
	for _, f := range p.families {
		for _, series := range f.series {
			s.add(f, series)
		}
	}
	p.added = func(f *family, series *series) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.add(f, series)
	}
	return s
}

// add makes room for a series, which is scraped from the next time on.
func (s *store) add(f *family, n *series) {
	n.born = s.scrapes
	n.column = len(s.all) % blockWidth
	if n.column == 0 {
		s.blocks = append(s.blocks, new(block))
	}
	n.block = s.blocks[len(s.blocks)-1]
	s.all = append(s.all, n)
	name := f.name + n.suffix
	at, _ := slices.BinarySearchFunc(s.byName[name], n,
		func(a, b *series) int { return labels.Compare(a.labels, b.labels) })
	s.byName[name] = slices.Insert(s.byName[name], at, n)
}

// scrape takes one sample of every series.
func (s *store) scrape(at time.Time) {
	s.page.update()
	s.mu.Lock()
	defer s.mu.Unlock()
	slot := s.scrapes % keptScrapes
	s.times[slot] = at.UnixMilli()
	for i, b := range s.blocks {
		row := &b[slot]
		for column, series := range s.all[i*blockWidth : min(len(s.all), (i+1)*blockWidth)] {
			row[column] = series.value()
		}
	}
	s.scrapes++
}

// at is what was scraped of a series, which has been there then.
func (n *series) at(scrape int) float64 { return n.block[scrape%keptScrapes][n.column] }

// there reports whether a scrape found a series.
func (n *series) there(scrape int) bool { return n.born <= scrape && !value.IsStaleNaN(n.at(scrape)) }

// Querier makes the store a storage.Queryable.
func (s *store) Querier(mint, maxt int64) (storage.Querier, error) {
	s.mu.RLock()
	return &querier{store: s}, nil
}

// querier holds the store's lock until it is closed, so that a query sees one state.
type querier struct {
	store  *store
	closed bool
}

func (q *querier) Close() error {
	if !q.closed {
		q.closed = true
		q.store.mu.RUnlock()
	}
	return nil
}

func (q *querier) Select(
	_ context.Context, _ bool, hints *storage.SelectHints, matchers ...*labels.Matcher,
) storage.SeriesSet {
	from := q.store.from(hints)
	candidates := q.candidates(matchers)
	set := &seriesSet{found: make([]stored, 0, len(candidates)), at: -1}
	for _, s := range candidates {
		if matches(s.labels, matchers) {
			set.found = append(set.found, stored{store: q.store, series: s, from: from})
		}
	}
	return set
}

// from is the first scrape that a selector can need. One that is evaluated at a
// single moment needs only the newest sample before it, and the engine would
// walk through the whole look-back to get there.
func (s *store) from(hints *storage.SelectHints) int {
	oldest := max(0, s.scrapes-keptScrapes)
	if hints == nil || hints.Range != 0 || hints.End-hints.Start > lookback.Milliseconds() {
		return oldest
	}
	after := s.search(oldest, s.scrapes, hints.End+1)
	return max(oldest, after-1)
}

// search is the first scrape from low on, and before high, at or after a time.
func (s *store) search(low, high int, t milliseconds) int {
	return low + sort.Search(high-low, func(i int) bool { return s.times[(low+i)%keptScrapes] >= t })
}

// candidates are the series of the name that is asked for, or all.
func (q *querier) candidates(matchers []*labels.Matcher) []*series {
	for _, m := range matchers {
		if m.Name == prom.MetricNameLabel && m.Type == labels.MatchEqual {
			return q.store.byName[m.Value]
		}
	}
	var all []*series
	for _, list := range q.store.byName {
		all = append(all, list...)
	}
	slices.SortFunc(all, func(a, b *series) int { return labels.Compare(a.labels, b.labels) })
	return all
}

func matches(l labels.Labels, matchers []*labels.Matcher) bool {
	for _, m := range matchers {
		if (m.Name != prom.MetricNameLabel || m.Type != labels.MatchEqual) && !m.Matches(l.Get(m.Name)) {
			return false
		}
	}
	return true
}

// LabelValues and LabelNames are asked for by no query.
func (q *querier) LabelValues(
	context.Context, string, *storage.LabelHints, ...*labels.Matcher,
) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

func (q *querier) LabelNames(
	context.Context, *storage.LabelHints, ...*labels.Matcher,
) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

type seriesSet struct {
	found []stored
	at    int
}

func (s *seriesSet) Next() bool {
	s.at++
	return s.at < len(s.found)
}

func (s *seriesSet) At() storage.Series                { return &s.found[s.at] }
func (s *seriesSet) Err() error                        { return nil }
func (s *seriesSet) Warnings() annotations.Annotations { return nil }

// stored is one series as the engine sees it. It comes with its first iterator,
// the only one that most queries need.
type stored struct {
	store  *store
	series *series
	from   int // the first scrape to give
	first  samples
	taken  bool
}

func (s *stored) Labels() labels.Labels { return s.series.labels }

func (s *stored) Iterator(reuse chunkenc.Iterator) chunkenc.Iterator {
	it, ok := reuse.(*samples)
	if !ok {
		it = &s.first
		if s.taken {
			it = &samples{}
		}
		s.taken = true
	}
	*it = samples{store: s.store, block: s.series.block, column: s.series.column, next: max(s.series.born, s.from),
		end: s.store.scrapes}
	return it
}

// milliseconds is how times are counted in a store.
type milliseconds = int64

// samples iterates over the scrapes of a series. Only floats are stored.
type samples struct {
	store     *store
	block     *block
	column    int
	next, end int // scrapes
	at        int64
	value     float64
	started   bool
}

func (s *samples) Next() chunkenc.ValueType {
	if s.next >= s.end {
		return chunkenc.ValNone
	}
	slot := s.next % keptScrapes
	s.at, s.value = s.store.times[slot], s.block[slot][s.column]
	s.next++
	s.started = true
	return chunkenc.ValFloat
}

func (s *samples) Seek(t milliseconds) chunkenc.ValueType {
	if s.started && s.at >= t {
		return chunkenc.ValFloat
	}
	s.next = s.store.search(s.next, s.end, t)
	return s.Next()
}

func (s *samples) At() (int64, float64) { return s.at, s.value }
func (s *samples) AtT() int64           { return s.at }
func (s *samples) AtST() int64          { return 0 }
func (s *samples) Err() error           { return nil }

func (s *samples) AtHistogram(*native.Histogram) (int64, *native.Histogram) {
	return s.at, nil
}

func (s *samples) AtFloatHistogram(*native.FloatHistogram) (int64, *native.FloatHistogram) {
	return s.at, nil
}
