package probes

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Measurements are small questions with at most one number each for an answer, such as
// max(timestamp(up)). Many of them travel in one query, told apart by a label, so that
// knowing how old the samples are costs a server a request or two and not dozens.
const (
	batchQuestions = 24
	batchBytes     = 3000 // a GET must fit into a request line
)

// measured is what a measurement brought: a number, nothing, or a reason why not.
type measured struct {
	value  float64
	found  bool
	reason Reason
	detail string
}

// moment reads the value of a timestamp() question.
func (m measured) moment() time.Time {
	if !m.found {
		return time.Time{}
	}
	return time.UnixMilli(int64(math.Round(m.value * 1000))).UTC()
}

// measurements collects the results of one poll, by question.
type measurements struct {
	mu    sync.Mutex
	known map[string]measured
}

func (m *measurements) get(question string) measured {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known[question]
}

func (m *measurements) put(question string, result measured) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.known[question] = result
}

// batches cuts questions into groups that fit into one query each.
func batches(questions []string) [][]string {
	var groups [][]string
	size := batchBytes
	for _, q := range questions {
		if size+len(q) > batchBytes || len(groups[len(groups)-1]) == batchQuestions {
			groups, size = append(groups, nil), 0
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], q)
		size += len(q) + 40
	}
	return groups
}

func batchQuery(questions []string) string {
	parts := make([]string, len(questions))
	for i, q := range questions {
		parts[i] = fmt.Sprintf(`label_replace(%s, "%s", "%d", "", "")`, q, tagLabel, i)
	}
	return strings.Join(parts, " or ")
}

// measure asks a group of questions at once. When the server refuses the group, each is
// asked alone, so that one odd selector does not blind the others.
func (m *measurements) measure(ctx context.Context, ask func(context.Context, string) reply, group []string) {
	r := ask(ctx, batchQuery(group))
	if r.reason == Rejected && len(group) > 1 {
		var wg sync.WaitGroup
		for _, q := range group {
			wg.Go(func() { m.measure(ctx, ask, []string{q}) })
		}
		wg.Wait()
		return
	}
	if r.reason == "" {
		r.reason, r.detail = warned(r.warnings)
	}
	for i, q := range group {
		m.put(q, pick(r, strconv.Itoa(i)))
	}
}

func pick(r reply, tag string) measured {
	if r.reason != "" {
		return measured{reason: r.reason, detail: r.detail}
	}
	at := slices.IndexFunc(r.samples, func(s sample) bool { return s.tag == tag })
	if at < 0 {
		return measured{}
	}
	s := r.samples[at]
	if s.histogram || math.IsNaN(s.value) || math.IsInf(s.value, 0) {
		return measured{reason: Malformed, detail: "the time of a sample is " + s.raw}
	}
	return measured{value: s.value, found: true}
}

// holes are the words by which Thanos, Mimir, Cortex and their kin say that an answer
// has holes. A warning of the PromQL engine itself never means that.
var holes = []string{
	"partial", "truncated", "incomplete", "storeapi", "fetch from store", "receive series",
	"deadline exceeded", "unavailable", "limit",
}

const engineWarning = "promql warning"

// warned tells from the warnings whether an answer can be trusted.
func warned(warnings []string) (Reason, string) {
	for _, w := range warnings {
		lower := strings.ToLower(w)
		hole := slices.ContainsFunc(holes, func(h string) bool { return strings.Contains(lower, h) })
		if hole && !strings.HasPrefix(lower, engineWarning) {
			return Partial, "the answer may have holes: " + w
		}
	}
	if len(warnings) > 0 {
		return Warned, "the server doubts its answer: " + warnings[0]
	}
	return "", ""
}
