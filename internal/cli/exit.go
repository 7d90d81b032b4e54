package cli

import (
	"context"
	"errors"

	"github.com/rewarm/rewarm/runbook"
)

// exitCode is what a process of rewarm ends with.
type exitCode int

// The exit codes. They are relied on from outside.
const (
	exitDone        exitCode = 0   // recovered, valid, nothing found
	exitError       exitCode = 1   // anything that is none of the others
	exitUsage       exitCode = 2   // bad usage, or a document that is not valid
	exitHeld        exitCode = 3   // held, timed out, over a limit, or findings
	exitAborted     exitCode = 4   // a person aborted the walk
	exitUnverified  exitCode = 5   // a log or evidence does not verify
	exitCommanded   exitCode = 6   // another run commands the service
	exitNotHeld     exitCode = 7   // an expectation of a game day did not hold
	exitInterrupted exitCode = 130 // a signal ended the walk
)

// failure is an error with the exit code it leads to and the way out.
type failure struct {
	code   exitCode
	err    error
	hint   string
	silent bool // everything that is to be said was said already
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// fail gives an error an exit code and a hint, which may be empty.
func fail(code exitCode, err error, hint string) error {
	return &failure{code: code, err: err, hint: hint}
}

// quiet ends with a code and says nothing more.
func quiet(code exitCode, err error) error {
	return &failure{code: code, err: err, silent: true}
}

// usage is a failure of the command line itself.
func usage(err error, hint string) error { return fail(exitUsage, err, hint) }

// codeOf decides the exit code of every error, here and nowhere else.
func codeOf(err error) exitCode {
	var f *failure
	var problems runbook.Problems
	switch {
	case err == nil:
		return exitDone
	case errors.As(err, &f):
		return f.code
	case errors.As(err, &problems):
		return exitUsage
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitError
}
