package actions

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
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
	Unreachable Cause = "unreachable"
	NoAnswer    Cause = "no-answer"
	Interrupted Cause = "interrupted" // the caller has called it off before anything was sent
	NotRedis    Cause = "not-redis"
	Moved       Cause = "moved"        // the value is not the one that was planned on
	CommandLost Cause = "command-lost" // this run does not command (any more)
	NotApplied  Cause = "not-applied"  // settled: it was not written and will not be
	ReadOnly    Cause = "read-only"
	NoReplicas  Cause = "no-replicas"
	Loading     Cause = "loading"
	Busy        Cause = "busy"
	Misconf     Cause = "misconf"
	OutOfMemory Cause = "out-of-memory"
	NoAuth      Cause = "no-auth"
	WrongPass   Cause = "wrong-pass"
	NoPerm      Cause = "no-perm"
	ClusterDown Cause = "cluster-down"
	TryAgain    Cause = "try-again"
	Redirected  Cause = "redirected" // more MOVED or ASK than make sense
	WrongType   Cause = "wrong-type"
	MaxClients  Cause = "max-clients"
	NoDatabase  Cause = "no-database" // no database has the number that was asked for
	NoScripts   Cause = "no-scripts"  // what answers cannot run scripts
	NotKnown    Cause = "not-known"   // an error that this package does not know: nobody knows what became of it
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

// Unanswered reports whether nothing has answered as the Redis that was asked for would: a wrong address looks so, and
// a Redis that is lost. Any other refusal is an answer, and who has called it off has not waited for one.
func (f *Failure) Unanswered() bool {
	switch f.Cause {
	case Unreachable, NotRedis, NoDatabase:
		return true
	case NoAnswer:
		return !errors.Is(f.err, context.Canceled)
	}
	return false
}

// Unwrap gives the error underneath.
func (f *Failure) Unwrap() error { return f.err }

// refusal is an error that Redis itself gives, and what it means for a person.
// All of them say for certain that nothing was done: the scripts read all that
// they need before they write, what can be refused is refused at their first
// write, and the value is written last.
type refusal struct {
	code  string // the first word of the error
	cause Cause
	text  string
	hint  string
	retry time.Duration // when trying again makes sense without a person; 0 when it does not
	words []string      // what stands in an error that has another first word
}

var refusals = []refusal{
	{code: "OOM", cause: OutOfMemory, text: "is out of memory and refuses writes",
		hint:  "free memory, raise maxmemory, or give the controls a redis of their own",
		retry: 2 * time.Second, words: []string{"command not allowed when used memory"}},
	{code: "MISCONF", cause: Misconf, text: "refuses writes because it cannot save its data",
		hint: "see its log for why the disk fails; CONFIG SET stop-writes-on-bgsave-error no lets it write meanwhile, which is yours to decide"},
	{code: "READONLY", cause: ReadOnly, text: "is a replica and refuses writes",
		hint: "give the address of the master, or the sentinels with ?master_name=; after a failover it may take a moment", retry: time.Second},
	{code: "NOREPLICAS", cause: NoReplicas, text: "refuses writes while too few replicas follow it",
		hint: "wait for the replicas; min-replicas-to-write says how many it wants", retry: time.Second},
	{code: "LOADING", cause: Loading, text: "is loading its data set after a start",
		hint: "wait; nothing is wrong with the run", retry: time.Second},
	{code: "MASTERDOWN", cause: ReadOnly, text: "is a replica that has lost its master",
		hint: "give the address of the master", retry: time.Second},
	{code: "BUSY", cause: Busy, text: "is busy with a script that does not end",
		hint: "SCRIPT KILL ends that script, if it has written nothing", retry: time.Second},
	{code: "NOAUTH", cause: NoAuth, text: "wants a password",
		hint: "give user and password in the URL, or a password_file in --redis-config"},
	{code: "WRONGPASS", cause: WrongPass, text: "does not accept this user and password",
		hint: "see the password, and with ACL LIST whether the user is on"},
	{code: "NOPERM", cause: NoPerm, text: "does not let this user do that",
		hint:  "docs/controls.md lists the commands and keys that an ACL must allow",
		words: []string{"ACL failure in script", "can't run this command"}},
	{code: "CLUSTERDOWN", cause: ClusterDown, text: "belongs to a cluster that is down",
		hint: "see CLUSTER INFO on any node", retry: time.Second},
	{code: "TRYAGAIN", cause: TryAgain, text: "is moving these keys to another node right now",
		hint: "wait for the move to end", retry: time.Second},
	{code: "MOVED", cause: Redirected, text: "sends us from node to node without an end",
		hint: "see CLUSTER NODES: the nodes do not agree on who has the slot", retry: time.Second},
	{code: "ASK", cause: Redirected, text: "sends us from node to node without an end",
		hint: "see CLUSTER NODES: the nodes do not agree on who has the slot", retry: time.Second},
	{code: "WRONGTYPE", cause: WrongType, text: "holds something else under one of the keys",
		hint: "see TYPE of the service's keys, and rename what does not belong there"},
	{code: "DENIED", cause: NoAuth, text: "is in protected mode and speaks to its own machine only",
		hint: "give it a password, or bind it to the address it shall serve"},
	{code: "NOSCRIPT", cause: NoScripts, text: "does not run a script that it was just sent whole",
		hint: "what stands between here and redis must pass EVAL on", words: []string{"unknown command"}},
	{code: "UNKILLABLE", cause: Busy, text: "is busy with a script that has written and does not end",
		hint: "only its end or SHUTDOWN NOSAVE ends that script", retry: 2 * time.Second},
	{cause: MaxClients, text: "has reached its highest number of clients",
		hint: "see CLIENT LIST, and maxclients", retry: time.Second, words: []string{"max number of clients"}},
	{cause: NoDatabase, text: "has no database of this number",
		hint:  "see the number in the URL, and databases in its configuration; a cluster has 0 only",
		words: []string{"DB index is out of range", "SELECT is not allowed in cluster mode"}},
}

// fail explains what came of asking a server.
func fail(from peer, err error) *Failure {
	var known *Failure
	var answer redis.Error
	var notSent *controls.NotSentError
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &answer) && !errors.Is(err, redis.Nil):
		return failAnswer(from, answer)
	case errors.As(err, &notSent):
		return failUnsent(from, notSent.Err)
	}
	return failUnanswered(from, err)
}

// failUnanswered explains that a request may have left and no answer has come.
func failUnanswered(from peer, err error) *Failure {
	f := &Failure{
		Cause:    NoAnswer,
		Sentence: fmt.Sprintf("redis %s gave no answer: %s", from.name, from.reason(err)),
		Hint: from.unknown("see that it runs and that the address is right",
			"it is not known whether it was done; settle before doing anything else to this control"),
		Retry: time.Second,
		err:   err,
	}
	if errors.Is(err, context.Canceled) {
		f.Sentence = fmt.Sprintf("it was interrupted before redis %s had answered", from.name)
	}
	return f
}

// failAnswer explains an error that a server has answered with. One that is none
// of Redis' own may come from something in between, which does not know itself
// whether Redis has done it.
func failAnswer(from peer, answer redis.Error) *Failure {
	const between = "see what stands between here and redis, and its log"
	text := answer.Error()
	for _, r := range refusals {
		if r.matches(text) {
			return &Failure{Cause: r.cause, Hint: r.hint, Retry: r.retry, err: answer,
				Sentence: fmt.Sprintf("redis %s %s (%s)", from.name, r.text, plain(clip(from.conceal(text)), false))}
		}
	}
	return &Failure{
		Cause:    NotKnown,
		Sentence: fmt.Sprintf("redis %s answers with an error that is not known here: %s", from.name, printable(from.conceal(text))),
		Hint:     from.unknown(between, between+"; what became of a write is settled first"),
		Retry:    time.Second,
		err:      answer,
	}
}

// matches finds an error's code at the start of an answer or, as older servers
// put it, after a dash inside the text of a script's error.
func (r refusal) matches(text string) bool {
	if r.code != "" && (text == r.code || strings.HasPrefix(text, r.code+" ") ||
		strings.Contains(text, "-"+r.code+" ") || strings.Contains(text, ": "+r.code+" ")) {
		return true
	}
	return slices.ContainsFunc(r.words, func(words string) bool { return strings.Contains(text, words) })
}

func failUnsent(from peer, err error) *Failure {
	if errors.Is(err, context.Canceled) {
		return &Failure{Cause: Interrupted, Sentence: fmt.Sprintf("it was interrupted before anything was sent to redis %s", from.name), err: err}
	}
	f := &Failure{
		Cause:    Unreachable,
		Sentence: fmt.Sprintf("redis %s cannot be reached, nothing was sent: %s", from.name, from.reason(err)),
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
		f.Sentence = fmt.Sprintf("what answers at %s does not speak the redis protocol: %s", from.name, from.reason(err))
		f.Hint = "see the host and the port"
	case strings.Contains(err.Error(), "knows no master"):
		f.Hint, f.Retry = "see master_name", 0
	}
	return f
}

// reason is the end of an error's chain, in few and printable words.
func reason(err error) string { return peer{}.reason(err) }

// reason is the same, without the secrets that the server was told.
func (p peer) reason(err error) string {
	var netErr net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded),
		errors.As(err, &netErr) && netErr.Timeout():
		return "the time for it is over"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the connection was closed"
	}
	return plain(clip(p.conceal(err.Error())), false)
}

func clip(text string) string {
	if len(text) <= longestQuote {
		return text
	}
	return strings.ToValidUTF8(text[:longestQuote], "") + "…"
}
