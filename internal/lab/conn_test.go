package lab

import (
	"strings"
	"testing"
)

// A long pipeline and its answers do not wait for each other.
func TestLongPipeline(t *testing.T) {
	b := newBench(t, Options{Seed: 1, From: caseBegins})
	var pipeline strings.Builder
	const commands = 2000
	for range commands {
		pipeline.WriteString("*4\r\n$4\r\nHSET\r\n$1\r\nh\r\n$1\r\nf\r\n$64\r\n" + strings.Repeat("v", 64) + "\r\n")
	}
	if _, err := b.redis.Write([]byte(pipeline.String())); err != nil {
		t.Fatal(err)
	}
	for range commands {
		if line, err := b.lines.ReadString('\n'); err != nil || !strings.HasPrefix(line, ":") {
			t.Fatalf("%q, %v", line, err)
		}
	}
	if err := b.redis.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.redis.Write([]byte("PING\r\n")); err == nil {
		t.Error("a closed connection takes a command")
	}
}
