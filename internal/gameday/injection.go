package gameday

import (
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/runbook"
)

// The kinds of records in the log of a day on real servers.
const (
	KindDayBegun  = "begun"
	KindInjecting = "injecting"
	KindInjected  = "injected"
	KindUndone    = "undone"
	KindDayEnded  = "ended"
)

// LogFormat names the format of those records.
const LogFormat = "rewarm gameday v1"

// DayBegun is the body of the first record: what is played, where and by whom.
type DayBegun struct {
	Format     string `json:"format"` // LogFormat
	Day        string `json:"day"`
	File       string `json:"file"`
	SHA256     string `json:"sha256"` // of the file
	Target     string `json:"target"`
	Service    string `json:"service"`
	Prometheus string `json:"prometheus"` // without secrets
	Redis      string `json:"redis"`      // without secrets
	Run        string `json:"run"`        // the first that is walked
	Dir        string `json:"dir"`        // in which programs are started
	Version    string `json:"version"`
	Host       string `json:"host"`
	User       string `json:"user"`
	PID        int    `json:"pid"`
}

// Injection is a call that breaks something, with the call that takes it back. It is
// written down before it is made.
type Injection struct {
	Number    int     `json:"number"` // from 1, in this day
	Line      int     `json:"line"`   // of the day's file
	Do        Command `json:"do"`
	Undo      Command `json:"undo"`
	TimeoutMS int64   `json:"timeout_ms"` // of each of the two
}

// Command is an argument vector or an HTTP request, as a log has it.
type Command struct {
	Args     []string `json:"args,omitempty"`
	Method   string   `json:"method,omitempty"`
	URL      string   `json:"url,omitempty"`
	BodyFile string   `json:"body_file,omitempty"`
}

func commandOf(inv *runbook.Invocation) Command { return Command(*inv) }

func (c Command) invocation() runbook.Invocation { return runbook.Invocation(c) }

// String is the command as people type it. A word that a shell would read otherwise is quoted.
func (c Command) String() string {
	if len(c.Args) == 0 {
		return strings.TrimSpace(c.Method + " " + c.URL)
	}
	words := make([]string, len(c.Args))
	for i, arg := range c.Args {
		words[i] = quoted(arg)
	}
	return strings.Join(words, " ")
}

// plainWord are the characters that no shell takes for anything else.
const plainWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-"

func quoted(word string) string {
	if word != "" && strings.Trim(word, plainWord) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// CallEnd is how a call of an injection ended.
type CallEnd struct {
	Number int    `json:"number"`
	OK     bool   `json:"ok"`
	Output string `json:"output,omitempty"` // printable, its beginning
	Error  string `json:"error,omitempty"`
	// Again says of an undo that it will be made once more: the injection may still have been
	// under way.
	Again bool `json:"again,omitempty"`
}

// OpenInjection is one that is not known to have been taken back.
type OpenInjection struct {
	Injection
	At        time.Time // when it was about to be made
	Uncertain bool      // nobody has seen how it ended
}

func (i *Injection) timeout() time.Duration { return time.Duration(i.TimeoutMS) * time.Millisecond }

// String names an injection by what it did.
func (i *Injection) String() string { return fmt.Sprintf("injection %d, %s", i.Number, i.Do) }

// ReadDay reads the log of a day: what it was, and which injections are open, in the order
// in which they were made.
func ReadDay(records iter.Seq2[audit.Record, error]) (DayBegun, []*OpenInjection, error) {
	var begun DayBegun
	var open []*OpenInjection
	for r, err := range records {
		if err != nil {
			return begun, nil, err
		}
		switch r.Kind {
		case KindDayBegun:
			err = json.Unmarshal(r.Body, &begun)
		case KindInjecting:
			made := &OpenInjection{At: r.At, Uncertain: true}
			err = json.Unmarshal(r.Body, &made.Injection)
			open = append(open, made)
		case KindInjected, KindUndone:
			open, err = takeEnd(open, r)
		}
		if err != nil {
			return begun, nil, fmt.Errorf("record %d of the day's log cannot be read: %w", r.Seq, err)
		}
	}
	return begun, open, nil
}

// takeEnd takes the end of a call into account.
func takeEnd(open []*OpenInjection, r audit.Record) ([]*OpenInjection, error) {
	var end CallEnd
	if err := json.Unmarshal(r.Body, &end); err != nil {
		return open, err
	}
	for i, made := range open {
		switch {
		case made.Number != end.Number:
		case r.Kind == KindInjected:
			made.Uncertain = false
		case end.OK && !end.Again:
			return append(open[:i:i], open[i+1:]...), nil
		}
	}
	return open, nil
}
