package actions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/rewarm/rewarm/actions/controls"
)

// Mirrored is one entry of a run's mirror: a line as it stands in the log, or a signed
// head, without its newline.
type Mirrored struct {
	ID   string    // in the stream; ids sort by time
	At   time.Time // when it came, by the server's clock
	Line []byte    // nil for an entry that is none of ours
}

const (
	mirrorPage = 128              // entries read at once; a line has at most some 20 KB, the first some MB
	mirrorEnd  = 64               // entries that MirrorEnd gives at most
	mirrorWait = time.Second      // how long AwaitMirrored stays when nothing comes
	scanPage   = 1000             // keys that one SCAN looks at
	scanLimit  = 20 * time.Second // of looking for mirrors among all keys

	glanceLimit = 2 * time.Second // of looking for services, which only helps a person on
)

// Mirrored gives a page of a run's mirror behind an entry, oldest first; none at its end.
// The id before the first entry is "".
func (s *Store) Mirrored(ctx context.Context, run, after string) ([]Mirrored, error) {
	from := "-"
	if after != "" {
		from = "(" + after
	}
	page := redis.NewXMessageSliceCmd(ctx, "xrange", s.keys.Log(run), from, "+", "count", mirrorPage)
	if err := s.query(ctx, page); err != nil {
		return nil, s.fail(s.reads, err)
	}
	return mirroredOf(page.Val()), nil
}

// MirrorEnd gives the latest entries of a run's mirror, oldest first, and the server's time;
// none when there is no mirror (any more).
func (s *Store) MirrorEnd(ctx context.Context, run string) (latest []Mirrored, now time.Time, err error) {
	end := redis.NewXMessageSliceCmd(ctx, "xrevrange", s.keys.Log(run), "+", "-", "count", mirrorEnd)
	clock := redis.NewTimeCmd(ctx, "time")
	if err := s.query(ctx, end, clock); err != nil {
		return nil, time.Time{}, s.fail(s.reads, err)
	}
	latest = mirroredOf(end.Val())
	slices.Reverse(latest)
	return latest, clock.Val(), nil
}

// AwaitMirrored gives the entries behind one as soon as there are any; it returns with none
// after a second.
func (s *Store) AwaitMirrored(ctx context.Context, run, after string) ([]Mirrored, error) {
	if after == "" {
		after = "0-0"
	}
	next := redis.NewXStreamSliceCmd(ctx, "xread", "count", mirrorPage, "block", mirrorWait.Milliseconds(), "streams", s.keys.Log(run), after)
	err := s.query(ctx, next)
	if errors.Is(err, redis.Nil) {
		return nil, nil
	}
	if err != nil {
		return nil, s.fail(s.reads, err)
	}
	var list []Mirrored
	for _, stream := range next.Val() {
		list = append(list, mirroredOf(stream.Messages)...)
	}
	return list, nil
}

func mirroredOf(entries []redis.XMessage) []Mirrored {
	list := make([]Mirrored, len(entries))
	for i, entry := range entries {
		list[i] = Mirrored{ID: entry.ID, At: entryMoment(entry.ID)}
		if line, ok := entry.Values["line"].(string); ok {
			list[i].Line = []byte(line)
		}
	}
	return list
}

// MirroredRun names a run that has a mirror.
type MirroredRun struct{ Service, Run string }

// MirroredRuns looks through all keys for mirrors, of every service, at every address that
// is given. That takes a second for some hundred thousand keys and does not block the
// server. Of a cluster it finds what is on the nodes that are given.
func MirroredRuns(ctx context.Context, o Options) ([]MirroredRun, error) {
	found := map[MirroredRun]bool{}
	err := scan(ctx, o, controls.AnyLog, scanLimit, func(key string) {
		if service, run, ok := controls.ParseLog(key); ok {
			found[MirroredRun{service, run}] = true
		}
	})
	return slices.SortedFunc(maps.Keys(found), func(a, b MirroredRun) int { return strings.Compare(a.Run, b.Run) }), err
}

// Services looks through all keys, for a second or two, for the services that have controls; by name.
func Services(ctx context.Context, o Options) ([]string, error) {
	found := map[string]bool{}
	err := scan(ctx, o, controls.AnyControls, glanceLimit, func(key string) {
		if service, ok := controls.ParseControls(key); ok {
			found[service] = true
		}
	})
	return slices.Sorted(maps.Keys(found)), err
}

// scan looks through the keys of every node that is given for those that match a pattern; it fails where none answers.
func scan(ctx context.Context, o Options, pattern string, limit time.Duration, each func(key string)) error {
	target, err := o.target()
	if err != nil {
		return err
	}
	ctx, cancel := o.Clock.Deadline(ctx, limit)
	defer cancel()
	var failed error
	answered := false
	for _, node := range nodesOf(target) {
		if err := scanNode(ctx, node, o, pattern, each); err != nil {
			failed = errors.Join(failed, err)
		} else {
			answered = true
		}
	}
	if answered {
		return nil
	}
	return failed
}

// nodesOf gives the nodes to look at one by one: those of a cluster each have other keys.
func nodesOf(target controls.Target) []controls.Target {
	if !target.Cluster {
		return []controls.Target{target}
	}
	var nodes []controls.Target
	for _, addr := range target.Addrs {
		node := target
		node.Addrs = []string{addr}
		nodes = append(nodes, node)
	}
	return nodes
}

func scanNode(ctx context.Context, node controls.Target, o Options, pattern string, each func(key string)) error {
	timeout := o.Timeout
	if timeout <= 0 {
		timeout = defaultTimeout
	}
	server := controls.NewServer(node, controls.ServerOptions{Dial: o.Dial, Timeout: timeout, Retries: readRetries})
	defer server.Close()
	for cursor := uint64(0); ; {
		page := redis.NewScanCmd(ctx, nil, "scan", cursor, "match", pattern, "count", scanPage)
		if err := server.Do(ctx, page); err != nil {
			return fail(peerOf(node, plain(node.String(), false), true), fmt.Errorf("looking for keys: %w", err))
		}
		keys, next := page.Val()
		for _, key := range keys {
			each(key)
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}
