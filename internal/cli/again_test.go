package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/rewarm/rewarm/steps"
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
		{"a control", "controls get", []string{"--redis", "redis://h:1", "--approve", "auto"}, "rewarm controls get RUN --redis redis://h:1", false},
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

// TestCommandsFromALog: a run says in its log where its servers are, and any other command than one about it is told.
func TestCommandsFromALog(t *testing.T) {
	p := newProgram(strings.NewReader(""), io.Discard, io.Discard, madeUp(nil))
	p.fromLog(steps.Begun{Prometheus: "http://p:9090", Redis: "redis://h:1"})
	for words, want := range map[string]string{
		"run":          "rewarm run it --prometheus http://p:9090 --redis redis://h:1",
		"controls set": "rewarm controls set it --redis redis://h:1",
		"resume":       "rewarm resume it",
		"status":       "rewarm status it",
	} {
		if got := p.command(words, "it"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestRunbooksThatCanBeTyped: a bundled runbook is no file outside a clone, and its parameters are those of the walk.
func TestRunbooksThatCanBeTyped(t *testing.T) {
	file, source, err := readBook(bundledBook)
	if err != nil {
		t.Fatal(err)
	}
	p := newProgram(strings.NewReader(""), io.Discard, io.Discard, madeUp(nil))
	for _, test := range []struct {
		file, cell, want string
	}{
		{file, "cell-c", "rewarm run hot-key-collapse"},
		{file, "cell a", "rewarm run hot-key-collapse --set 'cell=cell a'"},
		{"templates/runbooks/mine.yaml", "cell-c", "rewarm run templates/runbooks/mine.yaml"},
		{"hot-key-collapse.yaml", "cell-c", "rewarm run hot-key-collapse.yaml"},
	} {
		if got := p.bookCommand("run", test.file, source, map[string]string{"cell": test.cell}); got != test.want {
			t.Errorf("%s: got %s, want %s", test.file, got, test.want)
		}
	}
}
