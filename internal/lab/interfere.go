package lab

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/server"
)

// What follows is for game days, in which more goes wrong than a scenario tells: the tools
// fail beside the service, and hands write controls past every run.

// Happen lets something happen that the scenario does not have, at the next second of the
// lab's time whatever time the event carries.
func (l *Lab) Happen(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.world.model.happenNext(e)
}

// Control gives what Redis holds for a control of a service; false when nobody has set it.
func (l *Lab) Control(service, name string) (raw string, set bool) {
	raw = l.redis.HGet(controlsOf(service), name)
	return raw, raw != ""
}

// Edit writes a control as somebody with a Redis client would, past every run; nil takes
// the field away.
func (l *Lab) Edit(service, name string, raw *string) {
	if raw == nil {
		l.redis.HDel(controlsOf(service), name)
	} else {
		l.redis.HSet(controlsOf(service), name, *raw)
	}
	l.touched.Store(true)
}

const controlsKey = "rewarm:{" + Service + "}:controls"

// controlsOf is the hash of the controls of any service.
func controlsOf(service string) string { return "rewarm:{" + service + "}:controls" }

// RefuseWrites makes Redis answer every script and write of its clients with an error,
// such as "OOM command not allowed", and read on; "" ends that.
func (l *Lab) RefuseWrites(answer string) {
	if answer == "" {
		l.redis.Server().SetPreHook(nil)
		return
	}
	l.redis.Server().SetPreHook(func(c *server.Peer, command string, _ ...string) bool {
		if !slices.Contains(writes, strings.ToUpper(command)) {
			return false
		}
		c.WriteError(answer)
		return true
	})
}

// writes are the commands by which clients change something.
var writes = []string{"EVAL", "EVALSHA", "SET", "DEL", "HSET", "HDEL", "XADD", "EXPIRE", "PEXPIRE"}

// Replica keeps what Redis holds at this moment. The function that it gives lets a
// failover happen to a replica that has got no further: what was written since is lost.
func (l *Lab) Replica() (failOver func()) {
	kept := map[string]redisValue{}
	for _, key := range l.redis.Keys() {
		kept[key] = l.readKey(key)
	}
	return func() {
		for _, key := range l.redis.Keys() {
			l.redis.Del(key)
		}
		for _, key := range slices.Sorted(maps.Keys(kept)) {
			l.writeKey(key, kept[key])
		}
		l.touched.Store(true)
	}
}

// redisValue is what one key holds: a text, a hash or a stream.
type redisValue struct {
	text   string
	fields map[string]string
	stream []streamEntry
	ttl    time.Duration
}

type streamEntry struct {
	id     string
	values []string
}

func (l *Lab) readKey(key string) redisValue {
	v := redisValue{ttl: l.redis.TTL(key)}
	switch l.redis.Type(key) {
	case "hash":
		v.fields = map[string]string{}
		names, _ := l.redis.HKeys(key)
		for _, name := range names {
			v.fields[name] = l.redis.HGet(key, name)
		}
	case "stream":
		entries, _ := l.redis.Stream(key)
		for _, e := range entries {
			v.stream = append(v.stream, streamEntry{e.ID, slices.Clone(e.Values)})
		}
	default:
		v.text, _ = l.redis.Get(key)
	}
	return v
}

func (l *Lab) writeKey(key string, v redisValue) {
	switch {
	case v.fields != nil:
		for name, value := range v.fields {
			l.redis.HSet(key, name, value)
		}
	case v.stream != nil:
		for _, e := range v.stream {
			_, _ = l.redis.XAdd(key, e.id, e.values)
		}
	default:
		_ = l.redis.Set(key, v.text)
	}
	if v.ttl > 0 {
		l.redis.SetTTL(key, v.ttl)
	}
}

// Frozen answers Prometheus' HTTP interface from what was scraped until this moment: the
// clock goes on, and no samples come any more.
func (l *Lab) Frozen() http.RoundTripper {
	l.mu.Lock()
	defer l.mu.Unlock()
	return transport{newAPI(l.world.store.frozen(), l.world.scrapeEvery, l.clock.Now)}
}

// frozen is a store that is not scraped any more.
func (s *store) frozen() *store {
	s.mu.RLock()
	defer s.mu.RUnlock()
	still := &store{page: s.page, byName: map[string][]*series{}, times: s.times, scrapes: s.scrapes}
	for _, b := range s.blocks {
		copied := *b
		still.blocks = append(still.blocks, &copied)
	}
	for i, from := range s.all {
		copied := *from
		copied.block = still.blocks[i/blockWidth]
		still.all = append(still.all, &copied)
	}
	for name, list := range s.byName {
		for _, from := range list {
			still.byName[name] = append(still.byName[name], still.all[slices.Index(s.all, from)])
		}
	}
	return still
}
