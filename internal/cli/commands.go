package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// spoken is one thing that a person can type at any moment of a walk.
type spoken struct {
	word  string
	form  string // what follows the word
	means string
	kind  steps.OrderKind
	brake bool // it only ever holds back, so it may come in a burst or before a question
}

// spokenWords are the words in the order of help, those that hold back first. They are data so that help and
// the parser cannot part.
var spokenWords = []spoken{
	{"hold", "[REASON]", "stop everything that releases load; brakes go on", steps.OrderHold, true},
	{"abort", "[REASON]", "end the walk; protections stay, what adds load is idled", steps.OrderAbort, true},
	{"undo", "STEP [REASON]", "undo what a step did last, or a control's last flip", steps.OrderUndo, false},
	{"keep", "STEP [REASON]", "drop an undo that waits: what it would lift stays", steps.OrderKeep, true},
	{"take", "STEP", "take a protecting step that was skipped as not needed", steps.OrderTake, true},
	{"release", "[REASON]", "lift a hold of a person; a plan is let go with approve", steps.OrderRelease, false},
	{"skip", "STEP REASON", "go on without a step", steps.OrderSkip, false},
	{"adopt", "CONTROL", "leave somebody else's value as it is", steps.OrderAdopt, false},
	{"put-back", "CONTROL", "write this run's value over somebody else's", steps.OrderPutBack, false},
	{"handover", "WHO UNTIL REASON", "say who has the watch now, until when (8h, 06:00) and why", steps.OrderHandover, false},
	{"answer", "TEXT", "answer the question that is asked", steps.OrderAnswer, false},
	{"done", "STEP HOW", "say that a protecting step was done by hand, as redis is lost", steps.OrderDone, false},
	{"reading", "PROBE VALUE until TIME from SOURCE", "give what cannot be measured: 400ms until 10m from grafana", steps.OrderReading, false},
	{"note", "TEXT", "write a remark into the log", steps.OrderNote, true},
}

// answers to what is typed that are no orders.
const (
	wordApprove = "approve"
	wordHelp    = "help"
	wordStatus  = "status"
)

// surely follows the word of an order that must not be taken for an answer.
const surely = "!"

// parseSpoken reads a typed line as an order. It is refused with what would be
// right; a line whose first word is none of the words, with or without surely, gives ok false.
func parseSpoken(line string, now time.Time) (order steps.Order, ok bool, err error) {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	word = strings.TrimSuffix(strings.ToLower(word), surely)
	i := slices.IndexFunc(spokenWords, func(s spoken) bool { return s.word == word })
	if i < 0 {
		return steps.Order{}, false, nil
	}
	s := spokenWords[i]
	order = steps.Order{Kind: s.kind}
	switch s.form {
	case "[REASON]":
		order.Text = rest
	case "TEXT":
		order.Text, err = needed(rest, s)
	case "STEP REASON", "STEP HOW", "PROBE VALUE until TIME from SOURCE":
		step, reason, _ := strings.Cut(rest, " ")
		order.Step = step
		order.Text, err = needed(strings.TrimSpace(reason), s)
	case "WHO UNTIL REASON":
		words := strings.Fields(rest)
		if len(words) < 3 {
			return order, true, fmt.Errorf("type %s %s", s.word, s.form)
		}
		order.To, order.Text = words[0], strings.Join(words[2:], " ")
		order.Until, err = steps.ParseUntil(words[1], now)
	case "STEP [REASON]":
		step, reason, _ := strings.Cut(rest, " ")
		order.Text = strings.TrimSpace(reason)
		order.Step, err = oneWord(step, s)
	default:
		order.Step, err = oneWord(rest, s)
	}
	return order, true, err
}

func needed(text string, s spoken) (string, error) {
	if text == "" {
		return "", fmt.Errorf("type %s %s", s.word, s.form)
	}
	return text, nil
}

func oneWord(text string, s spoken) (string, error) {
	switch {
	case text == "":
		return "", fmt.Errorf("type %s %s", s.word, s.form)
	case strings.ContainsAny(text, " \t"):
		return "", fmt.Errorf("%s takes one name and no reason: type %s %s", s.word, s.word, s.form)
	}
	return text, nil
}

// isBrake reports whether an order only ever holds back or remarks.
func isBrake(kind steps.OrderKind) bool {
	return slices.ContainsFunc(spokenWords, func(s spoken) bool { return s.kind == kind && s.brake })
}

// spokenHelp lists what can be typed, a row each: what holds back, then what lets go, then the rest.
func spokenHelp() []string {
	row := func(typed, means string) string { return fmt.Sprintf("  %-22s %s", strings.TrimSpace(typed), means) }
	var rows []string
	for _, s := range spokenWords {
		if s.kind == steps.OrderRelease {
			rows = append(rows, row(wordApprove, "let the waiting plan go; the question has wider words"),
				row(wordApprove+" DIGEST", "the same by its digest, at least 8 hex digits"))
		}
		rows = append(rows, row(s.word+" "+s.form, s.means))
	}
	return append(rows,
		row("WORD"+surely+" …", "that order, where the line could be an answer"),
		row(wordStatus, "what is flipped and unproved, what blocks, what it costs"),
		row(wordHelp, "this list; Enter: back to the question, Ctrl-C: stop the walk"))
}

// commandsFor lists what can be typed at any other terminal about a run, a row each. How a command finds the run, spells
// says.
func commandsFor(run string, spells func(words, about string) string) []string {
	row := func(word, follows, means string) string {
		return "  " + spells(word, strings.TrimSpace(run+" "+follows)) + ": " + means
	}
	var rows []string
	for _, s := range spokenWords {
		if s.kind == steps.OrderRelease {
			rows = append(rows, row(wordApprove, "DIGEST", "let the plan, ladder or stage with this digest go"),
				row("takeover", "REASON", "walk its runbook on there; the process that walks it now can write nothing from then on"))
		}
		rows = append(rows, row(s.word, s.remoteForm(), s.means))
	}
	return append(rows, row(wordStatus, "", "what is flipped and unproved, what blocks, what it costs"))
}

// parseModes reads an answer to a question after the modes: numbers of the list or
// names, separated by commas or spaces. A name may have spaces in the place of its hyphens.
func parseModes(text string) (string, error) {
	var modes []string
	for part := range strings.SplitSeq(text, ",") {
		words := strings.Fields(part)
		if whole := strings.ToLower(strings.Join(words, "-")); slices.Contains(runbook.Modes, runbook.Mode(whole)) {
			words = []string{whole}
		}
		for _, word := range words {
			mode, err := parseMode(word)
			if err != nil {
				return "", err
			}
			if !slices.Contains(modes, mode) {
				modes = append(modes, mode)
			}
		}
	}
	if len(modes) == 0 {
		return "", fmt.Errorf("type the numbers or names of one or more modes")
	}
	return strings.Join(modes, ", "), nil
}

func parseMode(word string) (string, error) {
	if n, err := strconv.Atoi(word); err == nil {
		if n < 1 || n > len(runbook.Modes) {
			return "", fmt.Errorf("there is no mode number %d, they run from 1 to %d", n, len(runbook.Modes))
		}
		return string(runbook.Modes[n-1]), nil
	}
	if !slices.Contains(runbook.Modes, runbook.Mode(strings.ToLower(word))) {
		return "", fmt.Errorf("%q is no mode; they are %s", word, strings.Join(numberedModes(), ", "))
	}
	return strings.ToLower(word), nil
}

// numberedModes are the modes with the numbers that can be typed for them.
func numberedModes() []string {
	list := make([]string, len(runbook.Modes))
	for i, mode := range runbook.Modes {
		list[i] = fmt.Sprintf("%d %s", i+1, mode)
	}
	return list
}
