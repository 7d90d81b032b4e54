package cli

import (
	"context"
	"slices"
	"testing"
	"time"
)

// busy is a machine on which nobody reads the terminal until somebody waits for it.
type busy struct {
	wallClock
	reads func()
}

func (b busy) Wait(context.Context, time.Time) error { b.reads(); return nil }

// TestAQuestionLosesNoWholeLine: what was typed before a question is read, however late, and
// is no answer to it; only a line that was begun is dropped.
func TestAQuestionLosesNoWholeLine(t *testing.T) {
	master, slave := newTerminal(t)
	defer master.Close()
	defer slave.Close()
	typed := terminal{file: slave}
	var heard []string
	typed.clock = busy{reads: func() {
		lines, _, err := typed.lines(nil)
		if err != nil {
			t.Fatal(err)
		}
		heard = append(heard, lines...)
	}}
	if _, err := master.WriteString("abort it is something else\nappr"); err != nil {
		t.Fatal(err)
	}
	if last := typed.ask(); last != 1 || !slices.Equal(heard, []string{"abort it is something else"}) {
		t.Errorf("line %d is the last that is no answer, and %q was heard", last, heard)
	}
	if _, err := master.WriteString("hold\n"); err != nil {
		t.Fatal(err)
	}
	if lines, _, err := typed.lines(nil); err != nil || !slices.Equal(lines, []string{"hold"}) {
		t.Errorf("heard %q after the question: %v", lines, err)
	}
}
