package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"runtime"
	"strconv"
	"sync"
	"time"

	prom "github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/trace/noop"
)

// api is the part of Prometheus' HTTP interface that gates ask, over a store.
type api struct {
	engine *promql.Engine
	ages   *agesOf // nil where series are not scraped all at once
	store  storage.Queryable
	now    func() time.Time
}

const (
	longestQuery = 30 * time.Second // for one query, in real time
	lookback     = 5 * time.Minute  // how old the sample of an instant selector may be, as in Prometheus
)

func newAPI(s storage.Queryable, scrapeEvery time.Duration, now func() time.Time) http.Handler {
	traceNothing()
	queries := newQueryParser()
	a := &api{
		engine: promql.NewEngine(promql.EngineOpts{
			MaxSamples:               5_000_000,
			Timeout:                  longestQuery,
			LookbackDelta:            lookback,
			NoStepSubqueryIntervalFn: func(int64) int64 { return scrapeEvery.Milliseconds() },
			EnableAtModifier:         true,
			EnableNegativeOffset:     true,
			Parser:                   queries,
		}),
		store: s,
		now:   now,
	}
	if scraped, ok := s.(*store); ok {
		a.ages = &agesOf{store: scraped, parser: queries, known: map[string]*questions{}}
	}
	mux := http.NewServeMux()
	for path, answer := range map[string]func(*http.Request) (any, *apiError){
		"/api/v1/query":            a.query,
		"/api/v1/query_range":      a.queryRange,
		"/api/v1/rules":            a.rules,
		"/api/v1/status/buildinfo": a.buildInfo,
	} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) { respond(w, r, answer) })
	}
	for _, path := range []string{"/-/ready", "/-/healthy"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "The lab is ready.") })
	}
	return mux
}

// traceNothing tells the engine's tracing that nobody looks: while it does not know, it keeps
// everything that a listener who may come later would need, at every step of every query.
var traceNothing = sync.OnceFunc(func() { otel.SetTracerProvider(noop.NewTracerProvider()) })

// apiError is an error as Prometheus answers it.
type apiError struct {
	status int
	kind   string
	err    error
}

func badData(format string, args ...any) *apiError {
	return &apiError{http.StatusBadRequest, "bad_data", fmt.Errorf(format, args...)}
}

func (a *api) query(r *http.Request) (any, *apiError) {
	at, err := a.timeParam(r, "time")
	if err != nil {
		return nil, err
	}
	if err := checkTimeout(r); err != nil {
		return nil, err
	}
	return a.evaluate(r.Context(), r.FormValue("query"), at)
}

// evaluate answers a query at one moment, as the engine would.
func (a *api) evaluate(ctx context.Context, query string, at time.Time) (*evaluated, *apiError) {
	if a.ages == nil {
		return a.instant(ctx, query, at)
	}
	if q := a.ages.questions(query); q != nil {
		if known, ok := a.withAges(ctx, q, at); ok {
			return known, nil
		}
	}
	return a.instant(ctx, query, at)
}

// withAges answers questions of which the engine gets only the rest. What is odd about that
// is left to the engine as a whole, so that its words fit the query.
func (a *api) withAges(ctx context.Context, q *questions, at time.Time) (*evaluated, bool) {
	if q.rest == "" {
		return &evaluated{value: a.ages.answer(q, nil, at)}, true
	}
	rest, err := a.instant(ctx, q.rest, at)
	if err != nil {
		return nil, false
	}
	vector, ok := rest.value.(promql.Vector)
	if !ok || len(rest.warnings) > 0 {
		rest.query.Close()
		return nil, false
	}
	rest.value = a.ages.answer(q, vector, at)
	return rest, true
}

// instant has the engine evaluate a query at one moment.
func (a *api) instant(ctx context.Context, query string, at time.Time) (*evaluated, *apiError) {
	q, err := a.engine.NewInstantQuery(ctx, a.store, nil, query, at)
	if err != nil {
		return nil, badData("invalid parameter \"query\": %w", err)
	}
	return run(ctx, q)
}

func (a *api) queryRange(r *http.Request) (any, *apiError) {
	start, err := a.timeParam(r, "start")
	if err != nil {
		return nil, err
	}
	end, err := a.timeParam(r, "end")
	if err != nil {
		return nil, err
	}
	step, stepErr := parseDuration(r.FormValue("step"))
	switch {
	case stepErr != nil:
		return nil, badData("invalid parameter \"step\": %w", stepErr)
	case end.Before(start):
		return nil, badData("invalid parameter \"end\": end timestamp must not be before start time")
	case step <= 0:
		return nil, badData("invalid parameter \"step\": zero or negative query resolution step widths are not accepted. Try a positive integer")
	case end.Sub(start)/step > 11_000:
		return nil, badData("exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution (?step=XX)")
	}
	if err := checkTimeout(r); err != nil {
		return nil, err
	}
	q, parseErr := a.engine.NewRangeQuery(r.Context(), a.store, nil, r.FormValue("query"), start, end, step)
	if parseErr != nil {
		return nil, badData("invalid parameter \"query\": %w", parseErr)
	}
	return run(r.Context(), q)
}

// evaluated is a query's answer, ready to be written.
type evaluated struct {
	query    promql.Query // nil when the engine was not asked
	value    parser.Value
	warnings annotations.Annotations
}

func run(ctx context.Context, q promql.Query) (*evaluated, *apiError) {
	result := q.Exec(ctx)
	if result.Err == nil {
		return &evaluated{query: q, value: result.Value, warnings: result.Warnings}, nil
	}
	q.Close()
	var timeout promql.ErrQueryTimeout
	var cancelled promql.ErrQueryCanceled
	switch {
	case errors.As(result.Err, &timeout):
		return nil, &apiError{http.StatusServiceUnavailable, "timeout", result.Err}
	case errors.As(result.Err, &cancelled):
		return nil, &apiError{499, "canceled", result.Err}
	}
	return nil, &apiError{http.StatusUnprocessableEntity, "execution", result.Err}
}

// rules answers that there are none: the lab records no series of its own.
func (a *api) rules(*http.Request) (any, *apiError) {
	return map[string]any{"groups": []any{}}, nil
}

func (a *api) buildInfo(*http.Request) (any, *apiError) {
	return map[string]string{
		"version": "lab", "revision": "", "branch": "", "buildUser": "", "buildDate": "",
		"goVersion": runtime.Version(),
	}, nil
}

func (a *api) timeParam(r *http.Request, name string) (time.Time, *apiError) {
	text := r.FormValue(name)
	if text == "" && name == "time" {
		return a.now(), nil
	}
	t, err := parseTime(text)
	if err != nil {
		return t, badData("invalid parameter %q: %w", name, err)
	}
	return t, nil
}

// checkTimeout refuses a timeout that is none. A longer one changes nothing:
// the lab answers in milliseconds.
func checkTimeout(r *http.Request) *apiError {
	if text := r.FormValue("timeout"); text != "" {
		if _, err := parseDuration(text); err != nil {
			return badData("invalid parameter \"timeout\": %w", err)
		}
	}
	return nil
}

func parseTime(text string) (time.Time, error) {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(seconds) < math.MaxInt32*1000 {
		whole, part := math.Modf(seconds)
		return time.Unix(int64(whole), int64(math.Round(part*1000))*int64(time.Millisecond)).UTC(), nil
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return t, nil
	}
	return time.Time{}, fmt.Errorf("cannot parse %q to a valid timestamp", text)
}

func parseDuration(text string) (time.Duration, error) {
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && math.Abs(seconds) < math.MaxInt64/float64(time.Second) {
		return time.Duration(seconds * float64(time.Second)), nil
	}
	if d, err := prom.ParseDuration(text); err == nil {
		return time.Duration(d), nil
	}
	return 0, fmt.Errorf("cannot parse %q to a valid duration", text)
}

// response is an answer without a query's result, in Prometheus' order.
type response struct {
	Status    string `json:"status"`
	Data      any    `json:"data,omitempty"`
	ErrorType string `json:"errorType,omitempty"`
	Error     string `json:"error,omitempty"`
}

// respond writes an answer as Prometheus does.
func respond(w http.ResponseWriter, r *http.Request, answer func(*http.Request) (any, *apiError)) {
	if r.Method != http.MethodGet && r.Method != http.MethodPost {
		http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	data, failure := answer(r)
	switch {
	case failure != nil:
		w.WriteHeader(failure.status)
		writeJSON(w, response{Status: "error", ErrorType: failure.kind, Error: failure.err.Error()})
	default:
		if e, ok := data.(*evaluated); ok {
			if e.query != nil {
				defer e.query.Close()
			}
			_, _ = w.Write(e.append(make([]byte, 0, 512), r.FormValue("query")))
			return
		}
		writeJSON(w, response{Status: "success", Data: data})
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(b)
}
