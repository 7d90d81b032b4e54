package cli

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/rewarm/rewarm/runbook"
)

// The flags that a later command needs to find the same things: those of every command, those of one that looks at or
// sets controls, and those of one that walks.
var (
	againFlags         = []string{"emergency-log", "profile", "state-dir"}
	againControlsFlags = []string{"log-file", "redis", "redis-config"}
	againWalkFlags     = []string{"approve", "log-file", "metrics-listen", "notify", "prometheus", "prometheus-config",
		"redis", "redis-config"}
)

// command spells a command about a run, or another thing, as it can be typed now: with the flags that this process was
// given, and without the passwords in them. What came from the environment will come from there again, and a command
// about a run finds the servers in its log; any other is told those that came from there.
func (p *program) command(words, about string) string {
	s := &p.settings
	needs, given := againFlags, s.flagged
	switch {
	case words == "run":
		needs, given = slices.Concat(needs, againWalkFlags), slices.Concat(given, s.learned)
	case words == "resume", words == "gameday run":
		needs = slices.Concat(needs, againWalkFlags)
	case strings.HasPrefix(words, "controls "):
		needs, given = slices.Concat(needs, againControlsFlags), slices.Concat(given, s.learned)
	}
	return s.spelled(words, about, needs, given)
}

// elsewhereCommand spells a command about a run that is found by its service, as one of another machine is.
func (p *program) elsewhereCommand(words, run, service string) string {
	s := &p.settings
	return s.spelled(words, run+" --service "+shellWord(service), slices.Concat(againFlags, againControlsFlags), s.flagged)
}

// spelled adds to a command those of the flags given that it needs, with their values.
func (s *settings) spelled(words, about string, needs, given []string) string {
	values := map[string]string{
		"approve": s.approve, "emergency-log": s.emergencyLog, "log-file": s.logFile, "metrics-listen": s.metricsListen,
		"notify": s.notify, "profile": s.profile,
		"prometheus": withoutPassword(s.prometheus), "prometheus-config": s.prometheusConfig,
		"redis": withoutPassword(s.redis), "redis-config": s.redisConfig, "state-dir": s.stateDir,
	}
	text := "rewarm " + words + " " + about
	for _, flag := range given {
		if slices.Contains(needs, flag) {
			text += " --" + flag + " " + shellWord(values[flag])
		}
	}
	return text
}

// bookCommand spells a command about a runbook as it was opened, with the parameters that are not the runbook's own.
func (p *program) bookCommand(words, file string, source []byte, parameters map[string]string) string {
	text := p.command(words, shellWord(typedBook(file)))
	own := map[string]string{}
	if doc, _ := runbook.Parse(file, source, nil); doc != nil {
		own = parameterValues(doc)
	}
	for _, name := range slices.Sorted(maps.Keys(parameters)) {
		if value, has := own[name]; !has || value != parameters[name] {
			text += " --set " + shellWord(name+"="+parameters[name])
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
