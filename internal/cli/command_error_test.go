package cli

import (
	"errors"
	"testing"

	"github.com/rewarm/rewarm/actions"
)

// A walk that cannot begin says what to do about it, not only what Redis answered.
func TestCommandErrorsHaveAWayOut(t *testing.T) {
	for _, test := range []struct {
		name string
		err  error
		code exitCode
		hint bool
	}{
		{"another commander", &actions.Commanded{Run: "20261129T100801Z-a-7f3a"}, exitCommanded, true},
		{"a password is wanted", &actions.Failure{Cause: actions.NoAuth, Sentence: "redis wants a password", Hint: "give it"}, exitError, true},
		{"nothing to advise", &actions.Failure{Cause: actions.WrongType, Sentence: "redis refuses"}, exitError, false},
		{"something else", errors.New("no"), exitError, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := commandError(test.err)
			var told *failure
			hinted := errors.As(err, &told) && told.hint != ""
			if codeOf(err) != test.code || hinted != test.hint || !errors.Is(err, test.err) {
				t.Errorf("commandError(%v) = %v, exit code %d, hint %t", test.err, err, codeOf(err), hinted)
			}
		})
	}
}
