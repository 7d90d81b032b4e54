package actions

import (
	"context"
	"net"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

func startMiniredis(t *testing.T) testServer {
	t.Helper()
	m := miniredis.NewMiniRedis()
	dial := func(context.Context, string, string) (net.Conn, error) { return m.Dial() }
	raw := redis.NewClient(&redis.Options{Dialer: dial, Protocol: 2})
	t.Cleanup(func() { _ = raw.Close(); m.Close() })
	return testServer{url: "redis://in-process:6379", dial: dial, raw: raw}
}

func TestStoreInProcess(t *testing.T) { testStore(t, startMiniredis) }
