package actions

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/rewarm/rewarm/actions/controls"
)

// peer is a server that was asked: its name in sentences, and the secrets that it was told and may repeat.
type peer struct {
	name    string
	secrets []string // those that hold others come first
}

func peerOf(t controls.Target, name string) peer {
	p := peer{name: name}
	for _, secret := range []string{t.Password, t.SentinelPassword} {
		if secret != "" {
			quoted := strconv.Quote(secret) // as the client's errors repeat an answer
			p.secrets = append(p.secrets, secret, quoted[1:len(quoted)-1])
		}
	}
	slices.SortFunc(p.secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return p
}

// conceal takes the secrets out of a text of the server, which must not have been cut or escaped yet.
func (p peer) conceal(text string) string {
	for _, secret := range p.secrets {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return text
}
