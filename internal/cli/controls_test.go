package cli

import (
	"context"
	"fmt"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/rogpeppe/go-internal/testscript"
)

// scriptRedis starts a Redis at the first call and puts its address into REDIS. With words
// it is a hand at redis-cli, and prints the answer: redis hset KEY FIELD VALUE
func scriptRedis(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: redis [command...]")
	}
	if ts.Getenv("REDIS") == "" {
		server := miniredis.NewMiniRedis()
		ts.Check(server.Start())
		ts.Defer(server.Close)
		ts.Setenv("REDIS", "redis://"+server.Addr())
	}
	if len(args) == 0 {
		return
	}
	options, err := redis.ParseURL(ts.Getenv("REDIS"))
	ts.Check(err)
	client := redis.NewClient(options)
	defer client.Close()
	words := make([]any, len(args))
	for i, word := range args {
		words[i] = word
	}
	answer, err := client.Do(context.Background(), words...).Result()
	ts.Check(err)
	fmt.Fprintln(ts.Stdout(), answer)
}
