package actions

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestASecretThatIsRepeated: a server was told the password, and its words get to screen and log.
func TestASecretThatIsRepeated(t *testing.T) {
	const inURL = "s3cr%22t%2Fbad"
	for _, test := range []struct{ name, url, reply string }{
		{"unknown error", "redis://op:" + inURL + "@a:1", "-ERR hostile s3cr\"t/bad\r\n"},
		{"known error", "redis://op:" + inURL + "@a:1", "-WRONGPASS no s3cr\"t/bad\r\n"},
		{"cut", "redis://op:" + inURL + "@a:1", "-WRONGPASS " + strings.Repeat("x", longestQuote-14) + "s3cr\"t/bad\r\n"},
		{"another protocol", "redis://op:" + inURL + "@a:1", "HTTP s3cr\"t/bad\r\n"},
		{"sentinel", "redis://op:" + inURL + "@a:1?master_name=m", "-ERR hostile s3cr\"t/bad\r\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			n := &node{t: t, answer: func([]string) string { return test.reply }}
			s := openStore(t, test.url, network{"a:1": n}.dial, time.Second)
			_, err := s.Survey(t.Context())
			o := s.Apply(t.Context(), someLease, somePlan, stamp)
			for _, text := range []string{err.Error(), o.Sentence, o.Hint} {
				if strings.Contains(text, "s3cr") {
					t.Errorf("a secret is told: %s", text)
				}
			}
			if !strings.Contains(err.Error(), "***") && test.name != "cut" {
				t.Errorf("nothing was taken out of: %v", err)
			}
		})
	}
}

// TestAQuestionHasNothingToSettle: who only asked a Redis that does not answer is not sent to find out what was written.
func TestAQuestionHasNothingToSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, reply := range []string{"", "-ERR of something in between\r\n"} {
			n := &node{t: t, answer: func([]string) string { return reply }}
			s := openStore(t, "redis://a:1", network{"a:1": n}.dial, time.Second)
			_, err := s.Survey(t.Context())
			if hint := fail(peer{}, err).Hint; strings.Contains(hint, "settle") || !strings.Contains(hint, "nothing has changed") {
				t.Errorf("answer %q: %v, hint %q", reply, err, hint)
			}
		}
	})
}
