package cli

import "io"

// person is who a walk can ask and hear: a terminal in lines, or the console.
type person interface {
	// listen posts what the person says, until nobody can be heard any more.
	listen(post func(mail))
	// ask says that a question appears, and gives the number up to which lines were begun before it.
	ask() uint64
	// shows reports whether questions are on the screen already.
	shows() bool
	// unsent is a line that was begun and not sent; the zero line where nobody can know it.
	unsent() typedLine
	// interrupts gives the interrupts that come as keys, not as signals; nil when none do.
	interrupts() <-chan string
	// out is where the person is told what happens beside the records, answers where they are answered; nil for standard
	// error.
	out() io.Writer
	answers() io.Writer
	// opens shows a text in full; false where the person reads lines.
	opens(title, text string) bool
	// leave gives the terminal back.
	leave()
}

func (t *terminal) shows() bool               { return false }
func (t *terminal) unsent() typedLine         { return typedLine{} } // the system keeps it
func (t *terminal) interrupts() <-chan string { return nil }
func (t *terminal) out() io.Writer            { return nil }
func (t *terminal) answers() io.Writer        { return nil }
func (t *terminal) opens(string, string) bool { return false }
func (t *terminal) leave()                    {}

// awaitStop waits for a walk's end, or for somebody who asks it to stop: then stopped says how.
func awaitStop(done <-chan error, signals, keys <-chan string) (stopped string, err error) {
	select {
	case err = <-done:
	case stopped = <-signals:
	case stopped = <-keys:
	}
	return stopped, err
}
