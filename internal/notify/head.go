package notify

import (
	"strings"

	"github.com/rewarm/rewarm/audit"
)

// readHead gives the head in a signed note and who signed it, as words; nothing for what is none. Whoever gets the
// message checks the signature; here it was just made.
func readHead(signed string) (head, by string) {
	text, signature, _ := strings.Cut(signed, "\n\n")
	lines := strings.Split(text, "\n")
	if len(lines) < 4 {
		return "", ""
	}
	parsed, err := audit.ParseHead(lines[2] + "/" + lines[3])
	if err != nil {
		return "", ""
	}
	if words := strings.Fields(signature); len(words) > 1 {
		by = ", signed by " + words[1]
	}
	return parsed.String(), by
}
