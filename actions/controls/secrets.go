package controls

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Secrets are what servers of Redis were told and may repeat in their words; those that hold others come first.
type Secrets []string

// Secrets gives what the servers of a target are told, also as the client's errors quote it.
func (t Target) Secrets() Secrets {
	var secrets Secrets
	for _, secret := range []string{t.Password, t.SentinelPassword} {
		if secret != "" {
			quoted := strconv.Quote(secret)
			secrets = append(secrets, secret, quoted[1:len(quoted)-1])
		}
	}
	return secrets.And(nil)
}

// And gives these secrets and others.
func (s Secrets) And(others Secrets) Secrets {
	all := slices.Concat(s, others)
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b)) })
	return slices.Compact(all)
}

// Conceal takes the secrets out of a text, which must not have been cut or escaped yet.
func (s Secrets) Conceal(text string) string {
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret, "***")
	}
	return text
}
