package actions

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/rewarm/rewarm/actions/controls"
)

// Cause names why Redis was not read or written, for programs.
type Cause string

// The causes. Unreachable means that nothing was sent; NoAnswer that something
// was, and that nobody knows what became of it.
const (
	Unreachable  Cause = "unreachable"
	NoAnswer     Cause = "no-answer"
	NotRedis     Cause = "not-redis"
	Moved        Cause = "moved"        // the value is not the one that was planned on
	CommandLost  Cause = "command-lost" // this run does not command (any more)
	NotApplied   Cause = "not-applied"  // settled: it was not written and will not be
	ReadOnly     Cause = "read-only"
	NoReplicas   Cause = "no-replicas"
	Loading      Cause = "loading"
	Busy         Cause = "busy"
	Misconf      Cause = "misconf"
	OutOfMemory  Cause = "out-of-memory"
	NoAuth       Cause = "no-auth"
	WrongPass    Cause = "wrong-pass"
	NoPerm       Cause = "no-perm"
	ClusterDown  Cause = "cluster-down"
	TryAgain     Cause = "try-again"
	Redirected   Cause = "redirected" // more MOVED or ASK than make sense
	WrongType    Cause = "wrong-type"
	MaxClients   Cause = "max-clients"
	RefusedOther Cause = "refused" // an answer that this package does not know
)

// Failure is why Redis was not read or written, in words for a person. Its text
// holds no secrets and no raw bytes from outside.
type Failure struct {
	Cause    Cause
	Sentence string
	Hint     string        // the way out, "" when there is none to give
	Retry    time.Duration // when trying again makes sense without a person; 0 when it does not
	err      error
}

// Error gives the sentence.
func (f *Failure) Error() string { return f.Sentence }

// Unwrap gives the error underneath.
func (f *Failure) Unwrap() error { return f.err }

// answers are the errors that Redis itself gives, by their code. They say that
// nothing was done: the scripts read all that they need before they write, and
// what can be refused is refused at their first write.
var answers = []struct {
	code  string
	cause Cause
	text  string
	hint  string
	retry time.Duration
}{
	{"OOM", OutOfMemory, "is out of memory and refuses writes", "free memory, raise maxmemory, or give the controls a redis of their own", 2 * time.Second},
	{"MISCONF", Misconf, "refuses writes because it cannot save its snapshots", "see its log for why the disk fails; CONFIG SET stop-writes-on-bgsave-error no lets it write meanwhile, which is yours to decide", 0},
	{"READONLY", ReadOnly, "is a replica and refuses writes", "give the address of the master, or the sentinels with ?master_name=; after a failover it may take a moment", time.Second},
	{"NOREPLICAS", NoReplicas, "refuses writes while too few replicas follow it", "wait for the replicas; min-replicas-to-write says how many it wants", time.Second},
	{"LOADING", Loading, "is loading its data set after a start", "wait; nothing is wrong with the run", time.Second},
	{"MASTERDOWN", ReadOnly, "is a replica that has lost its master", "give the address of the master", time.Second},
	{"BUSY", Busy, "is busy with a script that does not end", "SCRIPT KILL ends that script, if it has written nothing", time.Second},
	{"NOAUTH", NoAuth, "wants a password", "give user and password in the URL, or a password_file in --redis-config", 0},
	{"WRONGPASS", WrongPass, "does not accept this user and password", "see the password, and with ACL LIST whether the user is on", 0},
	{"NOPERM", NoPerm, "does not let this user do that", "docs/controls.md lists the commands and keys that an ACL must allow", 0},
	{"CLUSTERDOWN", ClusterDown, "belongs to a cluster that is down", "see CLUSTER INFO on any node", time.Second},
	{"TRYAGAIN", TryAgain, "is moving these keys to another node right now", "wait for the move to end", time.Second},
	{"MOVED", Redirected, "sends us from node to node without an end", "see CLUSTER NODES: the nodes do not agree on who has the slot", time.Second},
	{"ASK", Redirected, "sends us from node to node without an end", "see CLUSTER NODES: the nodes do not agree on who has the slot", time.Second},
	{"WRONGTYPE", WrongType, "holds something else under one of the keys", "see TYPE of the service's keys, and rename what does not belong there", 0},
	{"DENIED", NoAuth, "is in protected mode and speaks to its own machine only", "give it a password, or bind it to the address it shall serve", 0},
}

// fail explains what came of asking a server.
func fail(target string, err error) *Failure {
	var known *Failure
	var answer redis.Error
	var notSent *controls.NotSentError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &answer) && !errors.Is(err, redis.Nil):
		return failAnswer(target, answer)
	case errors.As(err, &notSent):
		return failUnsent(target, notSent.Err)
	}
	return &Failure{
		Cause:    NoAnswer,
		Sentence: fmt.Sprintf("redis %s gave no answer: %s", target, reason(err)),
		Hint:     "it is not known whether it was done; settle before doing anything else to this control",
		Retry:    time.Second,
		err:      err,
	}
}

func failAnswer(target string, answer redis.Error) *Failure {
	text := answer.Error()
	f := &Failure{
		Cause:    RefusedOther,
		Sentence: fmt.Sprintf("redis %s refuses: %s", target, printable(text)),
		err:      answer,
	}
	if strings.Contains(text, "max number of clients") {
		f.Cause, f.Retry = MaxClients, time.Second
		f.Sentence = fmt.Sprintf("redis %s has reached its highest number of clients", target)
		f.Hint = "see CLIENT LIST, and maxclients"
		return f
	}
	for _, a := range answers {
		if hasCode(text, a.code) {
			f.Cause, f.Hint, f.Retry = a.cause, a.hint, a.retry
			f.Sentence = fmt.Sprintf("redis %s %s (%s)", target, a.text, plain(clip(text), false))
			return f
		}
	}
	return f
}

// hasCode finds an error's code at the start of an answer or, as older servers
// put it, after a dash inside the text of a script's error.
func hasCode(text, code string) bool {
	if strings.HasPrefix(text, code+" ") || text == code || strings.Contains(text, "-"+code+" ") || strings.Contains(text, ": "+code+" ") {
		return true
	}
	switch code {
	case "NOPERM":
		return strings.Contains(text, "ACL failure in script") || strings.Contains(text, "can't run this command")
	case "OOM":
		return strings.Contains(text, "command not allowed when used memory")
	}
	return false
}

func failUnsent(target string, err error) *Failure {
	f := &Failure{
		Cause:    Unreachable,
		Sentence: fmt.Sprintf("redis %s cannot be reached, nothing was sent: %s", target, reason(err)),
		Hint:     "see that it runs and that the address is right",
		Retry:    time.Second,
		err:      err,
	}
	var unknownAuthority x509.UnknownAuthorityError
	var hostname x509.HostnameError
	switch {
	case errors.As(err, &hostname):
		f.Hint, f.Retry = "set tls.server_name in --redis-config to a name that the certificate has", 0
	case errors.As(err, &unknownAuthority):
		f.Hint, f.Retry = "give the authority that signed it as tls.ca_file in --redis-config", 0
	case strings.Contains(err.Error(), "does not look like a TLS handshake"):
		f.Hint, f.Retry = "this port does not speak TLS, write redis:// instead of rediss://", 0
	case errors.Is(err, io.EOF):
		f.Hint = "it closed the connection; if it wants TLS, write rediss://"
	case strings.Contains(err.Error(), "can't parse") || strings.Contains(err.Error(), "invalid reply"):
		f.Cause, f.Retry = NotRedis, 0
		f.Sentence = fmt.Sprintf("what answers at %s does not speak the redis protocol: %s", target, reason(err))
		f.Hint = "see the host and the port"
	case strings.Contains(err.Error(), "knows no master"):
		f.Hint, f.Retry = "see master_name", 0
	}
	return f
}

// reason is the end of an error's chain, in few and printable words.
func reason(err error) string {
	var netErr net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return "it was interrupted"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded),
		errors.As(err, &netErr) && netErr.Timeout():
		return "the time for it is over"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed"
	}
	return plain(clip(err.Error()), false)
}

func clip(text string) string {
	if len(text) <= longestQuote {
		return text
	}
	return strings.ToValidUTF8(text[:longestQuote], "") + "…"
}
