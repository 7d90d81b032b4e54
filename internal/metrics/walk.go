package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// Walk is the metrics of one walk. It is safe for use by several goroutines.
type Walk struct {
	run      string
	registry *prometheus.Registry
	register prometheus.Registerer

	info, stage, waits                     *prometheus.GaugeVec
	stepSince, holdSince                   moments
	holds, owed, overrides, broken         prometheus.Gauge
	seq, signed, begun, within             prometheus.Gauge
	flips, verdicts, unanswered, approvals *prometheus.CounterVec
	redisErrors                            prometheus.Counter
	polls                                  prometheus.Histogram

	mu        sync.Mutex
	recovery  time.Duration // from the beginning to the latest record, or to the recovery
	recovered bool
}

// New makes the metrics of a run of a service.
func New(service, run string) *Walk {
	registry := prometheus.NewRegistry()
	labels := prometheus.Labels{"service": service, "run": run}
	w := &Walk{run: run, registry: registry, register: prometheus.WrapRegistererWith(labels, registry)}
	w.declareRun()
	w.declareClock()
	w.declareDecisions()
	w.declareMeans()
	w.zero()
	return w
}

// declareRun is where the walk stands.
func (w *Walk) declareRun() {
	w.info = w.gauges("rewarm_run_info",
		"What is walked, by which version and where; always 1.", "runbook", "version", "host", "approve")
	w.stage = w.gauges("rewarm_run_stage",
		"1 for the stage that the walk stands in, 0 for the others.", "stage")
	w.stepSince = w.moments("rewarm_run_step_entered_timestamp_seconds",
		"When the step was entered that the walk waits at.", "stage", "step")
	w.holds = w.gauge("rewarm_run_holds",
		"Holds that are on: nothing is released while there is one.")
	w.holdSince = w.moments("rewarm_run_hold_since_timestamp_seconds",
		"Since when a hold is on.", "cause")
	w.owed = w.gauge("rewarm_run_owed_expectations",
		"Protecting steps whose expectation has not passed yet.")
	w.overrides = w.gauge("rewarm_run_overrides",
		"Controls that this run has flipped and that are not at their steady value.")
	w.waits = w.gauges("rewarm_run_words_pending",
		"1 while the walk waits for a word of a person, 0 while it does not.", "word")
}

// declareClock is the recovery clock: it runs from record to record and stops at the recovery.
func (w *Walk) declareClock() {
	w.begun = w.gauge("rewarm_run_begun_timestamp_seconds",
		"When the run began.")
	w.within = w.gauge("rewarm_run_recover_within_seconds",
		"In what time the runbook wants the service recovered; 0 where it does not say.")
	w.reads("rewarm_run_recovery_seconds",
		"From the beginning of the run to its latest record, or to the recovery.", func() float64 {
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.recovery.Seconds()
		})
	w.reads("rewarm_run_recovered",
		"1 when the exit has held for its intervals, 0 before.", func() float64 {
			w.mu.Lock()
			defer w.mu.Unlock()
			return truth(w.recovered)
		})
}

// declareDecisions is what was decided and done.
func (w *Walk) declareDecisions() {
	w.approvals = w.counters("rewarm_run_approvals_total",
		"Approvals that were given, by how.", "how")
	w.flips = w.counters("rewarm_run_flips_total",
		"Flips, by direction and outcome.", "direction", "result")
	w.verdicts = w.counters("rewarm_run_gate_verdicts_total",
		"Verdicts of gates that watched a poll, by what the gate stands at.", "gate", "verdict")
}

// declareMeans is how what the walk stands on does: its Prometheus, its Redis and its log.
func (w *Walk) declareMeans() {
	w.unanswered = w.counters("rewarm_run_unanswered_queries_total",
		"Queries without an answer that can be judged, by reason.", "reason")
	w.polls = w.histogram("rewarm_run_poll_duration_seconds",
		"How long a poll of all probes took.")
	w.redisErrors = w.counter("rewarm_run_redis_errors_total",
		"Polls in which Redis could not be read, and flips that it did not answer.")
	w.seq = w.gauge("rewarm_run_log_records",
		"Records in the log: the number of its head.")
	w.signed = w.gauge("rewarm_run_log_signed_records",
		"The number of the newest signed head.")
	w.broken = w.gauge("rewarm_run_log_broken",
		"1 while the log's disk takes no records, 0 while it does.")
}

// zero lets every series be there from the start whose labels are known: a rate over one that appears misses its
// first step.
func (w *Walk) zero() {
	for stage := runbook.DeclareMode; stage <= runbook.Reconcile; stage++ {
		w.stage.WithLabelValues(stage.String())
	}
	for _, word := range []string{wordApproval, wordAnswer} {
		w.waits.WithLabelValues(word)
	}
	for _, how := range []string{steps.HowTyped, steps.HowSent, steps.HowAuto} {
		w.approvals.WithLabelValues(how)
	}
	for _, direction := range []runbook.Direction{runbook.Protecting, runbook.Releasing} {
		for _, result := range outcomes {
			w.flips.WithLabelValues(string(direction), string(result))
		}
	}
}

// outcomes are how a flip ends that was not nothing to do.
var outcomes = []steps.Result{steps.ResultApplied, steps.ResultRefused, steps.ResultUnknown, steps.ResultUnreached}

// Polled takes how long a poll took.
func (w *Walk) Polled(took time.Duration) { w.polls.Observe(took.Seconds()) }

// Signed takes the head that was signed last.
func (w *Walk) Signed(head audit.Head) { w.signed.Set(float64(head.Seq)) }

// The words that a walk waits for.
const (
	wordApproval = "approval"
	wordAnswer   = "answer"
)

// Waits takes what the walk waits for a person to say; the zero Question for nothing.
func (w *Walk) Waits(q steps.Question) {
	w.waits.WithLabelValues(wordApproval).Set(truth(len(q.Offers) > 0))
	w.waits.WithLabelValues(wordAnswer).Set(truth(q.Asks != ""))
}

// Events are what became of the events for one receiver.
type Events struct{ Delivered, Failed, Waiting int }

// Receiver adds the events of a receiver, which are read at each scrape.
func (w *Walk) Receiver(name string, events func() Events) {
	register := prometheus.WrapRegistererWith(prometheus.Labels{"receiver": name}, w.register)
	register.MustRegister(
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "rewarm_run_notifications_delivered_total",
			Help: "Events that a receiver has."}, func() float64 { return float64(events().Delivered) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "rewarm_run_notifications_failed_total",
			Help: "Events that a receiver will not get: refused, or left out for lack of room."},
			func() float64 { return float64(events().Failed) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "rewarm_run_notifications_waiting",
			Help: "Events that wait for a receiver."}, func() float64 { return float64(events().Waiting) }),
	)
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
