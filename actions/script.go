package actions

import (
	"context"
	"crypto/sha1" // it is how Redis names scripts
	"embed"
	"encoding/hex"
	"fmt"

	"github.com/redis/go-redis/v9"
	"github.com/rewarm/rewarm/actions/controls"
)

//go:embed scripts/*.lua
var scriptFiles embed.FS

// script is a Lua script with the name by which Redis remembers it.
type script struct{ source, sha string }

func loadScript(name string) script {
	source, err := scriptFiles.ReadFile("scripts/" + name + ".lua")
	if err != nil {
		panic(err) // it is embedded
	}
	sum := sha1.Sum(source)
	return script{string(source), hex.EncodeToString(sum[:])}
}

var (
	applyScript   = loadScript("apply")
	takeScript    = loadScript("take")
	renewScript   = loadScript("renew")
	dropScript    = loadScript("drop")
	settleScript  = loadScript("settle")
	checkScript   = loadScript("check")
	receiveScript = loadScript("receive")
)

// run sends a script once: by its name, and whole when Redis says that it does
// not know the name, which means that it did nothing.
func (sc script) run(ctx context.Context, to *controls.Server, keys []string, args ...any) ([]string, error) {
	named := sc.command(ctx, "evalsha", sc.sha, keys, args)
	whole := sc.command(ctx, "eval", sc.source, keys, args)
	err := to.Script(ctx, named, whole)
	answer := named
	if err == nil && named.Err() != nil {
		answer = whole
	}
	if err != nil {
		return nil, err
	}
	words := answer.Val()
	if len(words) == 0 {
		return nil, fmt.Errorf("a script gave an empty answer")
	}
	return words, nil
}

func (script) command(ctx context.Context, verb, name string, keys []string, args []any) *redis.StringSliceCmd {
	words := make([]any, 0, 3+len(keys)+len(args))
	words = append(words, verb, name, len(keys))
	for _, k := range keys {
		words = append(words, k)
	}
	return redis.NewStringSliceCmd(ctx, append(words, args...)...)
}
