package cli

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/steps"
)

const testLetterID = "00112233445566778899aabbccddeeff"

func TestReadLetter(t *testing.T) {
	good := `{"id":"` + testLetterID + `","run":"RUN","order":"skip","step":"warm","text":"not today","by":"bob","host":"ops-2"}`
	replaced := func(old, with string) string { return strings.Replace(good, old, with, 1) }
	for name, test := range map[string]struct{ body, refused string }{
		"an order":             {good, ""},
		"too long":             {"", "too long"},
		"not JSON":             {"hold the line", "not the JSON"},
		"not an object":        {`["hold"]`, "not the JSON"},
		"another field":        {replaced(`"by"`, `"sudo":true,"by"`), "not the JSON"},
		"two orders":           {good + good, "something follows"},
		"another run":          {replaced("RUN", "RUN-2"), "for another run"},
		"no run":               {replaced("RUN", ""), "for another run"},
		"a short id":           {replaced(testLetterID, "0011"), "its id"},
		"an id that is no hex": {replaced(testLetterID, strings.Repeat("z", 32)), "its id"},
		"no such order":        {replaced("skip", "frob"), `no order "frob"`},
		"an interrupt":         {replaced("skip", "interrupt"), "no order"},
		"nobody":               {replaced("bob", ""), "by whom"},
		"a name with a colon":  {replaced("bob", "a:b"), "by whom"},
		"a long step":          {replaced("warm", strings.Repeat("w", longestName+1)), "longer than"},
		"a long text":          {replaced("not today", strings.Repeat("w", longestText+1)), "longer than"},
		// https://github.com/kubernetes/kubernetes/issues/101695
		"an escape":     {replaced("not today", `\u001b[2J`), "control characters"},
		"a C1 control":  {replaced("warm", `\u009b31m`), "control characters"},
		"an override":   {replaced("ops-2", `\u202eops`), "control characters"},
		"two lines":     {replaced("not today", `not\ntoday`), "control characters"},
		"not UTF-8":     {replaced("not today", "\xff\xfe"), "control characters"},
		"a long number": {replaced(`"skip"`, strings.Repeat("9", 400)), "not the JSON"},
	} {
		l, err := readLetter(test.body, "RUN")
		if (err == nil) != (test.refused == "") || err != nil && !strings.Contains(err.Error(), test.refused) {
			t.Errorf("%s: %+v, %v", name, l, err)
		}
		if err != nil && strings.ContainsFunc(err.Error(), hidden) {
			t.Errorf("%s: something raw is said: %q", name, err)
		}
	}
}

func FuzzReadLetter(f *testing.F) {
	f.Add(`{"id":"` + testLetterID + `","run":"RUN","order":"hold","by":"bob"}`)
	f.Add(`{"id":1}`)
	f.Fuzz(func(t *testing.T, body string) {
		l, err := readLetter(body, "RUN")
		if err != nil {
			return
		}
		again, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := readLetter(string(again), "RUN"); err != nil || back != l {
			t.Fatalf("%+v comes back as %+v, %v", l, back, err)
		}
	})
}

// postbag gives letters as Redis would.
type postbag struct {
	bags [][]actions.Letter
	lost int
	err  error
	acl  map[string]actions.Proof
}

func (p *postbag) Receive(context.Context, string) ([]actions.Letter, int, error) {
	if p.err != nil || len(p.bags) == 0 {
		return nil, 0, p.err
	}
	bag := p.bags[0]
	p.bags = p.bags[1:]
	return bag, p.lost, nil
}

func (p *postbag) Witness(_ context.Context, user, _ string) (actions.Proof, bool, error) {
	proof, found := p.acl[user]
	return proof, found, nil
}

func bodyOf(t *testing.T, order steps.OrderKind, by string) string {
	t.Helper()
	l := letter{ID: testLetterID, Run: "RUN", Order: order, By: by}
	if order == steps.OrderApprove {
		l.Digest = "aaaaaaaa"
	}
	body, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func TestInbox(t *testing.T) {
	sent := time.Date(2026, 11, 29, 10, 8, 0, 0, time.UTC)
	from := &postbag{lost: 3, acl: map[string]actions.Proof{"bob": actions.ProofACL}, bags: [][]actions.Letter{{
		{Body: bodyOf(t, steps.OrderHold, "bob"), Sent: sent, Waited: 250 * time.Millisecond},
		{Body: "junk", Sent: sent},
		{Body: bodyOf(t, steps.OrderApprove, "bob"), Sent: sent},
		{Body: bodyOf(t, steps.OrderApprove, "mallory"), Sent: sent, Waited: -time.Hour},
	}}}
	box := &mailbox{}
	b := &inbox{from: from, run: "RUN", clock: wallClock{}, post: box.post, logger: slog.New(slog.DiscardHandler)}
	if pause := b.look(t.Context()); pause != inboxEvery {
		t.Errorf("looks again in %s", pause)
	}
	items := box.take()
	if len(items) != 4 {
		t.Fatalf("items %+v", items)
	}
	hold, bob, mallory := items[0].(steps.Order), items[1].(steps.Order), items[2].(steps.Order)
	if hold.Kind != steps.OrderHold || hold.By != "bob" || hold.Origin.ID != testLetterID || hold.Origin.WaitedMS != 250 || hold.Origin.Proof != "" || !hold.Origin.Sent.Equal(sent) {
		t.Errorf("hold %+v %+v", hold, hold.Origin)
	}
	if bob.Origin.Proof != actions.ProofACL || mallory.Origin.Proof != "" || mallory.Origin.WaitedMS != 0 {
		t.Errorf("origins %+v, %+v", bob.Origin, mallory.Origin)
	}
	if bad := items[3].(unreadable); bad.count != 4 {
		t.Errorf("unreadable %+v", bad)
	}
}

// TestInboxTrouble: what only a person can mend is said once, a Redis that is away never.
func TestInboxTrouble(t *testing.T) {
	var said []string
	from := &postbag{}
	b := &inbox{from: from, run: "RUN", clock: wallClock{}, post: func(m mail) { t.Errorf("posted %v", m) },
		logger: slog.New(slog.DiscardHandler), warn: func(text string) { said = append(said, text) }}
	denied := &actions.Failure{Cause: actions.NoPerm, Sentence: "redis does not let this user do that"}
	for _, err := range []error{denied, denied, &actions.Failure{Cause: actions.Unreachable, Sentence: "away", Retry: time.Second}, denied, nil, denied} {
		from.err = err
		if pause := b.look(t.Context()); (pause == inboxAgain) != (err != nil) {
			t.Errorf("after %v it looks again in %s", err, pause)
		}
	}
	if len(said) != 2 || !strings.HasPrefix(said[0], "orders from elsewhere do not arrive: redis does not let") {
		t.Errorf("said %q", said)
	}
}

func TestReceived(t *testing.T) {
	m := newScripted(t)
	d := unattended(t, m)
	var got []answered
	d.answers = func(a answered) { got = append(got, a) }
	d.mail.post(steps.Order{Kind: steps.OrderHold, By: "bob", Origin: &steps.Origin{ID: "a"}})
	if err := d.deliver(); err != nil {
		t.Fatal(err)
	}
	m.refuse = &steps.RefusedOrder{Sentence: "nothing is held", Hint: "status"}
	d.mail.post(steps.Order{Kind: steps.OrderRelease, By: "bob", Origin: &steps.Origin{ID: "b"}})
	if err := d.deliver(); err != nil {
		t.Fatal(err)
	}
	turnAway([]mail{terminalGone{}, steps.Order{Kind: steps.OrderHold, Origin: &steps.Origin{ID: "c"}}}, d.answers)
	if len(got) != 3 || got[0] != (answered{ID: "a", Seq: 1}) || got[1] != (answered{ID: "b", Seq: 2, Refused: "nothing is held", Hint: "status"}) ||
		got[2].ID != "c" || got[2].Seq != 0 || got[2].Refused == "" {
		t.Errorf("answers %+v", got)
	}
	if len(m.orders) != 2 || m.orders[0].By != "bob" {
		t.Errorf("orders %+v", m.orders)
	}
}

// TestJunkIsNotedOnceAMinute: a writer that floods the inbox does not flood the log.
func TestJunkIsNotedOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newScripted(t)
		d := unattended(t, m)
		for range 100 {
			d.mail.post(unreadable{count: 4, reason: "it is not the JSON of an order"})
			if err := d.deliver(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		if len(m.orders) != 2 || !strings.HasPrefix(m.orders[0].Text, "4 entries of the inbox refused: it is not the JSON") ||
			!strings.HasPrefix(m.orders[1].Text, "240 entries of the inbox") {
			t.Errorf("noted %+v", m.orders)
		}
	})
}

func TestSender(t *testing.T) {
	open := func(url string) *actions.Store {
		store, err := actions.Open(actions.Options{URL: url, Service: "catalog", Clock: wallClock{}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		return store
	}
	for _, test := range []struct{ url, account, want string }{
		{"redis://bob:x@127.0.0.1:1", "ana", "bob"},
		{"redis://default:x@127.0.0.1:1", "ana", "ana"},
		{"redis://127.0.0.1:1", `CORP\ana b`, "CORP-ana-b"},
	} {
		p := &program{where: surroundings{user: test.account}}
		if got := p.sender(open(test.url)); got != test.want || actions.CheckUser(got) != nil {
			t.Errorf("%s on %s sends as %q", test.account, test.url, got)
		}
	}
}

func TestResults(t *testing.T) {
	base := result{Run: "RUN", Order: steps.OrderHold}
	for name, test := range map[string]struct {
		r    result
		code exitCode
		says string
	}{
		"done":        {result{Run: "RUN", Order: "hold", Outcome: orderDone, answered: answered{Seq: 7, Blocking: "held by bob"}}, exitDone, "hold: done, record 7 of run RUN\nnow: held by bob\n"},
		"done before": {result{Run: "RUN", Order: "hold", Outcome: orderDone, answered: answered{Seq: 7, Again: true}}, exitDone, "hold: done before, record 7 of run RUN\n"},
		"refused":     {result{Run: "RUN", Order: "hold", Outcome: orderRefused, answered: answered{Seq: 7, Refused: "no"}}, exitError, ""},
		"taken back":  {result{Run: base.Run, Order: base.Order, Outcome: orderRecalled}, exitHeld, ""},
		"unknown":     {result{Run: base.Run, Order: base.Order, Outcome: orderUnknown}, exitHeld, ""},
	} {
		out := &strings.Builder{}
		p := &program{out: out}
		err := p.tellResult(addressee{spells: p.command}, test.r)
		if codeOf(err) != test.code || out.String() != test.says {
			t.Errorf("%s: %v, said %q", name, err, out)
		}
		var f *failure
		if errors.As(err, &f) && test.r.Outcome != orderRefused && f.hint == "" {
			t.Errorf("%s has no way out", name)
		}
	}
}
