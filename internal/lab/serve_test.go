package lab

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
)

// wallClock is real time.
type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

func (wallClock) Wait(ctx context.Context, until time.Time) error {
	select {
	case <-time.After(time.Until(until)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (wallClock) Deadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d)
}

func serve(t *testing.T, o ServeOptions) *Server {
	t.Helper()
	o.Clock = wallClock{}
	s, err := Serve(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// eventually polls until a condition holds, for half a minute at most.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for until := time.Now().Add(30 * time.Second); time.Now().Before(until); {
		if holds() {
			return
		}
		_ = wallClock{}.Wait(context.Background(), time.Now().Add(50*time.Millisecond))
	}
	t.Fatalf("after half a minute still not: %s", what)
}

func get(t *testing.T, address string) string {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s %v", address, answer.StatusCode, b, err)
	}
	return string(b)
}

// askAt is the number that a Prometheus answers with, NaN without one series.
func askAt(t *testing.T, prometheus, query string) (float64, bool) {
	t.Helper()
	var answer struct {
		Data struct {
			Result []struct{ Value [2]any }
		}
	}
	if err := json.Unmarshal([]byte(get(t, prometheus+"/api/v1/query?"+url.Values{"query": {query}}.Encode())), &answer); err != nil {
		t.Fatal(err)
	}
	if len(answer.Data.Result) != 1 {
		return 0, false
	}
	var v float64
	_, err := fmt.Sscan(answer.Data.Result[0].Value[1].(string), &v)
	return v, err == nil
}

// tell sends commands to a Redis.
func tell(t *testing.T, address string, commands ...string) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	lines := bufio.NewReader(c)
	for _, command := range commands {
		if _, err := io.WriteString(c, resp(strings.Fields(command)...)); err != nil {
			t.Fatal(err)
		}
		if line, err := lines.ReadString('\n'); err != nil || strings.HasPrefix(line, "-") {
			t.Fatalf("%s: %q, %v", command, line, err)
		}
	}
}

// On real ports, in real time, a flip in Redis shows in the metrics.
func TestServe(t *testing.T) {
	s := serve(t, ServeOptions{Seed: 1})
	ready := regexp.MustCompile(`^ready prometheus=http://127\.0\.0\.1:\d+ redis=redis://127\.0\.0\.1:\d+ metrics=http://127\.0\.0\.1:\d+/metrics \(all figures are a model's\)$`)
	if !ready.MatchString(s.Ready()) {
		t.Errorf("the ready line is %q", s.Ready())
	}
	if age, ok := askAt(t, s.PrometheusURL, queueAge); !ok || age < 1 {
		t.Errorf("at 10:07:30 the queue is %v s old", age)
	}
	if page := get(t, s.MetricsURL); !strings.Contains(page, `up{instance="catalog-240",job="catalog"} 1`) {
		t.Error("the page lacks the last process")
	}
	tell(t, s.RedisURL,
		"HSET rewarm:{catalog}:controls origin.admission 3200 origin.bypass off retries.budget 0",
		"SET rewarm:{catalog}:version 3")
	eventually(t, "all processes obey version 3", func() bool {
		v, ok := askAt(t, s.PrometheusURL, `min(rewarm_controls_version{service="catalog"})`)
		return ok && v == 3
	})
	eventually(t, "the queue is gone", func() bool {
		age, ok := askAt(t, s.PrometheusURL, queueAge)
		return ok && age < 0.5
	})
	if at, ok := askAt(t, s.PrometheusURL, "time() - timestamp(catalog_retry_waiters)"); !ok || at < -0.1 || at > 30 {
		t.Errorf("the newest sample is %v s old", at)
	}
}

// At twenty times the speed, the operators of half a minute later are there soon.
func TestServeFaster(t *testing.T) {
	s := serve(t, ServeOptions{Seed: 1, Speed: 20})
	eventually(t, "operators have added clients", func() bool {
		n, ok := askAt(t, s.PrometheusURL, `count(up{job="catalog"} == 1)`)
		return ok && n > 240
	})
}

func TestServeRefuses(t *testing.T) {
	taken, err := net.Listen("tcp", loopback)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	nobody, err := net.Listen("tcp", loopback)
	if err != nil {
		t.Fatal(err)
	}
	nobody.Close()
	for _, tt := range []struct {
		o    ServeOptions
		says string
	}{
		{ServeOptions{}, "clock"},
		{ServeOptions{Clock: wallClock{}, PrometheusAddr: taken.Addr().String()}, taken.Addr().String()},
		{ServeOptions{Clock: wallClock{}, MetricsAddr: taken.Addr().String()}, taken.Addr().String()},
		{ServeOptions{Clock: wallClock{}, RedisAddr: taken.Addr().String()}, taken.Addr().String()},
		{ServeOptions{Clock: wallClock{}, Speed: -1}, "-1"},
		{ServeOptions{Clock: wallClock{}, RedisURL: "redis://op:s3cr3t@" + nobody.Addr().String()}, nobody.Addr().String()},
	} {
		s, err := Serve(context.Background(), tt.o)
		if err == nil {
			s.Close()
			t.Errorf("%+v is accepted", tt.o)
			continue
		}
		if !strings.Contains(err.Error(), tt.says) || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%+v: %v", tt.o, err)
		}
	}
}
