package actions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/rewarm/rewarm/actions/controls"
)

// Check tries every kind of write that a run needs, in one script that leaves
// nothing behind, and looks at the types of the service's keys. A *Failure says
// what a run would stumble over.
func (s *Store) Check(ctx context.Context) error {
	k := s.keys
	words, err := s.write(ctx, checkScript, []string{k.Check, k.Controls, k.Meta, k.Changes, k.Commander, k.Fence, k.Version})
	if err != nil {
		return err
	}
	if words[0] == "type" && len(words) == 4 {
		return wrongType(&Failure{}, words[1], words[2], words[3])
	}
	return nil
}

// TargetName is the name under which game days may break this service, "" where they may not.
// Whoever runs the service writes it, rewarm never does.
func (s *Store) TargetName(ctx context.Context) (string, error) {
	name := redis.NewStringCmd(ctx, "hget", s.keys.GameDay, "target")
	if err := s.query(ctx, name); err != nil && !errors.Is(err, redis.Nil) {
		return "", s.fail(s.reads, err)
	}
	return name.Val(), nil
}

// TargetKey is the hash whose field target holds that name, for sentences.
func TargetKey(service string) string { return controls.Keys(service).GameDay }

// Identity tells a person which Redis this is: address, role, version, run id
// and size. What the user may not ask for is left out; an error is a *Failure and means
// that there is no such Redis, or that it does not let this user in.
func (s *Store) Identity(ctx context.Context) (string, error) {
	server := redis.NewStringCmd(ctx, "info", "server")
	replication := redis.NewStringCmd(ctx, "info", "replication")
	size := redis.NewIntCmd(ctx, "dbsize")
	if err := s.query(ctx, server, replication, size); err != nil {
		if f := s.fail(s.reads, err); f.Unanswered() || f.Cause == NoAnswer || f.Cause == NoAuth || f.Cause == WrongPass {
			if f.Cause == NoAnswer {
				f.Hint = "nothing was to be changed; see that the address is right: TLS wants rediss://, a port without it redis://"
			}
			return "", f
		}
	}
	words := []string{fmt.Sprintf("redis %s db %d", s.at(s.reads), s.target.DB)}
	words = addInfo(words, "", replication.Val(), "role")
	words = addInfo(words, "version ", server.Val(), "redis_version")
	words = addInfo(words, "run id ", server.Val(), "run_id")
	if size.Err() == nil {
		words = append(words, fmt.Sprintf("%d keys", size.Val()))
	}
	if s.target.TLS != nil {
		words = append(words, "TLS")
	}
	return strings.Join(append(words, s.warnings...), ", "), nil
}

// addInfo adds one field of an INFO answer, if it is there.
func addInfo(words []string, label, info, field string) []string {
	lines := strings.Split(info, "\n")
	i := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, field+":") })
	if i < 0 {
		return words
	}
	return append(words, label+plain(strings.TrimSpace(lines[i][len(field)+1:]), false))
}
