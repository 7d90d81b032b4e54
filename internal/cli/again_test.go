package cli

import (
	"bytes"
	"strings"
	"testing"
)

// TestCommandsThatCanBePasted: what a person is told to run next finds the same servers
// and logs, and has no password in it.
func TestCommandsThatCanBePasted(t *testing.T) {
	const run = "20261129T100801Z-book-0001"
	tests := []struct {
		name, words string
		args        []string
		want        string
		secrets     bool
	}{
		{"nothing given", "resume", nil, "rewarm resume RUN", false},
		{"a state directory", "status", []string{"--state-dir", "/var/my runs", "--redis", "redis://h:1"}, "rewarm status RUN --state-dir '/var/my runs'", false},
		{"servers", "resume", []string{"--redis", "redis://op:s3cr3t@h:1/0?addr=b:2&cluster=true", "--prometheus", "http://p:9090", "--state-dir", "s"},
			"rewarm resume RUN --prometheus http://p:9090 --redis 'redis://op@h:1/0?addr=b:2&cluster=true' --state-dir s", true},
		{"a password alone", "resume", []string{"--redis", "redis://:s3cr3t@h:1"}, "rewarm resume RUN --redis redis://h:1", true},
		{"sentinel's password", "resume", []string{"--redis", "redis://h:1?master_name=m&sentinel_password=s3cr3t"}, "rewarm resume RUN --redis 'redis://h:1?master_name=m'", true},
		{"only what another command needs", "resume", []string{"--approve", "auto", "--output", "json"}, "rewarm resume RUN --approve auto", false},
		{"a quote", "status", []string{"--state-dir", "it's"}, `rewarm status RUN --state-dir 'it'\''s'`, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			p := newProgram(strings.NewReader(""), &out, &out, madeUp(map[string]string{"REWARM_LOG_FILE": "", "REWARM_SET": "cell=cell-a"}))
			if code := p.run(append([]string{"version"}, test.args...)); code != 0 {
				t.Fatal(out.String())
			}
			if got, want := p.command(test.words, run), strings.ReplaceAll(test.want, "RUN", run); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if got := p.settings.secretsGiven(); got != test.secrets {
				t.Errorf("a password was given: %v", got)
			}
		})
	}
}
