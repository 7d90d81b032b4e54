package actions

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rewarm/rewarm/actions/controls"
)

// peer is a server that was asked: its name in sentences, and the secrets that it was told and may repeat.
type peer struct {
	name    string
	secrets []string // those that hold others come first
}

func peerOf(t controls.Target, name string) peer { return peer{name: name, secrets: secretsOf(t)} }

// secretsOf gives what the servers of a target are told, also as the client's errors quote it.
func secretsOf(t controls.Target) []string {
	var secrets []string
	for _, secret := range []string{t.Password, t.SentinelPassword} {
		if secret != "" {
			quoted := strconv.Quote(secret)
			secrets = append(secrets, secret, quoted[1:len(quoted)-1])
		}
	}
	return longestFirst(secrets)
}

func longestFirst(secrets []string) []string {
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	return slices.Compact(secrets)
}

// conceal takes the secrets out of a text of the server, which must not have been cut or escaped yet.
func (p peer) conceal(text string) string { return concealed(text, p.secrets) }

func concealed(text string, secrets []string) string {
	for _, secret := range secrets {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return text
}

// told has the secrets of every target of this process: the client has one log, which does not say whose words it
// repeats.
var told toldSecrets

type toldSecrets struct {
	mu      sync.Mutex
	secrets []string // those that hold others come first
}

func (t *toldSecrets) add(target controls.Target) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.secrets = longestFirst(append(t.secrets, secretsOf(target)...))
}

func (t *toldSecrets) conceal(text string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return concealed(text, t.secrets)
}
