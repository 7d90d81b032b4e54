package probes

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"unicode"
)

// pageOrEndpoint finds the ends of addresses that people copy from a browser or a
// script: a page of the web interface, or an endpoint below the part that is wanted.
// Only the end counts: a proxy may well have /api/v1/ in the middle of its path.
var pageOrEndpoint = regexp.MustCompile(`(/classic)?/(graph|alerts|targets|rules|query)$|/api/v1(/[a-z_/]*)?$`)

var slashes = regexp.MustCompile(`/{2,}`)

// parseAddress reads the address of a Prometheus, the part before /api/v1. No error
// repeats a user or a password.
func parseAddress(raw string) (*url.URL, error) {
	if raw == "" {
		return nil, errors.New("no prometheus address given: it looks like http://prometheus.example:9090")
	}
	shown := printable(withoutUser(raw), longestText)
	if strings.ContainsFunc(raw, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		return nil, fmt.Errorf("prometheus address %q has a space or a control character in it: remove it", shown)
	}
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("prometheus address %q does not begin with http:// or https:// and a host: write it as http://prometheus.example:9090", shown)
	}
	if u.Hostname() == "" {
		return nil, fmt.Errorf("prometheus address %q names no host: write it as http://prometheus.example:9090", shown)
	}
	if u.Fragment != "" {
		return nil, fmt.Errorf("prometheus address %q has a fragment: leave out everything from # on", shown)
	}
	u.Path = strings.TrimRight(slashes.ReplaceAllString(u.Path, "/"), "/")
	u.RawPath = ""
	if end := pageOrEndpoint.FindString(u.Path); end != "" {
		base := *u
		base.Path = strings.TrimSuffix(u.Path, end)
		return nil, fmt.Errorf("prometheus address %q ends in %q: give the part before it, %s", shown, end, shownURL(&base))
	}
	return u, nil
}

// withoutUser drops everything up to the last @ of the authority, whether or not the
// rest parses, and the query, which may carry a token.
func withoutUser(raw string) string {
	raw, _, _ = strings.Cut(raw, "?")
	scheme, rest, found := strings.Cut(raw, "://")
	if !found {
		scheme, rest = "", raw
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = rest[at+1:]
	}
	if !found {
		return rest
	}
	return scheme + "://" + rest
}

// shownURL is an address as it may appear in messages: no user, no password, no query.
func shownURL(u *url.URL) string {
	bare := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	return printable(bare.String(), longestText)
}
