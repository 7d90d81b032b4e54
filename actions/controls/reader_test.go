package controls

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// fakeRedis is an in-process Redis whose server time is set by hand.
type fakeRedis struct {
	*miniredis.Miniredis
	now time.Time

	mu   sync.Mutex
	down bool // refuses connections
}

func startRedis(t testing.TB) *fakeRedis {
	t.Helper()
	m := miniredis.NewMiniRedis()
	if err := m.StartAddr("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	f := &fakeRedis{Miniredis: m, now: time.Date(2026, 11, 29, 10, 7, 30, 0, time.UTC)}
	f.SetTime(f.now)
	return f
}

func (f *fakeRedis) advance(d time.Duration) {
	f.now = f.now.Add(d)
	f.SetTime(f.now)
}

func (f *fakeRedis) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down {
		return nil, errors.New("connection refused")
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", f.Addr())
}

func (f *fakeRedis) reader(t testing.TB, change func(*ReaderOptions)) *Reader {
	t.Helper()
	o := ReaderOptions{
		Service:  "catalog",
		URL:      "redis://redis:6379",
		Dial:     f.dial,
		Fallback: map[string]string{"origin.admission": "1600"},
		Absent:   map[string]string{"origin.admission": Unlimited, "prewarm.rate": "0"},
		DeadMan:  map[string]string{"prewarm.rate": "0"},
		Now:      func() time.Time { return f.now },
	}
	if change != nil {
		change(&o)
	}
	r, err := NewReader(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}

func refresh(t testing.TB, r *Reader) {
	t.Helper()
	if err := r.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func wantRaw(t testing.TB, r *Reader, control, want string) {
	t.Helper()
	if got, ok := r.Get(control); !ok || got != want {
		t.Fatalf("%s = %q, %v, want %q", control, got, ok, want)
	}
}

func TestReaderObeysAHandEditAtTheNextRefresh(t *testing.T) {
	f := startRedis(t)
	r := f.reader(t, nil)
	wantRaw(t, r, "origin.admission", "1600")
	refresh(t, r)
	wantRaw(t, r, "origin.admission", Unlimited)
	f.HSet("rewarm:{catalog}:controls", "origin.admission", "3200")
	refresh(t, r)
	wantRaw(t, r, "origin.admission", "3200")
	f.HDel("rewarm:{catalog}:controls", "origin.admission")
	refresh(t, r)
	wantRaw(t, r, "origin.admission", Unlimited)
}

func TestReaderStartsWithTheFallbackAndKeepsTheLast(t *testing.T) {
	f := startRedis(t)
	r := f.reader(t, nil)
	f.down = true
	if err := r.Refresh(t.Context()); err == nil || r.Reached() {
		t.Fatalf("refresh without redis: %v", err)
	}
	wantRaw(t, r, "origin.admission", "1600")
	wantRaw(t, r, "prewarm.rate", "0")
	if _, ok := r.Get("unknown"); ok {
		t.Error("a value from nowhere")
	}
	f.down = false
	f.HSet("rewarm:{catalog}:controls", "origin.admission", "3200")
	refresh(t, r)
	f.Close()
	f.down = true
	f.advance(365 * 24 * time.Hour)
	if err := r.Refresh(t.Context()); err == nil {
		t.Fatal("refresh without redis")
	}
	wantRaw(t, r, "origin.admission", "3200")
}

func TestReaderFallsBackWhenNobodyRenews(t *testing.T) {
	f := startRedis(t)
	r := f.reader(t, nil)
	flip := func(after string) {
		f.HSet("rewarm:{catalog}:controls", "prewarm.rate", "3200")
		f.HSet("rewarm:{catalog}:meta", "prewarm.rate",
			fmt.Sprintf(`{"version":1,"after":%q,"until":%d}`, after, f.now.Add(15*time.Second).UnixMilli()))
		refresh(t, r)
	}
	flip("3200")
	f.advance(15 * time.Second)
	wantRaw(t, r, "prewarm.rate", "3200")
	// Without a word from Redis the time goes on.
	f.advance(time.Millisecond)
	wantRaw(t, r, "prewarm.rate", "0")
	// With Redis it is the same, and a renewal brings the value back.
	refresh(t, r)
	wantRaw(t, r, "prewarm.rate", "0")
	flip("3200")
	wantRaw(t, r, "prewarm.rate", "3200")
	// Somebody's own value is not the run's to take away.
	flip("1600")
	f.advance(time.Minute)
	wantRaw(t, r, "prewarm.rate", "3200")
}

func TestReaderKeepsItsValuesWhenRedisComesBackEmpty(t *testing.T) {
	f := startRedis(t)
	r := f.reader(t, nil)
	f.HSet("rewarm:{catalog}:controls", "origin.admission", "3200")
	_ = f.Set("rewarm:{catalog}:version", "7")
	refresh(t, r)
	f.FlushAll()
	if err := r.Refresh(t.Context()); !errors.Is(err, ErrLost) {
		t.Fatalf("refresh: %v", err)
	}
	wantRaw(t, r, "origin.admission", "3200")
	if r.Version() != 7 {
		t.Errorf("version %d", r.Version())
	}
}

func TestReaderKeepsWhatItCouldReadLast(t *testing.T) {
	f := startRedis(t)
	r := f.reader(t, func(o *ReaderOptions) {
		o.Fallback = map[string]string{"rate": "1600", "switch": "off", "choice": "none", "ttl": "0"}
		o.Absent = map[string]string{"open": Unlimited}
	})
	set := func(rate, sw, choice, list string) {
		f.HSet("rewarm:{catalog}:controls", "rate", rate, "switch", sw, "choice", choice, "list", list, "ttl", rate)
		refresh(t, r)
	}
	want := func(want string) {
		t.Helper()
		rate, _ := r.Number("rate")
		ttl, _ := r.Duration("ttl")
		sw, _ := r.Switch("switch")
		choice, _ := r.Choice("choice", "none", "top-1")
		list, ok := r.List("list")
		if got := fmt.Sprintf("%v %v %v %v %v %v", rate, ttl, sw, choice, list, ok); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	set("3,200", "yes", "top-2", "a,b")
	want("1600 0s false none [] false")
	set("0.25", "on", "top-1", `["a","b"]`)
	want("0.25 250ms true top-1 [a b] true")
	set("3e3", "ON", "", "[")
	want("0.25 250ms true top-1 [a b] true")
	set(Unlimited, "", "none ", "null")
	want("0.25 250ms true top-1 [a b] true")
	open, ok := r.Number("open")
	longest, _ := r.Duration("open")
	if !ok || !math.IsInf(open, 1) || longest != math.MaxInt64 {
		t.Errorf("open is %v, %v", open, longest)
	}
}

func TestReaderRefusesWhatIsNotThere(t *testing.T) {
	f := startRedis(t)
	r := f.reader(t, nil)
	refresh(t, r)
	f.FlushAll()
	_, _ = f.Lpush("rewarm:{catalog}:controls", "x")
	if err := r.Refresh(t.Context()); err == nil || !strings.Contains(err.Error(), "WRONGTYPE") {
		t.Errorf("refresh: %v", err)
	}
	f.FlushAll()
	_ = f.Set("rewarm:{catalog}:version", "many\x1b")
	if err := r.Refresh(t.Context()); err == nil || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("refresh: %v", err)
	}
	for _, o := range []ReaderOptions{
		{Service: "Catalog", URL: "redis://a", Now: time.Now},
		{Service: "catalog", URL: "redis://:sec/ret@a", Now: time.Now},
		{Service: "catalog", URL: "redis://a"},
	} {
		if _, err := NewReader(o); err == nil || strings.Contains(err.Error(), "ret") && o.URL != "redis://a" {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

func TestMetrics(t *testing.T) {
	f := startRedis(t)
	r := f.reader(t, nil)
	_ = f.Set("rewarm:{catalog}:version", "7")
	f.HSet("rewarm:{catalog}:controls", "origin.admission", "1600", "at.steady", "5")
	at := f.now.Add(-90 * time.Second).UnixMilli()
	f.HSet("rewarm:{catalog}:meta", "origin.admission", fmt.Sprintf(`{"version":7,"at":%d,"since":%d,"steady":"3200","review_at":%d}`, at+60000, at, at+30000),
		"at.steady", `{"version":3,"steady":"5"}`, "broken", "{", "odd\"\\\n", fmt.Sprintf(`{"at":%d,"steady":"1"}`, at))
	f.HSet("rewarm:{catalog}:commander", "run", "R1", "until", fmt.Sprint(f.now.Add(15*time.Second).UnixMilli()))
	refresh(t, r)
	f.advance(500 * time.Millisecond)
	want := `# HELP rewarm_controls_version Version of the controls that this process obeys.
# TYPE rewarm_controls_version gauge
rewarm_controls_version{service="catalog"} 7
# HELP rewarm_control_override_seconds How long a control has not been at its steady value.
# TYPE rewarm_control_override_seconds gauge
rewarm_control_override_seconds{service="catalog",control="odd\"\\\n"} 90.5
rewarm_control_override_seconds{service="catalog",control="origin.admission"} 90.5
# HELP rewarm_control_review_overdue_seconds How long the review of a control that is not at its steady value is past.
# TYPE rewarm_control_review_overdue_seconds gauge
rewarm_control_review_overdue_seconds{service="catalog",control="origin.admission"} 60.5
# HELP rewarm_commander_lease_seconds What is left of the lease of the run that commands; below 0 when it has stopped renewing.
# TYPE rewarm_commander_lease_seconds gauge
rewarm_commander_lease_seconds{service="catalog",run="R1"} 14.5
`
	if got := string(r.AppendMetrics(nil)); got != want {
		t.Errorf("metrics:\n%s", got)
	}
}

// wallClock is the time of the tests that run for real.
type wallClock struct{}

func (wallClock) Now() time.Time { return time.Now() }

func (wallClock) Wait(ctx context.Context, until time.Time) error {
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	<-ctx.Done()
	return ctx.Err()
}

func (wallClock) Deadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d)
}

func TestRunFollowsTheStreamAndTheHash(t *testing.T) {
	f := startRedis(t)
	r := f.reader(t, func(o *ReaderOptions) { o.Now = time.Now })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	f.down = true
	go func() { ended <- r.Run(ctx, wallClock{}) }()
	f.mu.Lock()
	f.down = false
	f.mu.Unlock()
	await := func(want string) {
		t.Helper()
		deadline := time.Now().Add(20 * time.Second)
		for {
			if got, _ := r.Get("origin.admission"); got == want {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s was never obeyed", want)
			}
			time.Sleep(time.Millisecond)
		}
	}
	await(Unlimited)
	f.HSet("rewarm:{catalog}:controls", "origin.admission", "3200")
	_, _ = f.XAdd("rewarm:{catalog}:changes", "*", []string{"control", "origin.admission"})
	await("3200")
	f.HSet("rewarm:{catalog}:controls", "origin.admission", "800") // by hand: no entry
	await("800")
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("run: %v", err)
	}
}

func BenchmarkRefresh(b *testing.B) {
	f := startRedis(b)
	r := f.reader(b, nil)
	for i := range 13 {
		f.HSet("rewarm:{catalog}:controls", fmt.Sprint("control.", i), "3200")
		f.HSet("rewarm:{catalog}:meta", fmt.Sprint("control.", i), `{"version":7,"digest":"1a7fbb0e9c4e1a7fbb0e9c4e1a7fbb0e9c4e1a7fbb0e9c4e1a7fbb0e9c4e0000","run":"20261129T100801Z-hot-key-collapse-7f3a","fence":1,"step":"enforce-admission","actor":"ana","at":1,"before":null,"steady":"3200","protects":"lower","owner":"x"}`)
	}
	for b.Loop() {
		if err := r.Refresh(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// TestAReaderKeepsSecrets: the server was told the password and may repeat it; a service logs what Refresh says.
func TestAReaderKeepsSecrets(t *testing.T) {
	f := startRedis(t)
	f.SetError(`ERR hostile s3cr"t`)
	r := f.reader(t, func(o *ReaderOptions) { o.URL = "redis://op:s3cr%22t@redis:6379" })
	if err := r.Refresh(t.Context()); err == nil || strings.Contains(err.Error(), "s3cr") || !strings.Contains(err.Error(), "***") {
		t.Errorf("refresh says %v", err)
	}
}
