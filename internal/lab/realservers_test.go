//go:build realservers

package lab

import (
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rewarm/rewarm/internal/freeport"
)

// binary finds a program of one of Debian's packages.
func binary(t *testing.T, name, debian string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("install Debian's %s: %v", debian, err)
	}
	return path
}

func start(t *testing.T, path string, args ...string) {
	t.Helper()
	cmd := exec.Command(path, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
}

func startRedis(t *testing.T) string {
	t.Helper()
	port := freeport.Take(t)
	start(t, binary(t, "redis-server", "redis-server"), "--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir(), "--save", "", "--appendonly", "no", "--logfile", "redis.log")
	eventually(t, "redis-server listens", func() bool {
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return "redis://127.0.0.1:" + port
}

// startPrometheus scrapes a page every second, as docs/lab.md says.
func startPrometheus(t *testing.T, metrics string) string {
	t.Helper()
	u, err := url.Parse(metrics)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	config := fmt.Sprintf("global: {scrape_interval: 1s}\nscrape_configs:\n- job_name: rewarm-lab\n  honor_labels: true\n  static_configs: [{targets: ['%s']}]\n", u.Host)
	file := filepath.Join(dir, "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	port := freeport.Take(t)
	start(t, binary(t, "prometheus", "prometheus"), "--config.file", file, "--storage.tsdb.path", filepath.Join(dir, "data"),
		"--web.listen-address", "127.0.0.1:"+port, "--log.level", "error")
	address := "http://127.0.0.1:" + port
	eventually(t, "prometheus is ready", func() bool {
		answer, err := http.Get(address + "/-/ready")
		if err == nil {
			answer.Body.Close()
		}
		return err == nil && answer.StatusCode == http.StatusOK
	})
	return address
}

// Of every bundled scenario, a minute after it was handed over, with a control away from
// its steady value.
func TestPromtoolAcceptsThePages(t *testing.T) {
	promtool := binary(t, "promtool", "prometheus")
	files, err := filepath.Glob("../../templates/scenarios/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scenarios: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			scenario, err := ParseScenario(file, source)
			if err != nil {
				t.Fatal(err)
			}
			b := newBench(t, Options{Seed: scenario.Seed, Scenario: scenario})
			b.do("HSET", "rewarm:{catalog}:meta", "origin.admission", `{"version":1,"steady":"3200","after":"3000"}`)
			b.set("origin.admission", "3000")
			b.forward(time.Minute)
			cmd := exec.Command(promtool, "check", "metrics")
			cmd.Stdin = strings.NewReader(string(b.world.page.appendText(nil)))
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("promtool: %v\n%s", err, out)
			}
		})
	}
}

// A real Prometheus scrapes the lab, a real redis-server holds the controls that
// it obeys, and both Prometheis answer the bundled runbook's probes in the same form.
func TestRealServers(t *testing.T) {
	redis := startRedis(t)
	s := serve(t, ServeOptions{Seed: 1, RedisURL: redis})
	if want := "(obeys this redis; all figures are a model's)"; !strings.HasSuffix(s.Ready(), want) || !strings.Contains(s.Ready(), redis) {
		t.Errorf("the ready line is %q", s.Ready())
	}
	prometheus := startPrometheus(t, s.MetricsURL)
	eventually(t, "prometheus has six samples", func() bool {
		n, ok := askAt(t, prometheus, "count_over_time(catalog_retry_waiters[1m])")
		return ok && n >= 6
	})
	if n, ok := askAt(t, prometheus, `count(up{job="catalog"} == 1)`); !ok || n < 240 {
		t.Errorf("%v processes are up", n)
	}
	reads, _ := askAt(t, prometheus, `sum(rate(catalog_reads_by_rank_total[5s]))`)
	if reads < 110_000 || reads > 130_000 {
		t.Errorf("prometheus sees %.0f reads/s", reads)
	}
	for _, query := range plottedQueries(t) {
		eventually(t, "both see the same: "+query, func() bool {
			own, measured := askAt(t, s.PrometheusURL, query)
			real, ok := askAt(t, prometheus, query)
			return measured && ok && math.Abs(own-real) <= 0.1*max(1, own)
		})
	}
	for _, query := range bundledQueries(t) {
		if own, real := form(t, s.PrometheusURL, query), form(t, prometheus, query); own != real {
			t.Errorf("%s\nthe lab answers     %s\nprometheus answers  %s", query, own, real)
		}
	}

	tell(t, redis,
		"HSET rewarm:{catalog}:controls origin.admission 3200 origin.bypass off retries.budget 0 routing.cell-c 0 stale.product-detail 120",
		"SET rewarm:{catalog}:version 5", "XADD rewarm:{catalog}:changes * control all")
	eventually(t, "prometheus sees that all processes obey", func() bool {
		v, ok := askAt(t, prometheus, `min(rewarm_controls_version{service="catalog"})`)
		return ok && v == 5
	})
	eventually(t, "the origin calms down", func() bool {
		age, ok := askAt(t, prometheus, queueAge)
		stale, _ := askAt(t, prometheus, staleShare)
		return ok && age < 0.25 && stale > 0.2
	})
}

// plottedQueries are those with which docs/lab.md looks at a run.
func plottedQueries(t *testing.T) []string {
	t.Helper()
	doc, err := os.ReadFile("../../docs/lab.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, found := strings.Cut(string(doc), "```promql\n")
	block, _, closed := strings.Cut(block, "\n```\n")
	if !found || !closed {
		t.Fatal("docs/lab.md has no queries")
	}
	return strings.Split(block, "\n")
}

// bundledQueries are the queries of the bundled runbook, with their parameters.
func bundledQueries(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile("../../templates/runbooks/hot-key-collapse.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var queries []string
	for _, m := range regexp.MustCompile(`query: '([^']+)'|query: >-\n((?: {6}.*\n)+)`).FindAllStringSubmatch(string(b), -1) {
		query := strings.Join(strings.Fields(m[1]+m[2]), " ")
		queries = append(queries, strings.NewReplacer("${cell}", `"cell-c"`, "${from}", "10", "${to}", "25").Replace(query))
	}
	if len(queries) < 15 {
		t.Fatalf("%d queries found in the bundled runbook", len(queries))
	}
	return queries
}

// form is an answer without its numbers: its type, and the labels of its series.
func form(t *testing.T, prometheus, query string) string {
	t.Helper()
	var answer struct {
		Status string
		Data   struct {
			ResultType string
			Result     []struct {
				Metric map[string]string
				Value  []any
			}
		}
		Warnings, Infos []string
	}
	body := get(t, prometheus+"/api/v1/query?"+url.Values{"query": {query}}.Encode())
	if err := json.Unmarshal([]byte(body), &answer); err != nil {
		t.Fatal(err)
	}
	var series []string
	for _, s := range answer.Data.Result {
		series = append(series, fmt.Sprintf("%v %T %T", s.Metric, s.Value[0], s.Value[1]))
	}
	slices.Sort(series)
	return fmt.Sprintln(answer.Status, answer.Data.ResultType, series, answer.Warnings, answer.Infos)
}
