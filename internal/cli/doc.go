// Package cli is the command line of rewarm: its commands, exit codes, streams,
// the real clock, the driver that walks a runbook, and the plain and JSON printers.
//
// # How a command is built
//
// Main builds a program from the streams and the environment, hands the arguments
// to cobra, and turns the error that comes back into an exit code in one place
// (exit.go) and into speech in one place (speech.go). A command's file holds its
// flags and one run function; the run function gets its settings resolved (flag,
// then REWARM_ variable, then profile, then default) and works on values.
//
// # Speech
//
// Results go to standard output. Everything else goes to standard error:
//
//	rewarm: error: runbook.yaml:12:7: unknown key "timout"
//	rewarm: hint: did you mean timeout?
//
// Both streams pass through a writer that makes control characters, escape
// sequences and direction overrides visible, so nothing that came from outside can
// reach a terminal raw. The escapes it writes are those of JSON, so that records
// stay records.
//
// # The driver
//
// One goroutine drives the step machine of a walk (drive.go). It asks for the next
// move again and again, sleeps when the machine says until when, and hands over
// what has come in meanwhile: typed lines, outcomes of calls, signals. Those come
// through one mailbox; nothing else touches the machine. The mirror in Redis is
// written by a goroutine of its own, which a walk never waits for.
//
// # Persons
//
// A walk listens to a person only when standard input is a terminal. Lines that
// were typed before a question appeared, and lines that came in one burst, never
// approve anything: `yes | rewarm run` approves nothing. A question ends with the words
// that count, and a word that does not is answered with them (question.go). While a question
// takes any text, a line that may be its answer or an order is asked back (prompt.go). Lines break at
// the terminal's width between words (wrap.go); in a file a line stays one line.
package cli
