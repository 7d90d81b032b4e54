package probes

import (
	"context"
	"sync"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
)

// The series that alerting rules write.
const (
	alertsName    = "ALERTS"
	alertsForName = "ALERTS_FOR_STATE"
)

// rule is a recording or alerting rule as the server evaluates it.
type rule struct {
	name     string
	alert    bool
	query    string
	interval time.Duration // of its group
	hold     time.Duration // an alert's `for`
}

const (
	rulesRetry = 10 * time.Second // how long an unanswered question is not asked again
	rulesKept  = 5 * time.Minute  // how long an answer is believed: rules are edited in incidents too
)

// ruleBook remembers the server's rules and asks again when one is missing.
type ruleBook struct {
	mu     sync.Mutex
	rules  []rule
	asked  time.Time
	detail string // why the last question failed, "" when it did not
}

// learn asks for the rules when some selector is not covered by what is known, and now
// and then anyway.
func (b *ruleBook) learn(ctx context.Context, c *client, wanted []selector, now time.Time, timeout time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if age := now.Sub(b.asked); age < rulesRetry || b.covers(wanted) && age < rulesKept {
		return
	}
	rules, err := c.rules(ctx, timeout)
	b.asked = now
	if err != nil {
		b.detail = err.Error()
		return
	}
	b.rules, b.detail = rules, ""
}

func (b *ruleBook) covers(wanted []selector) bool {
	for _, s := range wanted {
		if s.recorded() && (s.name == "" && b.asked.IsZero() || s.name != "" && len(b.behind(s)) == 0) {
			return false
		}
	}
	return true
}

// reach is how far back the values that a selector may touch look, before the moment
// at which they were written: the rules' own windows and intervals, followed through
// rules that rest on rules. It is false when that is not known.
func (b *ruleBook) reach(s selector) (time.Duration, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.follow(s, 0)
}

// deepest bounds rules that rest on rules; a circle is not a window.
const deepest = 8

func (b *ruleBook) follow(s selector, depth int) (time.Duration, bool) {
	if !s.recorded() {
		return 0, true
	}
	behind := b.behind(s)
	if depth == deepest || b.asked.IsZero() || b.detail != "" && len(behind) == 0 || s.name != "" && len(behind) == 0 {
		return 0, false
	}
	var furthest time.Duration
	for _, r := range behind {
		inner, err := analyse(r.query)
		if err != nil {
			return 0, false
		}
		for _, i := range inner {
			below, ok := b.follow(i, depth+1)
			if !ok {
				return 0, false
			}
			furthest = max(furthest, r.interval+r.hold+i.reach()+below)
		}
	}
	return furthest, true
}

// behind lists the rules whose series the selector may touch.
func (b *ruleBook) behind(s selector) []rule {
	var found []rule
	for _, r := range b.rules {
		if r.alert && mayTouch(s, alertsName, r.name) || r.alert && mayTouch(s, alertsForName, r.name) ||
			!r.alert && mayTouch(s, r.name, "") {
			found = append(found, r)
		}
	}
	return found
}

func mayTouch(s selector, metric, alert string) bool {
	for _, m := range s.matchers {
		if m.Name == model.MetricNameLabel && !m.Matches(metric) {
			return false
		}
		if alert != "" && m.Name == labels.AlertName && !m.Matches(alert) {
			return false
		}
	}
	return true
}
