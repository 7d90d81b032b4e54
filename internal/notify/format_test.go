package notify

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/hostiletext"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// sample is the message that docs/notifications.md shows.
func sample(t testing.TB) Message {
	t.Helper()
	const run = "20261129T100801Z-hot-key-collapse-7f3a"
	value := "3200"
	at := time.Date(2026, 11, 29, 10, 8, 1, 250_000_000, time.UTC)
	flip := audit.Record{Seq: 12, Prev: strings.Repeat("0", 64), At: at, T: 250, Actor: "rewarm", Kind: steps.KindSettled, Body: json.RawMessage("{}")}
	hold := audit.Record{Seq: 41, Prev: strings.Repeat("0", 64), At: at.Add(time.Second), T: 1250, Actor: "rewarm", Kind: steps.KindHeld, Body: json.RawMessage("{}")}
	first, ok := Tell(run, flip, &steps.Settled{Result: steps.ResultApplied, Version: 1,
		Plan: actions.Plan{Control: "origin.admission", After: &value, Direction: runbook.Protecting}},
		Said{Where: "protect-origin/enforce-admission", Text: "flipped origin.admission to 3200 attempts/s, from unlimited (absent), protecting (plan 23c07cae, version 1)"})
	second, ok2 := Tell(run, hold, &steps.Held{Cause: "guard 3 partitions"},
		Said{Where: "constrain-leaders", Text: "HOLD: guard 3 partitions is breached: partitions 0.4125 < 0.95 at least", Rows: []string{"may:    abort; it lifts when the guard holds again"}})
	if !ok || !ok2 {
		t.Fatal("the sample is not told")
	}
	signed := "rewarm audit v1\n" + run + "\n41\n" + sum(hold) + "\n\n— rewarm-desk AAAA\n"
	return Message{Format: FormatV1, Run: run, Service: "catalog", Events: []Event{first, second}, SignedHead: signed}
}

// sum is the whole hash of a record.
func sum(r audit.Record) string {
	head, err := audit.ParseHead(position(r) + strings.Repeat("0", 52))
	if err != nil {
		panic(err)
	}
	return head.Hash
}

// TestDocShowsTheFormats: the blocks in docs/notifications.md are what is sent.
func TestDocShowsTheFormats(t *testing.T) {
	page, err := os.ReadFile("../../docs/notifications.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := regexp.MustCompile("(?s)<!-- ([a-z]+) -->\n```json\n(.*?)```").FindAllSubmatch(page, -1)
	if len(shown) != len(formats) {
		t.Fatalf("docs/notifications.md shows %d formats of %d", len(shown), len(formats))
	}
	for _, block := range shown {
		kind := string(block[1])
		m := sample(t)
		m.Events = m.Events[:min(len(m.Events), formats[kind].most)]
		sent, err := formats[kind].write(m, Receiver{Kind: kind, Dashboard: "cache-origin", Tags: []string{"prod"}})
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		if err := json.Indent(&want, sent, "", "  "); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(string(block[2])); got != want.String() {
			t.Errorf("docs/notifications.md: the format %s is not what is sent:\n%s", kind, &want)
		}
	}
	for _, kind := range Kinds {
		if !strings.Contains(string(page), "| `"+string(kind)+"` |") {
			t.Errorf("docs/notifications.md has no row for the event %s", kind)
		}
	}
}

// TestWhatIsTold: these records, and no others.
func TestWhatIsTold(t *testing.T) {
	for _, test := range []struct {
		kind steps.Kind
		body any
		want Kind // "" for none
	}{
		{steps.KindBegun, &steps.Begun{}, Began},
		{steps.KindResumed, &steps.Resumed{}, Resumed},
		{steps.KindStage, &steps.StageBody{}, Stage},
		{steps.KindSettled, &steps.Settled{Result: steps.ResultApplied}, Flip},
		{steps.KindSettled, &steps.Settled{Result: steps.ResultRefused}, Flip},
		{steps.KindSettled, &steps.Settled{Result: steps.ResultUnknown}, Flip},
		{steps.KindSettled, &steps.Settled{Result: steps.ResultNothing}, ""},
		{steps.KindSettled, &steps.Settled{Result: steps.ResultUnreached}, ""},
		{steps.KindHeld, &steps.Held{}, Hold},
		{steps.KindHeld, &steps.Held{Lifted: true}, Lifted},
		{steps.KindConfirmed, &steps.ConfirmedBody{}, Asked},
		{steps.KindConfirmed, &steps.ConfirmedBody{Answered: true}, ""},
		{steps.KindRecovered, &steps.Recovered{}, Recovered},
		{steps.KindAborted, &steps.Ended{}, Aborted},
		{steps.KindClosed, &steps.Ended{}, Closed},
		{steps.KindObserved, &steps.Observed{}, ""},
		{steps.KindNoted, &steps.Noted{}, ""},
		{steps.KindTorn, nil, ""},
	} {
		event, ok := Tell("RUN", audit.Record{Seq: 3, Kind: test.kind}, test.body, Said{})
		if ok != (test.want != "") || event.Kind != test.want {
			t.Errorf("%s %+v is told as %q", test.kind, test.body, event.Kind)
		}
	}
}

// hostile are texts that some format reads as more than text.
var hostile = []string{
	"<!channel> & <https://evil.example|click> @here <script>alert(1)</script> \x1b[2J\xff",
	"&lt;!here&gt; &amp; *bold* _x_ `y`\n> quoted", "<img src=x onerror='alert(1)'>\"", strings.Repeat("é<", 4000),
}

// TestTextStaysText: whatever a label, a note or an error page says, it is text in every format.
func TestTextStaysText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.SampledFrom(hostile), rapid.String(), rapid.StringMatching(`[<>&;@"'a-z!|]{0,40}`)).Draw(rt, "text")
		m := sample(t)
		m.Events[0].Text, m.Events[0].Where, m.Events[1].Details = text, text, []string{text}
		var s slackMessage
		written(t, slack, m, &s)
		if s.Markdown || s.LinkNames || strings.ContainsAny(s.Text, "<>") || strings.Contains(strings.ReplaceAll(s.Text, "@\u2060", ""), "@") || len(s.Text) > 40_000 {
			rt.Errorf("slack would read it as markup: %q", s.Text)
		}
		if bare := regexp.MustCompile(`&(amp|lt|gt);`).ReplaceAllString(s.Text, ""); strings.Contains(bare, "&") {
			rt.Errorf("an ampersand is not escaped: %q", s.Text)
		}
		var a annotation
		written(t, grafana, m, &a)
		if strings.ContainsAny(strings.ReplaceAll(a.Text, "<br>", ""), "<>\"'") {
			rt.Errorf("grafana would read it as html: %q", a.Text)
		}
		var w Message
		written(t, webhook, m, &w)
		if utf8.ValidString(text) && w.Events[0].Text != text {
			rt.Errorf("the webhook has %q", w.Events[0].Text)
		}
	})
}

// written decodes what a format writes, strictly.
func written(t *testing.T, write func(Message, Receiver) ([]byte, error), m Message, into any) {
	t.Helper()
	body, err := write(m, Receiver{})
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
}

// TestHostileAnswer: what an error repeats of a receiver's answer acts on no terminal, and is short.
func TestHostileAnswer(t *testing.T) {
	for name, text := range hostiletext.Texts() {
		shown := quoted(text)
		if why := hostiletext.Harmful(shown); why != "" {
			t.Errorf("%s: %s", name, why)
		}
		if len(shown) > longestQuote*len(`\u202e`)+len(`: "…"`) {
			t.Errorf("%s is %d bytes long", name, len(shown))
		}
	}
}
