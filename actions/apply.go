package actions

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"
	"unicode/utf8"
)

// Stamp is what is kept in Redis beside the value of a flip.
type Stamp struct {
	Actor    string
	Steady   *string // raw value to come back to; nil when it has none in Redis
	Absent   string  // what readers do without the field: EncodeAbsent; "" when that is not known
	Protects string
	Owner    string
	ReviewAt time.Time // zero without a review
	Reason   string    // why, of a flip by hand; "" for a run's, whose step says it
	DeadMan  bool      // readers fall back to the dead man's value when this run stops renewing
}

// Apply flips one control exactly as planned, sends that once, and reads back.
// Applied is also the answer for a plan that was applied before. Unknown means
// that the write has left and no answer has come: then Settle, never repeat.
func (s *Store) Apply(ctx context.Context, l Lease, p Plan, st Stamp) Outcome {
	if p.Control == "" || p.Run != l.Run {
		return Outcome{Result: Refused, Cause: CommandLost,
			Sentence: fmt.Sprintf("the plan is of run %s and the lease of run %s", printable(p.Run), printable(l.Run))}
	}
	keys := []string{s.keys.Controls, s.keys.Meta, s.keys.Changes, s.keys.Commander, s.keys.Version}
	words, err := s.write(ctx, applyScript, keys, applyArgs(l, p, st)...)
	if err != nil {
		return outcomeOf(err)
	}
	a := &answer{words: words}
	switch a.text(0) {
	case "applied":
		return s.readBack(ctx, p, a)
	case "commanded":
		return outcomeCommanded(commanded(words))
	case "moved":
		return moved(p, a)
	}
	a.fault(0)
	return outcomeOf(a.err)
}

func applyArgs(l Lease, p Plan, st Stamp) []any {
	lives := "0"
	if st.DeadMan {
		lives = fmt.Sprint(LeaseTime.Milliseconds())
	}
	hasBefore, before := flag(p.Before)
	hasAfter, after := flag(p.After)
	_, steady := flag(st.Steady)
	return []any{
		p.Control, p.Run, l.Fence, p.Digest(), p.Step, st.Actor,
		hasBefore, before, hasAfter, after, steady, lives, metaTail(l, p, st), l.Version, st.Reason, l.Process, st.Absent,
	}
}

func flag(raw *string) (has, value string) {
	if raw == nil {
		return "0", ""
	}
	return "1", *raw
}

// metaTail is the part of the meta's JSON that is known before the script runs,
// without its opening brace.
func metaTail(l Lease, p Plan, st Stamp) string {
	tail := struct {
		Digest       string  `json:"digest"`
		Run          string  `json:"run"`
		Fence        int64   `json:"fence"`
		Step         string  `json:"step"`
		Actor        string  `json:"actor"`
		Before       *string `json:"before"`
		After        *string `json:"after"`
		Steady       *string `json:"steady"`
		Absent       string  `json:"absent,omitempty"`
		Protects     string  `json:"protects"`
		ReviewAt     int64   `json:"review_at,omitempty"`
		Owner        string  `json:"owner"`
		Reason       string  `json:"reason,omitempty"`
		BeforeBase64 []byte  `json:"before_base64,omitempty"`
	}{p.Digest(), p.Run, l.Fence, p.Step, st.Actor, p.Before, p.After, st.Steady, st.Absent, st.Protects, 0, st.Owner, st.Reason, nil}
	if !st.ReviewAt.IsZero() {
		tail.ReviewAt = st.ReviewAt.UnixMilli()
	}
	if p.Before != nil && !utf8.ValidString(*p.Before) {
		tail.Before, tail.BeforeBase64 = nil, []byte(*p.Before)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(tail); err != nil {
		panic(err) // it holds nothing that JSON cannot write
	}
	return string(bytes.TrimSpace(b.Bytes())[1:])
}

// readBack looks at what Redis holds after the script has said "applied"; the
// script's word counts when it cannot look.
func (s *Store) readBack(ctx context.Context, p Plan, a *answer) Outcome {
	o := Outcome{Result: Applied, Version: a.number(1), Found: a.optional(2), Seen: true}
	if note := a.text(4); note != "" {
		o.Hint = "the change is not in the stream of changes: " + printable(note)
	}
	if a.err != nil {
		return outcomeOf(a.err)
	}
	raw := hashFields(ctx, s.keys.Controls, []string{p.Control})
	if err := s.query(ctx, raw); err != nil {
		o.Hint = "it could not be read back: " + s.fail(s.reads, err).Sentence
	} else {
		o.Found = text(raw.Val()[0])
	}
	return describeApplied(p, o)
}

func describeApplied(p Plan, o Outcome) Outcome {
	o.Sentence = fmt.Sprintf("%s is %s, version %d", p.Control, p.shown(p.After), o.Version)
	if !same(o.Found, p.After) {
		o.Sentence = fmt.Sprintf("%s was set to %s, version %d, and holds %s since", p.Control, p.shown(p.After), o.Version, p.shown(o.Found))
		o.Hint = "somebody has changed it after the flip"
	}
	return o
}

func moved(p Plan, a *answer) Outcome {
	o := Outcome{Result: Refused, Cause: Moved, Version: a.number(1), Found: a.optional(2), Seen: true}
	if a.err != nil {
		return outcomeOf(a.err)
	}
	o.Sentence = fmt.Sprintf("nothing was changed: %s was planned from %s and holds %s", p.Control, p.shown(p.Before), p.shown(o.Found))
	o.Hint = "somebody has changed it since the plan was made; plan again from what it holds"
	return o
}
