package controls

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// fakeRedis is an in-process Redis whose server time is set by hand.
type fakeRedis struct {
	*miniredis.Miniredis
	now time.Time
}

func startRedis(t testing.TB) *fakeRedis {
	t.Helper()
	m := miniredis.NewMiniRedis()
	if err := m.StartAddr("127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(m.Close)
	f := &fakeRedis{m, time.Date(2026, 11, 29, 10, 7, 30, 0, time.UTC)}
	f.SetTime(f.now)
	return f
}

func (f *fakeRedis) advance(d time.Duration) {
	f.now = f.now.Add(d)
	f.SetTime(f.now)
}

func (f *fakeRedis) dial(ctx context.Context, _, _ string) (net.Conn, error) {
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
