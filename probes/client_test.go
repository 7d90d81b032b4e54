package probes

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/rewarm/rewarm/runbook"
)

func vector(result string) string {
	return `{"status":"success","data":{"resultType":"vector","result":` + result + `}}`
}

// answers replies to every question with one status, content type and body, except to
// time(), which is answered well.
func answers(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.FormValue("query") == "time()" {
			fmt.Fprintf(w, `{"status":"success","data":{"resultType":"scalar","result":[%d,"%d"]}}`, noon.Unix(), noon.Unix())
			return
		}
		if strings.Contains(r.FormValue("query"), "timestamp(") {
			fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[
				{"metric":{"rewarm":"0"},"value":[1,"%d"]},{"metric":{"rewarm":"1"},"value":[1,"%d"]},{"metric":{"rewarm":"2"},"value":[1,"%d"]}]}}`,
				noon.Unix(), noon.Unix(), noon.Unix())
			return
		}
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

func askOnce(t *testing.T, handler http.Handler) Answer {
	t.Helper()
	p := polling(t, handler, newClock(noon))
	doc := document(runbook.Probe{Name: "p", Query: "sum(x)"})
	return p.Poll(context.Background(), doc, []Ask{{Probe: "p"}}, 0).Answers[0]
}

// Every operator must be unknown for these.
func TestAnswersThatCannotBeJudged(t *testing.T) {
	const json, html = "application/json", "text/html; charset=utf-8"
	for _, test := range []struct {
		name        string // with the report's address where there is one
		status      int
		contentType string
		body        string
		reason      Reason
		says        string
	}{
		{"https://github.com/argoproj/argo-rollouts/issues/1466", 200, json, vector(`[]`), NoData, "matched no series: sum(x)"},
		{"null result", 200, json, vector(`null`), NoData, "matched no series"},
		{"https://github.com/kedacore/keda-docs/issues/1812 +Inf", 200, json, vector(`[{"metric":{},"value":[1700000000,"+Inf"]}]`), Infinite, "+Inf"},
		{"-Inf", 200, json, vector(`[{"metric":{},"value":[1700000000,"-Inf"]}]`), Infinite, "-Inf"},
		{"https://github.com/fluxcd/flagger/issues/1095", 200, json, vector(`[{"metric":{},"value":[1700000000,"NaN"]}]`), NotANumber, "NaN"},
		{"NaN beside a number", 200, json, vector(`[{"metric":{"a":"1"},"value":[1,"3"]},{"metric":{"a":"2"},"value":[1,"NaN"]}]`), NotANumber, `NaN in {a="2"}`},
		{"a series without value", 200, json, vector(`[{"metric":{}}]`), Malformed, "has no value"},
		{"a value without number", 200, json, vector(`[{"metric":{},"value":[1700000000]}]`), Malformed, "has no value"},
		{"a null value", 200, json, vector(`[{"metric":{},"value":[1700000000,null]}]`), Malformed, "has no value"},
		{"a bare number", 200, json, vector(`[{"metric":{},"value":[1700000000,0]}]`), Malformed, "has no value"},
		{"time zero", 200, json, vector(`[{"metric":{},"value":[0,"0"]}]`), Malformed, "has no time"},
		{"200 {}", 200, json, `{}`, Malformed, "there is no result"},
		{"success without data", 200, json, `{"status":"success"}`, Malformed, "there is no result"},
		{"data null", 200, json, `{"status":"success","data":null}`, Malformed, "there is no result"},
		{"unknown type", 200, json, `{"status":"success","data":{"resultType":"tensor","result":[]}}`, Malformed, "no known type"},
		{"cut off", 200, json, `{"status":"success","da`, Malformed, "not JSON"},
		{"empty", 200, json, ``, Malformed, "the body is empty"},
		{"matrix", 200, json, `{"status":"success","data":{"resultType":"matrix","result":[]}}`, WrongType, "matrix"},
		{"string", 200, json, `{"status":"success","data":{"resultType":"string","result":[1,"x"]}}`, WrongType, "string"},
		{"histogram", 200, json, vector(`[{"metric":{},"histogram":[1700000000,{"count":"5","sum":"2","buckets":[[0,"0","1","5"]]}]}]`), Histogram, "native histogram"},
		{"https://github.com/prometheus/prometheus/issues/16551", 200, json,
			`{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"2.297"]}]},"warnings":["PromQL warning: vector contains a mix of classic and native histograms"]}`, Warned, "mix of classic and native"},
		{"https://github.com/prometheus/client_golang/issues/648", 200, json,
			`{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"1"]}]},"warnings":["fetch from store X: context deadline exceeded"]}`, Partial, "fetch from store X"},
		{"https://github.com/thanos-io/thanos/issues/622", 200, json,
			`{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"3"]}]},"warnings":["No StoreAPIs matched for this query"]}`, Partial, "No StoreAPIs"},
		{"https://github.com/grafana/mimir/issues/10748", 200, json,
			`{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"3"]}]},"warnings":["results may be truncated due to limit"]}`, Partial, "truncated"},
		{"https://github.com/go-pluto/styx/issues/6", 200, html, "<!doctype html>\x1b[2J<title>Sign in</title>", Malformed, "got HTML from http://127.0.0.1"},
		{"HTML that calls itself JSON", 200, json, "<html>", Malformed, "probably a login page or a wrong url"},
		{"https://github.com/oauth2-proxy/oauth2-proxy/issues/1274", 401, html, "<html>secret</html>", Transport, "401 unauthorized: credentials are missing"},
		{"403", 403, html, "<html>", Transport, "403 forbidden"},
		{"https://github.com/prometheus/client_golang/issues/1116", 404, "text/plain", "404 page not found", Transport, "/api/v1/query answered 404 not found: the address must be the part before /api/v1"},
		{"429", 429, html, "", Transport, "limits their rate"},
		{"502", 502, html, "<html>Bad gateway</html>", Transport, "no ready Prometheus behind it"},
		{"503 without a body", 503, "text/plain", "", Transport, "503 service unavailable"},
		{"bad query", 400, json, `{"status":"error","errorType":"bad_data","error":"parse error \u001b[31m at char 3"}`, Rejected, `refused the query: parse error \x1b[31m at char 3`},
		{"execution", 422, json, `{"status":"error","errorType":"execution","error":"many-to-many"}`, Rejected, "many-to-many"},
		{"https://github.com/thanos-io/thanos/issues/835 said by the server", 503, json, `{"status":"error","errorType":"timeout","error":"query timed out"}`, Transport, "gave the query up: query timed out"},
		{"error in a 200", 200, json, `{"status":"error","errorType":"execution","error":"odd"}`, Rejected, "odd"},
		{"success in a 400", 400, json, vector(`[]`), Transport, "answered 400"},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := askOnce(t, answers(test.status, test.contentType, test.body))
			if a.Reason != test.reason || !strings.Contains(a.Detail, test.says) {
				t.Fatalf("got %s: %s\nwant %s with %q", a.Reason, a.Detail, test.reason, test.says)
			}
			if strings.ContainsFunc(a.Detail, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.Contains(a.Detail, "<html>") {
				t.Errorf("the page is shown raw: %q", a.Detail)
			}
			everyOperatorUnknown(t, a)
		})
	}
}

// https://github.com/kedacore/keda/issues/3065
func everyOperatorUnknown(t *testing.T, a Answer) {
	t.Helper()
	for _, op := range []runbook.Op{runbook.Above, runbook.AtLeast, runbook.Below, runbook.AtMost, runbook.Equals, runbook.Between, runbook.Falling, runbook.Rising} {
		for _, any := range []bool{false, true} {
			f := JudgeBound(runbook.Bound{Probe: "p", Op: op, Any: any}, Situation{StaleAfter: time.Hour, Answer: func(Ask) *Answer { return &a }})
			if f.Verdict != Unknown || f.Reason == "" || !strings.HasPrefix(f.Sentence, "p unknown: ") {
				t.Errorf("%s: %+v", op, f)
			}
		}
	}
}

// https://github.com/argoproj/argo-rollouts/issues/363
func TestScalarAndVectorOfOneAreTheSameNumber(t *testing.T) {
	for _, body := range []string{
		`{"status":"success","data":{"resultType":"scalar","result":[1700000000,"1"]}}`,
		vector(`[{"metric":{},"value":[1700000000,"1"]}]`),
	} {
		a := askOnce(t, answers(200, "application/json", body))
		if a.Reason != "" || a.Count != 1 || a.Max != (Reading{"{}", 1, "1"}) {
			t.Errorf("%s: %+v", body, a)
		}
	}
}

// https://github.com/prometheus/prometheus/issues/14327
func TestInfosAreShownAndDoNotBlock(t *testing.T) {
	a := askOnce(t, answers(200, "application/json",
		`{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"2"]}]},"infos":["PromQL info: metric might not be a counter\u0007"]}`))
	f := JudgeBound(runbook.Bound{Probe: "p", Op: runbook.AtMost, Operand: runbook.Operand{Number: 3}},
		Situation{StaleAfter: time.Second, Answer: func(Ask) *Answer { return &a }})
	if f.Verdict != Pass || len(f.Notes) != 1 || f.Notes[0] != `PromQL info: metric might not be a counter\a` {
		t.Errorf("%+v", f)
	}
}

// https://github.com/prometheus/client_golang/issues/1619
func TestGetWhenPostIsForbidden(t *testing.T) {
	for _, status := range []int{http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotImplemented} {
		good := answers(200, "application/json", vector(`[{"metric":{},"value":[1,"2"]}]`))
		a := askOnce(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				http.Error(w, "<html>", status)
				return
			}
			good(w, r)
		}))
		if a.Reason != "" || a.Max.Raw != "2" {
			t.Errorf("%d: %s %s", status, a.Reason, a.Detail)
		}
	}
}

// https://github.com/thanos-io/thanos/issues/835
func TestStalledBodyEndsAtTheDeadline(t *testing.T) {
	release := make(chan struct{})
	good := answers(200, "application/json", "")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if q := r.FormValue("query"); q == "time()" || strings.Contains(q, "timestamp(") {
			good(w, r)
			return
		}
		w.(http.Flusher).Flush()
		<-release
	}))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(release) })
	p, err := NewPoller(Options{URL: server.URL}, newClock(noon))
	if err != nil {
		t.Fatal(err)
	}
	doc := document(runbook.Probe{Name: "p", Query: "sum(x)"})
	doc.Defaults.Every = 50 * time.Millisecond
	a := p.Poll(context.Background(), doc, []Ask{{Probe: "p"}}, 0).Answers[0]
	if a.Reason != Transport || !strings.Contains(a.Detail, "gave no answer within 50ms") {
		t.Errorf("%s: %s", a.Reason, a.Detail)
	}
}

func TestNobodyListens(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	address := strings.Replace(server.URL, "http://", "http://me:hunter2@", 1)
	server.Close()
	p, err := NewPoller(Options{URL: address + "?token=hunter2"}, newClock(noon))
	if err != nil {
		t.Fatal(err)
	}
	doc := document(runbook.Probe{Name: "p", Query: "sum(x)"})
	o := p.Poll(context.Background(), doc, []Ask{{Probe: "p"}}, 3)
	if o.Reason != Transport || !strings.Contains(o.Detail, "cannot be reached: ") || strings.Contains(o.Detail, "hunter2") {
		t.Errorf("%s: %s", o.Reason, o.Detail)
	}
	if a := o.Answers[0]; a.Reason != Transport || a.Query != "sum(x)" || o.Propagation.Reason != Transport {
		t.Errorf("%+v %+v", a, o.Propagation)
	}
}

// https://github.com/hashicorp/vault/issues/19073
func TestRedirects(t *testing.T) {
	good := answers(200, "application/json", vector(`[{"metric":{},"value":[1,"2"]}]`))
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, _, ok := r.BasicAuth(); ok {
			t.Error("the password went to another host")
		}
		switch r.URL.Path {
		case "/login":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<html>")
		case "/closed/api/v1/query":
			w.WriteHeader(http.StatusUnauthorized)
		default:
			good(w, r)
		}
	}))
	t.Cleanup(target.Close)
	other := strings.Replace(target.URL, "127.0.0.1", "localhost", 1)
	for _, test := range []struct {
		status int
		to     string
		reason Reason
		says   string
	}{
		{http.StatusFound, other + "/api/v1/query", Transport, "drops the query: give the final address"},
		{http.StatusMovedPermanently, other + "/login", Transport, "drops the query"},
		{http.StatusTemporaryRedirect, other + "/api/v1/query", "", ""},
		{http.StatusPermanentRedirect, other + "/closed/api/v1/query", Transport, "does not carry the credentials along"},
		{http.StatusTemporaryRedirect, other + "/login?rd=secret", Malformed, "got HTML from " + other + "/login (redirected from http://127.0.0.1"},
	} {
		front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if q := r.FormValue("query"); q == "time()" || strings.Contains(q, "timestamp(") {
				good(w, r)
				return
			}
			http.Redirect(w, r, test.to, test.status)
		}))
		p, err := NewPoller(Options{URL: strings.Replace(front.URL, "http://", "http://me:hunter2@", 1)}, newClock(noon))
		if err != nil {
			t.Fatal(err)
		}
		a := p.Poll(context.Background(), document(runbook.Probe{Name: "p", Query: "sum(x)"}), []Ask{{Probe: "p"}}, 0).Answers[0]
		front.Close()
		if a.Reason != test.reason || !strings.Contains(a.Detail, test.says) || strings.Contains(a.Detail, "hunter2") || strings.Contains(a.Detail, "secret") {
			t.Errorf("%d to %s: %s: %s", test.status, test.to, a.Reason, a.Detail)
		}
	}
}

func TestSettingsFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "http.yml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	good := answers(200, "application/json", vector(`[{"metric":{},"value":[1,"2"]}]`))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer hunter2" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		good(w, r)
	}))
	t.Cleanup(server.Close)
	write("authorization: {credentials: hunter2}\n")
	p, err := NewPoller(Options{URL: server.URL, ConfigFile: file}, newClock(noon))
	if err != nil {
		t.Fatal(err)
	}
	a := p.Poll(context.Background(), document(runbook.Probe{Name: "p", Query: "sum(x)"}), []Ask{{Probe: "p"}}, 0).Answers[0]
	if a.Reason != "" {
		t.Errorf("%s: %s", a.Reason, a.Detail)
	}
	for _, text := range []string{"basic_auth: hunter2\n", "authorization: {credentials: [hunter2]}\n", "hunter2", "bearer_token: hunter2\nbearer_token_file: x\n"} {
		write(text)
		_, err = NewPoller(Options{URL: server.URL, ConfigFile: file}, newClock(noon))
		if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "http.yml") {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err = NewPoller(Options{URL: server.URL, ConfigFile: file + ".missing"}, newClock(noon)); err == nil || !strings.Contains(err.Error(), "http.yml.missing") {
		t.Errorf("missing file: %v", err)
	}
}

// https://github.com/prometheus-junkyard/prometheus_cli/issues/15
// https://github.com/kubernetes-sigs/inference-perf/issues/166
func TestPathPrefixIsKept(t *testing.T) {
	good := answers(200, "application/json", vector(`[{"metric":{},"value":[1,"2"]}]`))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/prom/api/v1/query" || r.URL.Query().Get("tenant") != "a" {
			t.Errorf("asked for %s", r.URL)
		}
		good(w, r)
	}))
	t.Cleanup(server.Close)
	for _, end := range []string{"/prom?tenant=a", "/prom/?tenant=a", "//prom//?tenant=a"} {
		p, err := NewPoller(Options{URL: server.URL + end}, newClock(noon))
		if err != nil {
			t.Fatal(err)
		}
		if o := p.Poll(context.Background(), document(), nil, 0); o.Reason != "" {
			t.Errorf("%s: %s", end, o.Detail)
		}
	}
}

func TestEndlessBody(t *testing.T) {
	a := askOnce(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if q := r.FormValue("query"); q != "sum(x)" {
			answers(200, "application/json", "")(w, r)
			return
		}
		page := strings.Repeat(" ", 1<<16)
		for r.Context().Err() == nil {
			if _, err := fmt.Fprint(w, page); err != nil {
				return
			}
		}
	}))
	if a.Reason != Malformed || !strings.Contains(a.Detail, "longer than 8 MiB") {
		t.Errorf("%s: %s", a.Reason, a.Detail)
	}
}

func TestForeignLabelsArePrintable(t *testing.T) {
	a := askOnce(t, answers(200, "application/json",
		vector(`[{"metric":{"__name__":"x","cell":"a\u001b[2J\u202e\"","b":"1"},"value":[1,"2"]}]`)))
	if want := `x{b="1", cell="a\x1b[2J\u202e\""}`; a.Max.Series != want {
		t.Errorf("%s, want %s", a.Max.Series, want)
	}
}
