package metrics

import (
	"fmt"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// told is a walk's metrics with the state that its records fold to.
type told struct {
	t     *testing.T
	walk  *Walk
	state *steps.State
	seq   uint64
	at    time.Time
}

// begin starts the metrics of a run of the bundled runbook.
func begin(t *testing.T) *told {
	t.Helper()
	const book = "../../templates/runbooks/hot-key-collapse.yaml"
	source, err := os.ReadFile(book)
	if err != nil {
		t.Fatal(err)
	}
	w := &told{t: t, walk: New("catalog", "RUN"), at: time.Date(2026, 11, 29, 10, 8, 0, 0, time.UTC)}
	w.tell(steps.KindBegun, &steps.Begun{Format: steps.FormatV1, Run: "RUN", Service: "catalog", File: "book.yaml", Runbook: source,
		Approve: steps.Manual, Version: "1.2.3", Host: "desk\xff"})
	return w
}

// tell adds a record, one second after the one before.
func (w *told) tell(kind steps.Kind, body any) {
	w.t.Helper()
	w.seq++
	w.at = w.at.Add(time.Second)
	record := audit.Record{Seq: w.seq, At: w.at, T: int64(w.seq-1) * 1000, Kind: kind}
	var err error
	if w.state, err = steps.Follow(w.state, record, body); err != nil {
		w.t.Fatal(err)
	}
	w.walk.Record(record, body)
	w.walk.Stand(w.state)
}

// page scrapes.
func (w *told) page() string {
	w.t.Helper()
	answer := httptest.NewRecorder()
	page := &Page{}
	page.Put(w.walk)
	page.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	if answer.Code != 200 {
		w.t.Fatalf("the scrape ends with %d: %s", answer.Code, answer.Body)
	}
	return answer.Body.String()
}

// reads demands series, without the labels of the run that all have.
func (w *told) reads(want ...string) {
	w.t.Helper()
	page := regexp.MustCompile(`\brun="RUN",?|,?service="catalog"`).ReplaceAllString(w.page(), "")
	page = strings.NewReplacer("{}", "", ",,", ",", ",}", "}", "{,", "{").Replace(page)
	for _, line := range want {
		if absent, ok := strings.CutPrefix(line, "no "); ok {
			if strings.Contains(page, "\n"+absent) {
				w.t.Errorf("the page has %s", absent)
			}
		} else if !strings.Contains(page, "\n"+line+"\n") {
			w.t.Errorf("the page has no %s:\n%s", line, page)
		}
	}
}

// full is a walk in which everything happens that is measured.
func full(t *testing.T) *told {
	w := begin(t)
	value := "3200"
	plan := actions.Plan{Run: "RUN", Step: "enforce-admission", Control: "origin.admission", After: &value, Direction: runbook.Protecting}
	target := steps.Target{Step: "enforce-admission"}
	w.tell(steps.KindStage, &steps.StageBody{Stage: "protect-origin"})
	w.tell(steps.KindStep, &steps.StepBody{Step: "enforce-admission", Stage: "protect-origin", State: steps.StepEntered})
	w.tell(steps.KindIntended, &steps.Intended{Target: target, Plan: plan, Digest: plan.Digest()})
	w.tell(steps.KindSettled, &steps.Settled{Target: target, Plan: plan, Digest: plan.Digest(), Result: steps.ResultApplied, Version: 1})
	w.tell(steps.KindOwed, &steps.OwedBody{Step: "enforce-admission", Gate: "expect enforce-admission"})
	w.tell(steps.KindHeld, &steps.Held{Cause: "person", By: "ana", Sentence: "held by ana"})
	w.tell(steps.KindObserved, &steps.Observed{At: w.at, Redis: "away", Answers: []probes.Answer{{Ask: probes.Ask{Probe: "queue-age"}, Reason: probes.NoData}},
		Gates: []steps.GateSeen{{Gate: "guard 1 queue", Verdict: "unknown"}, {Gate: "exit", Verdict: "fail"}}})
	w.tell(steps.KindApproved, &steps.Approved{Scope: steps.ScopePlan, How: steps.HowTyped})
	w.walk.Polled(30 * time.Millisecond)
	w.walk.Signed(audit.Head{Seq: 7})
	w.walk.Receiver("incident", func() Events { return Events{Delivered: 5, Failed: 2, Waiting: 1} })
	w.walk.Waits(steps.Question{Step: "warm", Offers: []steps.Offer{{}}})
	return w
}

func TestRecordsAreMeasured(t *testing.T) {
	w := full(t)
	began := time.Date(2026, 11, 29, 10, 8, 1, 0, time.UTC)
	moment := func(after int) string { return strconv.FormatFloat(float64(began.Unix()+int64(after)), 'g', -1, 64) }
	w.reads(
		`rewarm_run_info{approve="manual",host="desk?",runbook="book.yaml",version="1.2.3"} 1`,
		`rewarm_run_stage{stage="protect-origin"} 1`, `rewarm_run_stage{stage="declare-mode"} 0`,
		`rewarm_run_step_entered_timestamp_seconds{stage="protect-origin",step="enforce-admission"} `+moment(2),
		`rewarm_run_holds 1`, `rewarm_run_hold_since_timestamp_seconds{cause="person"} `+moment(6),
		`rewarm_run_owed_expectations 1`, `rewarm_run_overrides 0`, // 3200 is the steady value
		`rewarm_run_words_pending{word="approval"} 1`, `rewarm_run_words_pending{word="answer"} 0`,
		`rewarm_run_approvals_total{how="typed"} 1`, `rewarm_run_approvals_total{how="auto"} 0`,
		`rewarm_run_flips_total{direction="protecting",result="applied"} 1`, `rewarm_run_flips_total{direction="releasing",result="unknown"} 0`,
		`rewarm_run_gate_verdicts_total{gate="guard",verdict="unknown"} 1`, `rewarm_run_gate_verdicts_total{gate="exit",verdict="fail"} 1`,
		`rewarm_run_unanswered_queries_total{reason="no-data"} 1`, `rewarm_run_redis_errors_total 1`,
		`rewarm_run_log_records 9`, `rewarm_run_log_signed_records 7`, `rewarm_run_log_broken 0`,
		`rewarm_run_begun_timestamp_seconds `+moment(0), `rewarm_run_recover_within_seconds 156`,
		`rewarm_run_recovery_seconds 8`, `rewarm_run_recovered 0`,
		`rewarm_run_notifications_delivered_total{receiver="incident"} 5`, `rewarm_run_notifications_failed_total{receiver="incident"} 2`,
		`rewarm_run_notifications_waiting{receiver="incident"} 1`,
		`rewarm_run_poll_duration_seconds_bucket{le="0.025"} 0`, `rewarm_run_poll_duration_seconds_bucket{le="0.05"} 1`,
	)
	// What has ended has no series, and the recovery clock stands still.
	w.tell(steps.KindHeld, &steps.Held{Cause: "person", Lifted: true})
	w.tell(steps.KindStep, &steps.StepBody{Step: "enforce-admission", Stage: "protect-origin", State: steps.StepDone})
	w.tell(steps.KindRecovered, &steps.Recovered{TookMS: 9500})
	w.tell(steps.KindNoted, &steps.Noted{Text: "later"})
	w.walk.Waits(steps.Question{})
	w.reads(`rewarm_run_holds 0`, `no rewarm_run_hold_since_timestamp_seconds`, `no rewarm_run_step_entered_timestamp_seconds`,
		`rewarm_run_recovery_seconds 9.5`, `rewarm_run_recovered 1`, `rewarm_run_words_pending{word="approval"} 0`, `rewarm_run_log_records 13`)
}

// TestMetricsAreDocumented: docs/metrics.md has every metric of the page, with its kind, labels and meaning, and no other.
func TestMetricsAreDocumented(t *testing.T) {
	doc, err := os.ReadFile("../../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := regexp.MustCompile("(?m)^\\| `rewarm_run_.*$").FindAllString(string(doc), -1)
	rows := rowsOf(full(t).page())
	for _, row := range rows {
		if !slices.Contains(documented, row) {
			t.Errorf("docs/metrics.md lacks\n%s", row)
		}
	}
	if len(documented) != len(rows) {
		t.Errorf("docs/metrics.md has %d metrics, the page %d", len(documented), len(rows))
	}
}

// rowsOf writes a page as the table of the document.
func rowsOf(page string) []string {
	series := regexp.MustCompile(`(?m)^# HELP (\S+) (.*)\n# TYPE \S+ (\S+)\n\S+?\{(.*?)\} `)
	var rows []string
	for _, m := range series.FindAllStringSubmatch(page, -1) {
		var labels []string
		for _, label := range regexp.MustCompile(`(\w+)="`).FindAllStringSubmatch(m[4], -1) {
			if !slices.Contains([]string{"run", "service", "le"}, label[1]) {
				labels = append(labels, "`"+label[1]+"`")
			}
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |", m[1], m[3], strings.Join(labels, ", "), m[2]))
	}
	return rows
}
