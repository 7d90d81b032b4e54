package cli

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/runbook"
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

// TestIdleControlHasNotLapsed: a run renews only what adds load, so the dead man's time of a
// control that holds the dead man's value runs out while its run lives. Nothing ends by that.
func TestIdleControlHasNotLapsed(t *testing.T) {
	declared := &runbook.Control{Name: "prewarm.bucket", Kind: runbook.Choice, Choices: []string{"none", "top-1"},
		Steady: runbook.Value{Kind: runbook.Choice, Text: "none"}, DeadMan: &runbook.Value{Kind: runbook.Choice, Text: "none"}}
	none, top := "none", "top-1"
	for _, test := range []struct {
		raw    *string
		doc    *runbook.Control
		lapsed bool
	}{
		{&none, declared, false},
		{&top, declared, true},
		{&none, nil, false},
		{&top, nil, true},
	} {
		c := actions.Surveyed{Control: declared.Name, Raw: test.raw, Lapsed: true, Meta: &actions.Meta{After: test.raw, Steady: &none}}
		shown := shownControl(c, test.doc, time.Now())
		if said := strings.Contains(shown.text(time.Now()), "LAPSED"); shown.Lapsed != test.lapsed || said != test.lapsed {
			t.Errorf("%s, declared %t: lapsed %t, said %t", *test.raw, test.doc != nil, shown.Lapsed, said)
		}
	}
}
