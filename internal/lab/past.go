package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"

	prom "github.com/prometheus/common/model"
	native "github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// Past is the metrics of an incident that somebody has had, without any model: series with
// a sample at every interval, of which any may be missing. The first is of the start.
type Past struct {
	interval time.Duration
	series   []pastSeries
}

type pastSeries struct {
	labels  labels.Labels
	values  []float64
	missing map[int]bool // by index
}

// MostPast is how many samples a series of a past may have.
const MostPast = 100_000

// NewPast makes a past without series.
func NewPast(interval time.Duration) *Past { return &Past{interval: interval} }

// AddSeries takes a series in the notation of promtool's tests, as 'up{job="x"}' and '1x9 _ 0'.
func (p *Past) AddSeries(series, values string) error {
	name, sequence, err := newQueryParser().ParseSeriesDesc(series + " " + values)
	var wrong parser.ParseErrors
	if errors.As(err, &wrong) && len(wrong) > 0 {
		return wrong[0].Err // its position is in no file
	}
	if err != nil {
		return err
	}
	s := pastSeries{labels: name, missing: map[int]bool{}}
	for i, v := range sequence {
		if v.Histogram != nil {
			return errors.New("native histograms are not taken")
		}
		s.values = append(s.values, v.Value)
		s.missing[i] = v.Omitted
	}
	return p.add(s)
}

func (p *Past) add(s pastSeries) error {
	if len(s.values) > MostPast {
		return fmt.Errorf("%s has %d samples, at most %d are kept: lengthen the interval", s.labels, len(s.values), MostPast)
	}
	if slices.ContainsFunc(p.series, func(o pastSeries) bool { return labels.Equal(o.labels, s.labels) }) {
		return fmt.Errorf("%s is there twice", s.labels)
	}
	p.series = append(p.series, s)
	return nil
}

// rangeAnswer is what /api/v1/query_range answers.
type rangeAnswer struct {
	Status string `json:"status"`
	Data   struct {
		ResultType string `json:"resultType"`
		Result     []struct {
			Metric map[string]string `json:"metric"`
			Values [][2]any          `json:"values"`
		} `json:"result"`
	} `json:"data"`
}

// Missing gives the selectors of a query that no series of the past fits. What cannot be read has none.
func (p *Past) Missing(query string) []string {
	expr, err := newQueryParser().ParseExpr(query)
	if err != nil {
		return nil
	}
	var list []string
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		selector, is := node.(*parser.VectorSelector)
		if is && !slices.ContainsFunc(p.series, func(s pastSeries) bool { return fits(s.labels, selector.LabelMatchers) }) {
			bare := *selector
			bare.Offset, bare.OriginalOffset = 0, 0
			list = append(list, bare.String())
		}
		return nil
	})
	return list
}

func fits(series labels.Labels, matchers []*labels.Matcher) bool {
	return !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(series.Get(m.Name)) })
}

// Export is a saved answer of /api/v1/query_range, with its file.
type Export struct {
	File string
	Text []byte
}

// AddExport takes the series of answers to selectors. Their first sample of all is of the start.
func (p *Past) AddExport(exports ...Export) error {
	var all []rangeAnswer
	first := math.Inf(1)
	for _, e := range exports {
		var a rangeAnswer
		if err := json.Unmarshal(e.Text, &a); err != nil || a.Status != "success" || a.Data.ResultType != "matrix" {
			return fmt.Errorf("%s is no answer of /api/v1/query_range", e.File)
		}
		for _, r := range a.Data.Result {
			for _, v := range r.Values {
				if at, ok := v[0].(float64); ok {
					first = min(first, at)
				}
			}
		}
		all = append(all, a)
	}
	for _, a := range all {
		for _, r := range a.Data.Result {
			if err := p.addRange(r.Metric, r.Values, first); err != nil {
				return err
			}
		}
	}
	return nil
}

// addRange puts each value into its interval, counted from the first sample of all.
func (p *Past) addRange(metric map[string]string, values [][2]any, first float64) error {
	s := pastSeries{labels: labels.FromMap(metric), missing: map[int]bool{}}
	if s.labels.Get(prom.MetricNameLabel) == "" {
		return fmt.Errorf("%s has no name: export selectors, not what functions made of them", s.labels)
	}
	for _, v := range values {
		at, isTime := v[0].(float64)
		text, isText := v[1].(string)
		value, err := strconv.ParseFloat(text, 64)
		if !isTime || !isText || err != nil {
			return fmt.Errorf("%s has a value that is no sample", s.labels)
		}
		i := int(math.Round((at - first) / p.interval.Seconds()))
		if i >= MostPast {
			return fmt.Errorf("%s goes on for longer than %d samples: lengthen the interval", s.labels, MostPast)
		}
		for len(s.values) <= i {
			s.missing[len(s.values)] = true
			s.values = append(s.values, 0)
		}
		s.values[i], s.missing[i] = value, false
	}
	return p.add(s)
}

// Transport answers Prometheus' HTTP interface from the past, which begins at the start and
// comes to light as the clock goes on. Unless until is zero nothing was scraped after it.
func (p *Past) Transport(start, until time.Time, now func() time.Time) http.RoundTripper {
	all := pastStore{}
	for _, from := range p.series {
		var kept []chunks.Sample
		for i, v := range from.values {
			at := start.Add(time.Duration(i) * p.interval)
			if !from.missing[i] && (until.IsZero() || !at.After(until)) {
				kept = append(kept, pastSample{at.UnixMilli(), v})
			}
		}
		if len(kept) > 0 {
			all = append(all, storage.NewListSeries(from.labels, kept))
		}
	}
	slices.SortFunc(all, func(a, b storage.Series) int { return labels.Compare(a.Labels(), b.Labels()) })
	return transport{newAPI(all, p.interval, now)}
}

// pastStore answers the engine from series that do not change.
type pastStore []storage.Series

func (p pastStore) Querier(int64, int64) (storage.Querier, error) { return p, nil }

func (p pastStore) Select(
	_ context.Context, _ bool, _ *storage.SelectHints, matchers ...*labels.Matcher,
) storage.SeriesSet {
	set := &pastSet{at: -1}
	for _, s := range p {
		if fits(s.Labels(), matchers) {
			set.found = append(set.found, s)
		}
	}
	return set
}

func (p pastStore) LabelValues(
	context.Context, string, *storage.LabelHints, ...*labels.Matcher,
) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

func (p pastStore) LabelNames(
	context.Context, *storage.LabelHints, ...*labels.Matcher,
) ([]string, annotations.Annotations, error) {
	return nil, nil, nil
}

func (p pastStore) Close() error { return nil }

type pastSet struct {
	found []storage.Series
	at    int
}

func (s *pastSet) Next() bool                        { s.at++; return s.at < len(s.found) }
func (s *pastSet) At() storage.Series                { return s.found[s.at] }
func (s *pastSet) Err() error                        { return nil }
func (s *pastSet) Warnings() annotations.Annotations { return nil }

// pastSample is one sample; only floats are kept.
type pastSample struct {
	t milliseconds
	v float64
}

func (s pastSample) T() int64                   { return s.t }
func (s pastSample) ST() int64                  { return 0 }
func (s pastSample) F() float64                 { return s.v }
func (s pastSample) H() *native.Histogram       { return nil }
func (s pastSample) FH() *native.FloatHistogram { return nil }
func (s pastSample) Type() chunkenc.ValueType   { return chunkenc.ValFloat }
func (s pastSample) Copy() chunks.Sample        { return s }
