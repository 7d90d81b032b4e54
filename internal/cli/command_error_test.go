package cli

import (
	"errors"
	"strings"
	"testing"

	"github.com/rewarm/rewarm/actions"
)

// Only a Redis that has not answered is taken for a wrong address.
func TestNeverAnswered(t *testing.T) {
	for cause, want := range map[actions.Cause]bool{
		actions.Unreachable: true, actions.NoAnswer: true, actions.NotRedis: true, actions.NoDatabase: true,
		actions.Loading: false, actions.ReadOnly: false, actions.Misconf: false, actions.Interrupted: false,
	} {
		err := neverAnswered(&actions.Failure{Cause: cause, Hint: "see the address"})
		var told *failure
		got := errors.As(err, &told) && codeOf(err) == exitError && strings.HasSuffix(told.hint, "--redis-lost walks all the same")
		if got != want || (err != nil) != want {
			t.Errorf("%s: %v", cause, err)
		}
	}
}

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
