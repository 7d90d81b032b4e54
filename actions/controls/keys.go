package controls

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

var servicePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`) })

// KeyNames are the keys of one service. The braces in them are literal: Redis
// Cluster then keeps all of them in one slot, so that one script may use them
// together.
type KeyNames struct {
	Controls  string // hash: control to value
	Meta      string // hash: control to Meta as JSON
	Changes   string // stream: one entry a flip
	Commander string // hash: who alone may flip
	Fence     string // counter: raised each time the command is taken
	Version   string // counter: raised at each flip
	Check     string // never there: the preflight check writes it and deletes it again
	GameDay   string // hash: that game days may break this service, and under which name
	prefix    string
}

// Keys gives the key names of a service. It does not check the service's name;
// CheckService does.
func Keys(service string) KeyNames {
	prefix := "rewarm:{" + service + "}:"
	return KeyNames{
		Controls:  prefix + "controls",
		Meta:      prefix + "meta",
		Changes:   prefix + "changes",
		Commander: prefix + "commander",
		Fence:     prefix + "fence",
		Version:   prefix + "version",
		Check:     prefix + "check",
		GameDay:   prefix + "gameday",
		prefix:    prefix,
	}
}

// Log is the stream that mirrors the records of a run.
func (k KeyNames) Log(run string) string { return k.prefix + "log:" + run }

// AnyLog matches the mirrors of all runs of all services, as a pattern of Redis.
const AnyLog = "rewarm:{*}:log:*"

// ParseLog takes the key of a mirror apart.
func ParseLog(key string) (service, run string, ok bool) {
	rest, ok := strings.CutPrefix(key, "rewarm:{")
	service, run, found := strings.Cut(rest, "}:log:")
	return service, run, ok && found && run != "" && CheckService(service) == nil
}

// AnyControls matches the controls of all services, as a pattern of Redis.
const AnyControls = "rewarm:{*}:controls"

// ParseControls gives the service of which a key has the controls.
func ParseControls(key string) (service string, ok bool) {
	rest, ours := strings.CutPrefix(key, "rewarm:{")
	service, ends := strings.CutSuffix(rest, "}:controls")
	return service, ours && ends && CheckService(service) == nil
}

// Inbox is the stream of approvals and orders that reach a run from elsewhere.
func (k KeyNames) Inbox(run string) string { return k.prefix + "inbox:" + run }

// Answers is the stream in which a run says what became of the orders in its inbox.
func (k KeyNames) Answers(run string) string { return k.prefix + "answers:" + run }

// Approvals is the stream that only this user may append to.
func (k KeyNames) Approvals(user string) string { return k.prefix + "approvals:" + user }

// CheckService refuses a service name that cannot stand in a key.
func CheckService(service string) error {
	if servicePattern().MatchString(service) {
		return nil
	}
	return fmt.Errorf("service name %s: use 1 to 63 of a-z, 0-9 and -, not starting with -", strconv.Quote(service))
}
