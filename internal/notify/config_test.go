package notify

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

// kept are the secrets of the tests.
var kept = Secrets{
	File: func(name string) ([]byte, error) {
		switch name {
		case "slack-url":
			return []byte("https://hooks.slack.example/services/T0SECRET\r\n"), nil
		case "two-lines":
			return []byte("tokenSecret\nmore\n"), nil
		case "bare":
			return []byte("hooks.slack.example/T0SECRET"), nil
		}
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	},
	Env: func(name string) string { return map[string]string{"TOKEN": "tokenSecret"}[name] },
}

func TestReceiversAreRead(t *testing.T) {
	list, err := Parse("notify.yaml", []byte(`
receivers:
  - {name: incident, kind: slack, url_file: slack-url, events: [hold, closed]}
  - name: bus
    kind: webhook
    url: http://127.0.0.1:9/in?x=1
    token_env: TOKEN
  - {name: plots, kind: grafana, url: https://grafana.example/sub, dashboard: abc, panel: 2, tags: [prod]}
`), kept)
	if err != nil {
		t.Fatal(err)
	}
	want := `incident: slack at hooks.slack.example [hold closed] "" "" 0 [] https://hooks.slack.example/services/T0SECRET
bus: webhook at 127.0.0.1:9 [] "tokenSecret" "" 0 [] http://127.0.0.1:9/in?x=1
plots: grafana at grafana.example [] "" "abc" 2 [prod] https://grafana.example/sub/api/annotations
`
	var got strings.Builder
	for _, r := range list {
		fmt.Fprintf(&got, "%s: %s %v %q %q %d %v %s\n", r.Name, r.Place(), r.Events, r.token, r.Dashboard, r.Panel, r.Tags, target(r, formats[r.Kind]))
	}
	if got.String() != want {
		t.Errorf("read:\n%s", &got)
	}
}

// TestReceiversAreReadStrictly: what is wrong has its place, and no line of a file that may hold secrets is repeated.
func TestReceiversAreReadStrictly(t *testing.T) {
	const slack = "receivers:\n  - {name: a, kind: slack, url_file: slack-url}\n"
	for _, test := range []struct{ name, file, wants string }{
		{"empty", "", "notify.yaml:1:1: the file has no receivers"},
		{"no list", "receivers: []\n", "notify.yaml:1:1: the file has no receivers"},
		{"unknown key", slack + "    \nretries: 3\n", `notify.yaml:4:1: unknown field "retries"`},
		{"unknown key of a receiver", "receivers:\n  - {name: a, kind: slack, adress: tokenSecret}\n", `notify.yaml:2:28: unknown field "adress"`},
		{"twice", "receivers:\n  - name: a\n    kind: slack\n    name: b\n", `notify.yaml:4:5: mapping key "name" already defined at [2:5]`},
		{"wrong kind of value", "receivers: tokenSecret\n", "notify.yaml:1:12: "},
		{"broken", "receivers: [\n", "notify.yaml:1:12: "},
		{"second document", slack + "---\nreceivers: []\n", "notify.yaml:1:1: a second document begins after ---, or the first has something behind it"},
		{"no name", "receivers:\n  - {kind: slack, url_file: slack-url}\n", "notify.yaml:2:12: the receiver has no name that can be used"},
		{"bad name", "receivers:\n  - {name: A b, kind: slack, url_file: slack-url}\n", "notify.yaml:2:12: the receiver has no name that can be used"},
		{"same name", slack + "  - {name: a, kind: webhook, url: https://x}\n", "notify.yaml:3:12: two receivers are called a"},
		{"no kind", "receivers:\n  - {name: a, url_file: slack-url}\n", `notify.yaml:2:12: "" is no kind of receiver`},
		{"unknown kind", "receivers:\n  - {name: a, kind: pager, url_file: slack-url}\n", `notify.yaml:2:21: "pager" is no kind of receiver`},
		{"no address", "receivers:\n  - {name: a, kind: slack}\n", "notify.yaml:2:12: the receiver has 0 addresses, it needs one"},
		{"two addresses", "receivers:\n  - {name: a, kind: slack, url: https://x, url_file: slack-url}\n", "notify.yaml:2:12: the receiver has 2 addresses, it needs one"},
		{"no scheme", "receivers:\n  - {name: a, kind: slack, url: hooks.example/tokenSecret}\n", "notify.yaml:2:33: the address does not begin with https:// or http:// and a host"},
		{"another scheme", "receivers:\n  - {name: a, kind: slack, url: file:///tokenSecret}\n", "notify.yaml:2:33: the address does not begin with https:// or http:// and a host"},
		{"no scheme in a file", "receivers:\n  - {name: a, kind: slack, url_file: bare}\n", "notify.yaml:2:38: the address does not begin with https:// or http:// and a host"},
		{"password", "receivers:\n  - {name: a, kind: slack, url: 'https://op:passw0rd@x/'}\n", "notify.yaml:2:33: the address holds a password"},
		{"no file", "receivers:\n  - {name: a, kind: slack, url_file: gone}\n", "notify.yaml:2:38: url_file: open gone: file does not exist"},
		{"no variable", "receivers:\n  - {name: a, kind: slack, url_env: GONE}\n", "notify.yaml:2:37: the environment variable is empty"},
		{"two tokens", "receivers:\n  - {name: a, kind: webhook, url: https://x, token_env: TOKEN, token_file: two-lines}\n", "notify.yaml:2:57: both token_file and token_env are given"},
		{"token of two lines", "receivers:\n  - {name: a, kind: webhook, url: https://x, token_file: two-lines}\n", "notify.yaml:2:58: the file holds more than one line, or control characters"},
		{"unknown event", "receivers:\n  - {name: a, kind: webhook, url: https://x, events: [hold, flips]}\n", `notify.yaml:2:61: "flips" is no event`},
		{"grafana's key", "receivers:\n  - {name: a, kind: webhook, url: https://x, tags: [prod]}\n", "notify.yaml:2:53: tags is for grafana alone"},
		{"panel alone", "receivers:\n  - {name: a, kind: grafana, url: https://x, panel: 3}\n", "notify.yaml:2:53: a panel belongs to a dashboard"},
		{"several", "receivers:\n  - {name: a, kind: pager}\n  - {kind: slack}\n",
			"notify.yaml:2:12: the receiver has 0 addresses, it needs one\nnotify.yaml:2:21: \"pager\" is no kind of receiver\n" +
				"notify.yaml:3:12: the receiver has no name that can be used\nnotify.yaml:3:12: the receiver has 0 addresses, it needs one"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Parse("notify.yaml", []byte(test.file), kept)
			if err == nil {
				t.Fatal("it is taken")
			}
			got := withoutHints(err)
			if got != test.wants && !(strings.HasSuffix(test.wants, ": ") && strings.HasPrefix(got, test.wants)) {
				t.Errorf("got  %s\nwant %s", got, test.wants)
			}
			if strings.Contains(err.Error(), "Secret") || strings.Contains(err.Error(), "passw0rd") {
				t.Errorf("a secret is repeated: %s", err)
			}
		})
	}
}

// withoutHints cuts the ways out, which stand in brackets at the ends of lines.
func withoutHints(err error) string {
	var lines []string
	for line := range strings.Lines(err.Error()) {
		message, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " (")
		lines = append(lines, message)
	}
	return strings.Join(lines, "\n")
}

// FuzzParse: no file makes it fail otherwise than by an error, and what is taken can be delivered to.
func FuzzParse(f *testing.F) {
	f.Add([]byte("receivers:\n  - {name: a, kind: slack, url_file: slack-url}\n"))
	f.Add([]byte("receivers: [{name: a, kind: grafana, url: 'https://x', panel: 1, dashboard: d, tags: [x], events: [hold]}]"))
	f.Add([]byte("receivers: [null, {}, 3]"))
	f.Fuzz(func(t *testing.T, source []byte) {
		list, err := Parse("f", source, kept)
		if err != nil {
			return
		}
		for _, r := range list {
			if r.address.Host == "" || formats[r.Kind].write == nil || len(list) == 0 {
				t.Errorf("taken: %+v", r)
			}
		}
	})
}
