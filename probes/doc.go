// Package probes asks Prometheus and judges what it says.
//
// It has two halves. A [Poller] puts every question of one observation at once and
// writes down what came back as plain values: an [Observation] with an [Answer] for
// each [Ask]. [Judge] then holds a gate against those answers, without a network or
// a clock, and says pass, fail or unknown, so that a log can be judged again.
//
// # What counts as an answer
//
// Prometheus stamps every instant answer with the evaluation time, also when the
// samples behind it are minutes old. A Poller therefore parses each query and asks,
// in the same round, how old the samples of its selectors are:
//
//	max_over_time(sum(rate(admitted_total[4s]))[3s:1s])  reaches back 7 s: no question needed
//	max(queue_age_seconds)                               min and max of timestamp(queue_age_seconds)
//	max_over_time(queue_age_seconds[3s:1s])              min(min_over_time(timestamp(queue_age_seconds)[3s:1s]))
//	job:errors:rate5m                                    its rule's windows and interval, from /api/v1/rules
//
// [Answer].WindowStart is where the furthest range window begins, Oldest the oldest
// sample behind an instant selector, Stalest the newest sample of the series that is
// furthest behind. After a flip, [Situation].Mark is the moment at which the service
// obeyed it; an answer counts when WindowStart and Oldest lie strictly after the mark,
// and Oldest did so in the observation before too, because a scrape may land between
// the question for the value and the question for its age.
//
// # Verdicts
//
// The zero [Verdict] is Unknown, and what was not measured cannot pass: no data, NaN,
// infinities, stale samples, an unexpected number of series, histograms, partial or
// truncated answers, warnings and transport errors are each unknown for a [Reason] of
// their own and with a sentence of their own. Infos are shown and do not block.
//
// A bound with several series is judged on each of them (or any of them, if the
// runbook says so) and names the worst. A group passes when one of its bounds does and
// fails only when all fail; a gate fails when one group fails and passes only when all
// pass.
//
//	g := step.Expect
//	seen := poller.Poll(ctx, doc, probes.Asks(doc, g, "", ""), version)
//	verdict := probes.Judge(g, probes.Situation{
//		Mark:       mark,
//		StaleAfter: 10 * time.Second,
//		Answer:     seen.Answer,
//		Previous:   before.Answer,
//		Probe:      doc.Probe,
//	})
//
// # Speech
//
// Labels, warnings and error pages come from outside. They are made printable before
// they enter an Answer, so everything in one can be shown. Addresses are shown without
// user, password and query.
package probes
