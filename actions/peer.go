package actions

import (
	"sync"

	"github.com/rewarm/rewarm/actions/controls"
)

// peer is a server that was asked: its name in sentences, and the secrets that it was told and may repeat.
type peer struct {
	name    string
	secrets controls.Secrets
	read    bool // it was asked for what it holds, and told to change nothing
}

func peerOf(t controls.Target, name string, read bool) peer {
	return peer{name: name, secrets: t.Secrets(), read: read}
}

// unknown is the way out where nobody knows what became of a request.
func (p peer) unknown(see, write string) string {
	if p.read {
		return see + "; it was only to be read, and nothing has changed by that"
	}
	return write
}

// conceal takes the secrets out of a text of the server, which must not have been cut or escaped yet.
func (p peer) conceal(text string) string { return p.secrets.Conceal(text) }

// told has the secrets of every target of this process: the client has one log, which does not say whose words it
// repeats.
var told toldSecrets

type toldSecrets struct {
	mu      sync.Mutex
	secrets controls.Secrets
}

func (t *toldSecrets) add(target controls.Target) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.secrets = t.secrets.And(target.Secrets())
}

func (t *toldSecrets) conceal(text string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.secrets.Conceal(text)
}
