package runbook

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first used: a start of the
// program that reads no runbook does not pay for it.
type pattern func() *regexp.Regexp

func lazily(text string) pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// MatchString reports whether the text has a match.
func (p pattern) MatchString(text string) bool { return p().MatchString(text) }
