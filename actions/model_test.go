package actions

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rewarm/rewarm/actions/controls"
	"github.com/rewarm/rewarm/runbook"
	"pgregory.net/rapid"
)

// model is what Redis should hold after each step.
type model struct {
	raw     *string
	digest  string
	run     string // that commands
	fence   int64
	alive   bool
	version int64

	flipFence int64 // of the latest flip
}

// TestFlipsAgainstAModel walks two runs that take, lose and regain the command,
// with hand edits, lost counters, late plans and settling in between. A value
// may change only by the commander, from the value its plan began with, and a
// plan counts once.
func TestFlipsAgainstAModel(t *testing.T) {
	srv := startMiniredis(t)
	s := srv.open(t)
	rapid.Check(t, func(rt *rapid.T) {
		srv.do(t, "flushall")
		var m model
		leases := map[string]Lease{}
		var plans []Plan
		run := rapid.SampledFrom([]string{runA, runB})
		raw := rapid.SampledFrom([]string{"", "100", "3200", "a\xffb"})
		rt.Repeat(map[string]func(*rapid.T){
			"take": func(rt *rapid.T) {
				r := run.Draw(rt, "run")
				known := max(leases[r].Fence, rapid.Int64Range(0, 3).Draw(rt, "known"))
				l, err := s.Take(t.Context(), Holder{Run: r, Actor: "ana", Host: "h", Fence: known})
				if free := !m.alive || m.run == r; free != (err == nil) {
					rt.Fatalf("take by %s while %+v: %v", r, m, err)
				}
				if err == nil {
					if m.run != "" && l.Fence <= m.fence || l.Fence <= max(known, m.flipFence) {
						rt.Fatalf("fence %d after %d, %d known, %d flipped", l.Fence, m.fence, known, m.flipFence)
					}
					leases[r], m.run, m.fence, m.alive = l, r, l.Fence, true
				}
			},
			"lapse": func(*rapid.T) {
				if m.run != "" {
					srv.do(t, "hset", "rewarm:{catalog}:commander", "until", "1")
					m.alive = false
				}
			},
			"lose the commander": func(*rapid.T) {
				srv.do(t, "del", "rewarm:{catalog}:commander")
				m.run, m.fence, m.alive = "", 0, false
			},
			"lose the counters": func(*rapid.T) { srv.do(t, "del", "rewarm:{catalog}:fence", "rewarm:{catalog}:version") },
			"edit": func(rt *rapid.T) {
				v := raw.Draw(rt, "raw")
				srv.do(t, "hset", "rewarm:{catalog}:controls", admission.Name, v)
				m.raw = &v
			},
			"delete": func(*rapid.T) {
				srv.do(t, "hdel", "rewarm:{catalog}:controls", admission.Name)
				m.raw = nil
			},
			"plan": func(rt *rapid.T) {
				var to *runbook.Value
				if rapid.Bool().Draw(rt, "write") {
					to = number(float64(rapid.IntRange(0, 3).Draw(rt, "to") * 100))
				}
				plans = append(plans, NewPlan(run.Draw(rt, "run"), "s", admission, read(t, s, admission), to))
			},
			"apply": func(rt *rapid.T) {
				if len(plans) == 0 {
					return
				}
				p := rapid.SampledFrom(plans).Draw(rt, "plan")
				l := leases[p.Run]
				l.Run, l.Version = p.Run, rapid.Int64Range(0, 9).Draw(rt, "seen")
				m.apply(rt, l, p, s.Apply(t.Context(), l, p, stamp))
			},
			"settle": func(rt *rapid.T) {
				if len(plans) == 0 {
					return
				}
				p := rapid.SampledFrom(plans).Draw(rt, "plan")
				l := leases[p.Run]
				l.Run = p.Run
				o := s.Settle(t.Context(), l, p)
				if (o.Result == Applied) != (m.digest == p.Digest()) {
					rt.Fatalf("settled %+v while %+v", o, m)
				}
				if o.Lease != nil {
					leases[p.Run], m.fence, m.alive = *o.Lease, o.Lease.Fence, true
				}
			},
			"": func(rt *rapid.T) {
				if live := read(t, s, admission); !same(live.Raw, m.raw) {
					rt.Fatalf("redis holds %v, the model %v", live.Raw, m.raw)
				}
			},
		})
	})
}

// apply checks an outcome against the model and moves the model on.
func (m *model) apply(t *rapid.T, l Lease, p Plan, o Outcome) {
	switch {
	case m.digest == p.Digest():
		if o.Result != Applied {
			t.Fatalf("a plan that was applied: %+v", o)
		}
	case m.run != p.Run || m.fence != l.Fence:
		if o.Cause != CommandLost {
			t.Fatalf("by a run that does not command: %+v", o)
		}
	case !same(m.raw, p.Before):
		if o.Cause != Moved || !same(o.Found, m.raw) {
			t.Fatalf("after the value has moved: %+v", o)
		}
	default:
		if o.Result != Applied || o.Version <= max(m.version, l.Version) {
			t.Fatalf("version %d, %d seen, then %+v", m.version, l.Version, o)
		}
		m.raw, m.digest, m.version = p.After, p.Digest(), o.Version
		m.flipFence = l.Fence
	}
}

func TestValuesComeBack(t *testing.T) {
	choices := []string{"none", "top-1", "working-set"}
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]runbook.Kind{runbook.Rate, runbook.Count, runbook.Percent, runbook.Duration,
			runbook.Switch, runbook.Choice, runbook.List}).Draw(t, "kind")
		v := runbook.Value{Kind: kind}
		switch {
		case kind == runbook.Count:
			v.Number = float64(rapid.Int32Range(0, math.MaxInt32).Draw(t, "n"))
		case kind.Numeric():
			v.Number = math.Abs(rapid.Float64Range(0, math.MaxFloat64).Draw(t, "n"))
		case kind == runbook.Switch:
			v.Text = rapid.SampledFrom([]string{"on", "off"}).Draw(t, "s")
		case kind == runbook.Choice:
			v.Text = rapid.SampledFrom(choices).Draw(t, "c")
		default:
			v.List = rapid.SliceOf(rapid.String()).Draw(t, "l")
		}
		c := &runbook.Control{Name: "c", Kind: kind, Choices: choices}
		back, err := Decode(c, Encode(v))
		if err != nil || Encode(back) != Encode(v) || back.Number != v.Number || back.Text != v.Text {
			t.Fatalf("%+v came back as %+v, %v", v, back, err)
		}
	})
}

// The digest is a public name: it must never change for the same plan.
func TestDigestsAreStable(t *testing.T) {
	p := Plan{Run: runA, Step: "enforce-admission", Control: "origin.admission", Before: nil, After: ptr("3200"),
		Direction: runbook.Protecting, Version: 0, Unit: "attempts/s"}
	const text = `{"run":"20261129T100801Z-hot-key-collapse-7f3a","step":"enforce-admission","control":"origin.admission",` +
		`"before":null,"after":"3200","direction":"protecting","version":0,"unit":"attempts/s"}`
	if got, err := p.MarshalJSON(); err != nil || string(got) != text {
		t.Errorf("JSON %s, %v", got, err)
	}
	if got := p.Digest(); got != digestOfText {
		t.Errorf("digest %s", got)
	}
	group := GroupDigest([]Plan{p, p})
	p.Run, p.Version, p.Before = runB, 9, ptr("1")
	if group != GroupDigest([]Plan{p, p}) {
		t.Error("a group's digest depends on more than control, after and unit")
	}
	p.Unit = "reads/s"
	if group == GroupDigest([]Plan{p, p}) {
		t.Error("a group's digest does not depend on the unit")
	}
}

const digestOfText = "d7ae3099164609a449df0beeb85e6e8bddfb3b9197a2771bd1ae88e896176460" // by sha256sum

func FuzzPrintable(f *testing.F) {
	for _, text := range []string{"plain", "\x1b[2J", "\u009b31m", "\u202e", "\xff", "�", "a\nb"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, shown := range []string{printable(text), plain(text, false), quoteOf(text)} {
			if !utf8.ValidString(shown) || strings.ContainsFunc(shown, func(r rune) bool {
				return r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
			}) {
				t.Errorf("%q is shown as %q", text, shown)
			}
		}
	})
}

// quoteOf is what package controls makes of outside text.
func quoteOf(text string) string {
	if _, err := controls.ParseSwitch(text); err != nil {
		return err.Error()
	}
	return text
}
