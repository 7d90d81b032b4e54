package notify

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// realClock is the time of a test's bubble.
type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

func (realClock) Wait(ctx context.Context, until time.Time) error {
	select {
	case <-time.After(time.Until(until)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (realClock) Deadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d)
}

// answer is what a server does with one request.
type answer struct {
	status  int // 0: the connection is refused
	body    string
	header  string // "Name: value"
	after   time.Duration
	garbled bool // the body ends in the middle
}

// server is a receiver in memory. It gives its answers in turn, the last again and again, and keeps what it took. It
// demands what every receiver may demand.
type server struct {
	t       testing.TB
	mu      sync.Mutex
	answers []answer
	asked   []time.Duration // when, from the beginning
	began   time.Time
	taken   []string // ids of events
	head    string   // of the latest request: the header Authorization
}

func newServer(t testing.TB, answers ...answer) *server {
	return &server{t: t, answers: answers, began: time.Now()}
}

func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" || len(body) == 0 {
		s.t.Errorf("%s of %q with %q: %v", r.Method, body, r.Header.Get("Content-Type"), err)
	}
	a := s.next(r)
	if a.after > 0 {
		if err := (realClock{}).Wait(r.Context(), time.Now().Add(a.after)); err != nil {
			return nil, err
		}
	}
	if a.status == 0 {
		return nil, errors.New("dial tcp 192.0.2.1:443: connect: connection refused")
	}
	if a.status < 300 {
		s.took(body)
	}
	response := &http.Response{StatusCode: a.status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(a.body)), Request: r}
	if a.garbled {
		response.Body = io.NopCloser(io.MultiReader(strings.NewReader(a.body), broken{}))
	}
	if name, value, ok := strings.Cut(a.header, ": "); ok {
		response.Header.Set(name, value)
	}
	return response, nil
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func (s *server) next(r *http.Request) answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, time.Since(s.began))
	s.head = r.Header.Get("Authorization")
	a := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	return a
}

// took keeps the ids of the events of a webhook's message.
func (s *server) took(body []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, part := range strings.Split(string(body), `"id":"`)[1:] {
		id, _, _ := strings.Cut(part, `"`)
		s.taken = append(s.taken, id)
	}
}

// place is a receiver of a kind with secrets in every corner.
func place(kind string) Receiver {
	u, err := url.Parse("https://op:passw0rd@hooks.example/services/T0SECRET/B0SECRET?key=querySecret")
	if err != nil {
		panic(err)
	}
	return Receiver{Name: "incident", Kind: kind, address: u, token: "tokenSecret"}
}

func eventOf(seq int) Event {
	return Event{ID: fmt.Sprintf("RUN/%d", seq), Seq: uint64(seq), Head: fmt.Sprintf("%d/0123456789ab", seq), Kind: Flip, Where: "here", Text: "text"}
}

// delivery is a courier at work.
type delivery struct {
	*Courier
	said   []string
	upTo   uint64
	ended  chan struct{}
	cancel context.CancelFunc
}

func deliver(transport http.RoundTripper, r Receiver) *delivery {
	d := &delivery{ended: make(chan struct{})}
	d.Courier = NewCourier(r, Options{Run: "RUN", Service: "catalog", Clock: realClock{}, Transport: transport, Jitter: func() float64 { return 1 },
		Delivered: func(_ string, seq uint64) { d.upTo = seq },
		Trouble:   func(_ Receiver, words string) { d.said = append(d.said, words) }})
	ctx, cancel := context.WithCancel(context.Background())
	d.cancel = cancel
	go func() {
		defer close(d.ended)
		d.Run(ctx)
	}()
	return d
}

// end gives a courier so long for what is left.
func (d *delivery) end(within time.Duration) {
	d.End()
	select {
	case <-d.ended:
	case <-time.After(within):
	}
	d.cancel()
	<-d.ended
}

// TestReceiversThatDoNotTakeMessages: slow, refusing, hanging, redirecting, garbled; none holds up who sends, and
// what is said has no secret in it.
func TestReceiversThatDoNotTakeMessages(t *testing.T) {
	good := answer{status: 200, body: `{"id":1}`}
	for _, test := range []struct {
		name      string
		kind      string
		answers   []answer
		delivered int
		failed    int
		last      string // why an exchange failed
	}{
		{"good", kindWebhook, []answer{good}, 3, 0, ""},
		{"slow", kindWebhook, []answer{{status: 200, after: 4 * time.Second}}, 3, 0, ""},
		{"refuses for a while", kindWebhook, []answer{{}, {}, good}, 3, 0, "it cannot be reached: dial tcp 192.0.2.1:443: connect: connection refused"},
		{"hangs", kindWebhook, []answer{{after: time.Hour}, {after: time.Hour}, good}, 3, 0, "it does not answer within 5s"},
		{"overloaded", kindSlack, []answer{{status: 429, header: "Retry-After: 20", body: "rate_limited"}, good}, 3, 0, `it answers 429: "rate_limited"`},
		{"broken", kindSlack, []answer{{status: 503, body: "<b>\x1b[2Jsorry</b>\n" + strings.Repeat("x", 500)}, good}, 3, 0, `it answers 503: "<b>\x1b[2Jsorry</b> ` + strings.Repeat("x", 103) + `…"`},
		{"redirects", kindWebhook, []answer{{status: 302, header: "Location: https://evil.example/tokenSecret"}}, 0, 3,
			"it answers 302 and redirects, which is not followed: give the address that it redirects to"},
		{"echoes secrets", kindSlack, []answer{{status: 403, body: "no /services/T0SECRET/B0SECRET?key=querySecret with tokenSecret, B0SECRET or passw0rd"}}, 0, 3,
			`it answers 403: "no [removed] with [removed], [removed] or [removed]"`},
		{"a login page", kindSlack, []answer{{status: 200, header: "Content-Type: text/html; charset=utf-8", body: "<title>Sign in"}, good}, 3, 0, "a page of HTML answers in its place"},
		{"not grafana", kindGrafana, []answer{{status: 200, body: "ok"}, {status: 200, body: `{"message":"x"}`}, good}, 3, 0, "it does not answer as grafana does"},
		{"cut short", kindWebhook, []answer{{status: 500, body: "half", garbled: true}, good}, 3, 0, "it cannot be reached: unexpected EOF"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t, test.answers...)
				d := deliver(s, place(test.kind))
				began := time.Now()
				for seq := 1; seq <= 3; seq++ {
					d.Send(eventOf(seq), "")
				}
				if took := time.Since(began); took != 0 {
					t.Errorf("who sends was held up for %s", took)
				}
				time.Sleep(2 * time.Minute)
				d.end(0)
				got := d.Stats()
				if got.Delivered != test.delivered || got.Failed != test.failed || got.Waiting != 0 || got.Last != test.last {
					t.Errorf("%+v", got)
				}
				if all := got.Last + strings.Join(d.said, " "); strings.Contains(strings.ToLower(all), "secret") || strings.Contains(all, "passw0rd") {
					t.Errorf("a secret is said: %q", all)
				}
				if test.delivered > 0 && d.upTo != 3 {
					t.Errorf("known to be delivered up to %d", d.upTo)
				}
			})
		})
	}
}

// TestTriesAreSpaced: the pauses double up to their longest, a receiver that asks for more gets it.
func TestTriesAreSpaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, answer{}, answer{}, answer{status: 503, header: "Retry-After: 40"}, answer{}, answer{}, answer{}, answer{}, answer{status: 204})
		d := deliver(s, place(kindWebhook))
		d.Send(eventOf(1), "")
		time.Sleep(5 * time.Minute)
		d.end(0)
		want := []time.Duration{0, 1, 3, 43, 51, 67, 97, 127}
		for i := range want {
			want[i] *= time.Second
		}
		if !slices.Equal(s.asked, want) {
			t.Errorf("it was tried at %v", s.asked)
		}
		if want := []string{`does not take messages: it answers 503`, "takes messages again"}; !slices.Equal(d.said, want) {
			t.Errorf("said: %q", d.said)
		}
	})
}

// TestJitterSpreadsTries keeps many runs from asking together when a receiver comes back.
func TestJitterSpreadsTries(t *testing.T) {
	for tries := 1; tries < 100; tries++ {
		least, most := backoff(tries, 0), backoff(tries, 1)
		if least < firstPause/2 || most > lastPause || least != most/2 {
			t.Errorf("after %d tries a pause is from %s to %s", tries, least, most)
		}
	}
}

// TestTheEndIsNotHeldUp: when the run has ended a receiver that is away gets a few tries more, not a wait of half a
// minute, and one that hangs nothing.
func TestTheEndIsNotHeldUp(t *testing.T) {
	for name, test := range map[string]struct {
		answers   []answer
		within    time.Duration
		delivered int
	}{
		"comes back":           {[]answer{{}, {}, {}, {}, {}, {}, {status: 200}}, time.Second, 1},
		"stays away":           {[]answer{{}}, 3 * time.Second, 0},
		"hangs":                {[]answer{{after: time.Hour}}, 3 * time.Second, 0},
		"asks for a long wait": {[]answer{{status: 429, header: "Retry-After: 30"}}, 3 * time.Second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t, test.answers...)
				d := deliver(s, place(kindWebhook))
				d.Send(eventOf(1), "")
				time.Sleep(20 * time.Second)
				began := time.Now()
				d.end(3 * time.Second)
				if took := time.Since(began); took > test.within {
					t.Errorf("the end took %s", took)
				}
				if got := d.Stats(); got.Delivered != test.delivered || got.Undelivered() != 1-test.delivered {
					t.Errorf("%+v", got)
				}
				if got := d.Stats(); got.Undelivered() > 0 && got.Last == "" {
					t.Errorf("nobody knows why: %+v", got)
				}
				if len(s.asked) > 40 {
					t.Errorf("it was tried %d times", len(s.asked))
				}
			})
		})
	}
}

// TestTheEndComesBeforeAnAnswer says so of a receiver that never had the time to fail.
func TestTheEndComesBeforeAnAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := deliver(newServer(t, answer{after: time.Hour}), place(kindWebhook))
		d.Send(eventOf(1), "")
		synctest.Wait()
		d.end(time.Second)
		if got := d.Stats(); got.Waiting != 1 || got.Last != "the time was over before it answered" {
			t.Errorf("%+v", got)
		}
	})
}

// TestRoomIsBounded: of more events than there is room for the oldest are left out, and the receiver is told how many.
func TestRoomIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, answer{}, answer{status: 200})
		d := deliver(s, place(kindWebhook))
		const sent = 3 * room
		for seq := 1; seq <= sent; seq++ {
			d.Send(eventOf(seq), "")
		}
		if d.Stats().Waiting > room {
			t.Errorf("%+v", d.Stats())
		}
		time.Sleep(time.Minute)
		d.end(0)
		if got := d.Stats(); got.Delivered != room || got.LeftOut != sent-room || got.Undelivered() != sent-room {
			t.Errorf("%+v", got)
		}
		if s.taken[0] != fmt.Sprintf("RUN/%d", sent-room+1) || s.taken[room-1] != fmt.Sprintf("RUN/%d", sent) {
			t.Errorf("from %s to %s arrived", s.taken[0], s.taken[room-1])
		}
	})
}

// TestOnlyWhatIsWanted: a receiver of some kinds gets no others.
func TestOnlyWhatIsWanted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, answer{status: 200})
		r := place(kindWebhook)
		r.Events = []Kind{Hold, Closed}
		d := deliver(s, r)
		for i, kind := range Kinds {
			e := eventOf(i + 1)
			e.Kind = kind
			d.Send(e, "")
		}
		d.end(time.Second)
		if want := []string{"RUN/5", "RUN/10"}; !slices.Equal(s.taken, want) {
			t.Errorf("arrived: %q", s.taken)
		}
		if s.head != "Bearer tokenSecret" {
			t.Errorf("authorization %q", s.head)
		}
	})
}

// TestEveryEventIsAccountedFor: whatever a receiver answers, each event is delivered, in order and once where every
// success was seen, or counted as not delivered.
func TestEveryEventIsAccountedFor(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		answers := rapid.SliceOfN(rapid.SampledFrom([]answer{{}, {status: 200}, {status: 500}, {status: 400}, {after: 6 * time.Second},
			{status: 200, after: 3 * time.Second}, {status: 429, header: "Retry-After: 2"}}), 1, 30).Draw(rt, "answers")
		pauses := rapid.SliceOfN(rapid.IntRange(0, 3000), 1, 60).Draw(rt, "pauses")
		patience := rapid.IntRange(0, 10).Draw(rt, "patience")
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, answers...)
			d := deliver(s, place(kindWebhook))
			for i, pause := range pauses {
				time.Sleep(time.Duration(pause) * time.Millisecond)
				d.Send(eventOf(i+1), "")
			}
			d.end(time.Duration(patience) * time.Second)
			got := d.Stats()
			if got.Delivered+got.Undelivered() != len(pauses) || got.Delivered != len(s.taken) {
				t.Errorf("%d sent, %d taken: %+v", len(pauses), len(s.taken), got)
			}
			if !slices.IsSortedFunc(s.taken, bySeq) || len(slices.Compact(slices.Clone(s.taken))) != len(s.taken) {
				t.Errorf("arrived: %q", s.taken)
			}
		})
	})
}

func bySeq(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}
