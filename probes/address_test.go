package probes

import (
	"strings"
	"testing"
)

func TestAddresses(t *testing.T) {
	for _, test := range []struct{ in, shown, wrong string }{
		{in: "http://h:9090", shown: "http://h:9090"},
		{in: "http://h:9090/", shown: "http://h:9090"},
		{in: "http://h//", shown: "http://h"},
		{in: "http://h/prom", shown: "http://h/prom"},
		{in: "http://h//prom//", shown: "http://h/prom"},
		{in: "https://h/v1/projects/p/location/global/prometheus", shown: "https://h/v1/projects/p/location/global/prometheus"},
		{in: "https://k8s/api/v1/namespaces/m/services/prometheus:9090/proxy", shown: "https://k8s/api/v1/namespaces/m/services/prometheus:9090/proxy"},
		{in: "http://me:hunter2@h/prom?tenant=hunter2", shown: "http://h/prom"},
		{in: "http://[::1]:9090", shown: "http://[::1]:9090"},

		{in: "", wrong: "no prometheus address"},
		{in: "localhost:9090", wrong: "does not begin with http:// or https://"},
		{in: "prom", wrong: "does not begin with http:// or https://"},
		{in: "me:hunter2@prom:9090", wrong: `"prom:9090" does not begin`},
		{in: "ftp://h", wrong: "does not begin with http:// or https://"},
		{in: "http://h:9090 ", wrong: "space or a control character"},
		{in: "http://h\x1b[2J:9090", wrong: "space or a control character"},
		{in: "http://", wrong: "names no host"},
		{in: "http://:9090", wrong: "names no host"},
		{in: "http://me:hunter2@h:port", wrong: "does not begin with"},
		{in: "http://h/graph", wrong: "the part before it, http://h"},
		{in: "http://h/prom/classic/graph", wrong: "the part before it, http://h/prom"},
		{in: "http://h/prom/api/v1", wrong: "the part before it, http://h/prom"},
		{in: "http://h/prom/api/v1/query/", wrong: "the part before it, http://h/prom"},
		{in: "http://h/#frag", wrong: "fragment"},
		{in: "http://me:hunter2@h/graph?token=hunter2", wrong: "the part before it, http://h"},
	} {
		u, err := parseAddress(test.in)
		if test.wrong == "" {
			if err != nil || shownURL(u) != test.shown {
				t.Errorf("%q: got %v and %v, want %s", test.in, u, err, test.shown)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%q: got error %v, want %q in it", test.in, err, test.wrong)
			continue
		}
		if text := err.Error(); strings.Contains(text, "hunter2") || strings.ContainsAny(text, "\x1b") {
			t.Errorf("%q: the error repeats what it must not: %s", test.in, text)
		}
	}
}

func TestAddressKeepsItsPrefixAndItsUser(t *testing.T) {
	u, err := parseAddress("http://me:hunter2@h//prom/")
	if err != nil || u.Path != "/prom" || u.User.Username() != "me" {
		t.Errorf("%v %v", u, err)
	}
}
