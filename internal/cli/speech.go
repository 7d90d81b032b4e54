package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/rewarm/rewarm/runbook"
)

// hinter is an error that knows the way out.
type hinter interface{ WayOut() string }

// speak says what went wrong and the way out, each on a line of its own.
func speak(w io.Writer, err error) {
	var f *failure
	if err == nil || errors.As(err, &f) && f.silent {
		return
	}
	var problems runbook.Problems
	if errors.As(err, &problems) {
		speakProblems(w, problems)
		return
	}
	sayError(w, err.Error())
	sayHint(w, hintOf(err))
}

func speakProblems(w io.Writer, problems runbook.Problems) {
	for _, p := range problems {
		sayError(w, p.String())
		sayHint(w, p.Hint)
	}
}

func hintOf(err error) string {
	var f *failure
	if errors.As(err, &f) && f.hint != "" {
		return f.hint
	}
	var h hinter
	if errors.As(err, &h) {
		return h.WayOut()
	}
	return ""
}

func sayError(w io.Writer, text string)   { say(w, "error: ", text) }
func sayWarning(w io.Writer, text string) { say(w, "warning: ", text) }

// sayHint writes the way out. It may hold a command to be pasted, so nothing breaks it.
func sayHint(w io.Writer, text string) {
	if text != "" {
		fmt.Fprintf(w, "rewarm: hint: %s\n", joinLines(text))
	}
}

// say writes one line; text of several lines is put on one.
func say(w io.Writer, label, text string) {
	fmt.Fprintln(w, wrap(printable("rewarm: "+label+joinLines(text)), columnsOf(w), hang))
}

// sayBlock writes a line, and set in below it what belongs to it, a row each.
func sayBlock(w io.Writer, text string, rows ...string) {
	say(w, "", text)
	for i, row := range rows {
		rows[i] = strings.Repeat(" ", hang) + oneLine(row)
	}
	fmt.Fprint(w, wrapRows(rows, columnsOf(w)))
}

func joinLines(text string) string { return strings.ReplaceAll(strings.TrimSpace(text), "\n", "; ") }
