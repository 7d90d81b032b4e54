package actions

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// The bounds of an inbox. A writer that floods it delays its own kind, not the walk.
const (
	lettersAtOnce   = 4
	longestLetter   = 8 << 10 // bytes
	lettersWaiting  = 256     // of more, the oldest are lost
	answersKept     = 1024
	approvalsKept   = 1024
	approvalsLooked = 64 // of the newest that a witness looks through
)

// Letter is one entry of a run's inbox, as somebody wrote it.
type Letter struct {
	Body   string        // empty when the entry is longer than 8 KiB or has no order
	Size   int           // of the whole entry, in bytes
	Sent   time.Time     // server time at which it reached Redis
	Waited time.Duration // from then until it was taken, by the server's clock
}

// Receive takes the oldest letters out of a run's inbox, a few at a time: nobody else
// takes them, and their senders cannot recall them any more. Lost counts letters that
// fell out of an inbox that was flooded.
func (s *Store) Receive(ctx context.Context, run string) (letters []Letter, lost int, err error) {
	words, err := s.write(ctx, receiveScript, []string{s.keys.Inbox(run)},
		lettersAtOnce, longestLetter, lettersWaiting, int(mirrorKept.Seconds()))
	if err != nil {
		return nil, 0, err
	}
	a := answer{words: words}
	now := a.time(0)
	lost = int(a.number(1))
	for i := 2; i+2 < len(words); i += 3 {
		sent := entryTime(words[i])
		letters = append(letters, Letter{Body: words[i+2], Size: int(a.number(i + 1)), Sent: sent, Waited: now.Sub(sent)})
	}
	return letters, lost, a.err
}

// entryTime is when an entry was added: its id begins with the server's milliseconds. A
// writer may have chosen another id; then the entry is as old or as young as it says.
func entryTime(id string) time.Time {
	ms, _, _ := strings.Cut(id, "-")
	n, err := strconv.ParseInt(ms, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(n)
}

// Send puts an order into the inbox of a run and gives the id of its entry. It may be
// sent twice when an answer was lost: orders are told apart by what they say.
func (s *Store) Send(ctx context.Context, run, body string) (id string, err error) {
	return s.add(ctx, s.keys.Inbox(run), lettersWaiting, body)
}

// Recall takes an order back that no walk has taken yet. When it is true, none has
// followed it and none will.
func (s *Store) Recall(ctx context.Context, run, id string) (bool, error) {
	gone := redis.NewIntCmd(ctx, "xdel", s.keys.Inbox(run), id)
	if err := s.query(ctx, gone); err != nil {
		return false, s.fail(s.reads, err)
	}
	return gone.Val() == 1, nil
}

// SendAs puts an order where only this user may write, as a proof of who gave it.
func (s *Store) SendAs(ctx context.Context, user, body string) error {
	_, err := s.add(ctx, s.keys.Approvals(user), approvalsKept, body)
	return err
}

func (s *Store) add(ctx context.Context, key string, kept int, body string) (id string, err error) {
	added := redis.NewStringCmd(ctx, "xadd", key, "MAXLEN", "~", kept, "*", "order", body)
	if err := s.query(ctx, added); err != nil {
		return "", s.fail(s.reads, err)
	}
	return added.Val(), nil
}

// Answer tells those who gave orders what became of them, a line each. Readers tell
// answers apart by what they say, so they may be sent again.
func (s *Store) Answer(ctx context.Context, run string, lines [][]byte) error {
	if len(lines) == 0 {
		return nil
	}
	key := s.keys.Answers(run)
	var cmds []redis.Cmder
	for _, line := range lines {
		cmds = append(cmds, redis.NewStringCmd(ctx, "xadd", key, "MAXLEN", "~", answersKept, "*", "answer", line))
	}
	cmds = append(cmds, redis.NewBoolCmd(ctx, "expire", key, int(mirrorKept.Seconds())))
	return s.append(ctx, cmds...)
}

// LastAnswer is where the answers of a run end now, to be given to Answers.
func (s *Store) LastAnswer(ctx context.Context, run string) (string, error) {
	newest := redis.NewXMessageSliceCmd(ctx, "xrevrange", s.keys.Answers(run), "+", "-", "count", 1)
	if err := s.query(ctx, newest); err != nil {
		return "", s.fail(s.reads, err)
	}
	if len(newest.Val()) == 0 {
		return "0-0", nil
	}
	return newest.Val()[0].ID, nil
}

// Answers gives the answers of a run behind one, and where they end.
func (s *Store) Answers(ctx context.Context, run, after string) (lines []string, last string, err error) {
	entries := redis.NewXMessageSliceCmd(ctx, "xrange", s.keys.Answers(run), after, "+", "count", answersKept)
	if err := s.query(ctx, entries); err != nil {
		return nil, after, s.fail(s.reads, err)
	}
	last = after
	for _, entry := range entries.Val() {
		if line, ok := entry.Values["answer"].(string); ok && entry.ID != after {
			lines = append(lines, line)
		}
		last = entry.ID
	}
	return lines, last, nil
}

// Commander says who commands the service now; its Run is "" when nobody does.
func (s *Store) Commander(ctx context.Context) (Commanded, error) {
	fields := hashFields(ctx, s.keys.Commander, []string{"run", "actor", "host", "since", "until"})
	now := redis.NewTimeCmd(ctx, "time")
	if err := s.query(ctx, fields, now); err != nil {
		return Commanded{}, s.explainRead(ctx, err, fields)
	}
	word := func(i int) string {
		if t := text(fields.Val()[i]); t != nil {
			return *t
		}
		return ""
	}
	c := Commanded{Run: word(0), Actor: word(1), Host: word(2), Now: now.Val()}
	c.Since, c.Until = milliseconds(word(3)), milliseconds(word(4))
	return c, nil
}

func milliseconds(text string) time.Time {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.UnixMilli(n)
}

// Newest gives the newest lines of the mirror of a run's log, the latest first.
func (s *Store) Newest(ctx context.Context, run string, count int) ([]string, error) {
	entries := redis.NewXMessageSliceCmd(ctx, "xrevrange", s.keys.Log(run), "+", "-", "count", count)
	if err := s.query(ctx, entries); err != nil {
		return nil, s.fail(s.reads, err)
	}
	var lines []string
	for _, entry := range entries.Val() {
		if line, ok := entry.Values["line"].(string); ok {
			lines = append(lines, line)
		}
	}
	return lines, nil
}

// Proof is how it is known who gave an order.
type Proof string

// The proofs. By its access control Redis lets nobody but the user write where the
// order lay, as far as this run's own user can find out; else the name is a claim.
const (
	ProofACL     Proof = "acl"
	ProofClaimed Proof = "claimed"
)

// Witness looks whether an order lies where only this user may write, and how far that
// proves who gave it. Found is false when it does not lie there.
func (s *Store) Witness(ctx context.Context, user, body string) (proof Proof, found bool, err error) {
	key := s.keys.Approvals(user)
	entries := redis.NewXMessageSliceCmd(ctx, "xrevrange", key, "+", "-", "count", approvalsLooked)
	if err := s.query(ctx, entries); err != nil {
		return "", false, s.fail(s.reads, err)
	}
	for _, entry := range entries.Val() {
		found = found || entry.Values["order"] == body
	}
	if !found {
		return "", false, nil
	}
	if s.refuses(ctx, s.reads, key) && s.refusesStrangers(ctx, key) {
		return ProofACL, true, nil
	}
	return ProofClaimed, true, nil
}

// never is the id of an entry that no stream can have: to delete it needs the right to
// write and changes nothing.
const never = "0-0"

// refuses reports whether Redis keeps a connection from writing to a key.
func (s *Store) refuses(ctx context.Context, server sender, key string) bool {
	ctx, cancel := s.clock.Deadline(ctx, s.timeout)
	defer cancel()
	var answer redis.Error
	err := server.Do(ctx, redis.NewIntCmd(ctx, "xdel", key, never))
	if !errors.As(err, &answer) {
		return false
	}
	cause := s.fail(s.reads, err).Cause
	return cause == NoAuth || cause == NoPerm && strings.Contains(answer.Error(), "key")
}

// sender is what sends commands.
type sender interface {
	Do(ctx context.Context, cmds ...redis.Cmder) error
}

// refusesStrangers tries the same without a name: a user default that may do everything
// is anybody.
func (s *Store) refusesStrangers(ctx context.Context, key string) bool {
	stranger := s.stranger()
	defer func() { _ = stranger.Close() }() // nothing was written
	return s.refuses(ctx, stranger, key)
}

// User is the name under which this store goes to Redis, "" for the user default.
func (s *Store) User() string {
	if s.target.Username == "default" {
		return ""
	}
	return s.target.Username
}

var errUser = errors.New("a name of a user has 1 to 64 letters, digits, dots, dashes, underscores or @")

// CheckUser refuses a name that cannot stand in a key.
func CheckUser(user string) error {
	if user == "" || len(user) > 64 || strings.Trim(user, userLetters) != "" {
		return fmt.Errorf("%s: %w", printable(user), errUser)
	}
	return nil
}

const userLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-@"
