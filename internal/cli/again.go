package cli

import (
	"net/url"
	"slices"
	"strings"
)

// againFlags are the flags that a later command needs to find the same things: those of
// every command, and those of one that asks the servers.
var (
	againFlags     = []string{"emergency-log", "profile", "state-dir"}
	againWalkFlags = []string{"approve", "log-file", "metrics-listen", "notify", "prometheus", "prometheus-config",
		"redis", "redis-config"}
)

// command spells a command about a run as it can be typed now: with the flags that this
// process was given, and without the passwords in them. What came from the environment
// will come from there again.
func (p *program) command(words, run string) string {
	s := &p.settings
	values := map[string]string{
		"approve": s.approve, "emergency-log": s.emergencyLog, "log-file": s.logFile, "metrics-listen": s.metricsListen,
		"notify": s.notify, "profile": s.profile,
		"prometheus": withoutPassword(s.prometheus), "prometheus-config": s.prometheusConfig,
		"redis": withoutPassword(s.redis), "redis-config": s.redisConfig, "state-dir": s.stateDir,
	}
	text := "rewarm " + words + " " + run
	asks := words == "resume" || words == "run" || words == "gameday run" || strings.HasPrefix(words, "controls ")
	for _, flag := range s.flagged {
		if slices.Contains(againFlags, flag) || asks && slices.Contains(againWalkFlags, flag) {
			text += " --" + flag + " " + shellWord(values[flag])
		}
	}
	return text
}

// withoutPassword gives a URL without what must not be on a screen.
func withoutPassword(address string) string {
	stripped, _ := stripPassword(address)
	return stripped
}

// stripPassword also reports whether there was one: before the host, or in the query as
// Redis' URLs have it for Sentinel.
func stripPassword(address string) (stripped string, had bool) {
	u, err := url.Parse(address)
	if err != nil {
		return "", false
	}
	if _, had = u.User.Password(); had {
		user := u.User.Username()
		if u.User = url.User(user); user == "" {
			u.User = nil
		}
	}
	query := u.Query()
	for key := range query {
		if strings.Contains(key, "password") {
			query.Del(key)
			u.RawQuery, had = query.Encode(), true
		}
	}
	return u.String(), had
}

// secretsGiven reports whether a URL on the command line had a password.
func (s *settings) secretsGiven() bool {
	for flag, address := range map[string]string{"prometheus": s.prometheus, "redis": s.redis} {
		if _, had := stripPassword(address); had && slices.Contains(s.flagged, flag) {
			return true
		}
	}
	return false
}

// plainInShell are the characters that no shell takes for anything else.
const plainInShell = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_"

// shellWord quotes a word where a shell would take it apart.
func shellWord(word string) string {
	if word != "" && strings.Trim(word, plainInShell) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
