package actions

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rewarm/rewarm/actions/controls"
)

func receive(t testing.TB, s *Store) []Letter {
	t.Helper()
	letters, _, err := s.Receive(t.Context(), runA)
	if err != nil {
		t.Fatal(err)
	}
	return letters
}

func testOrders(t *testing.T, srv testServer) {
	s := srv.open(t)
	before, err := s.LastAnswer(t.Context(), runA)
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range []string{"one", "two"} {
		if _, err := s.Send(t.Context(), runA, body); err != nil {
			t.Fatal(err)
		}
	}
	letters := receive(t, s)
	if len(letters) != 2 || letters[0].Body != "one" || letters[1].Body != "two" || letters[0].Waited < 0 {
		t.Fatalf("letters %+v", letters)
	}
	if again := receive(t, s); len(again) != 0 {
		t.Errorf("taken twice: %+v", again)
	}
	if err := s.Answer(t.Context(), runA, [][]byte{[]byte("done"), []byte("refused")}); err != nil {
		t.Fatal(err)
	}
	lines, last, err := s.Answers(t.Context(), runA, before)
	if err != nil || !slices.Equal(lines, []string{"done", "refused"}) {
		t.Errorf("answers %q, %v", lines, err)
	}
	if lines, _, err := s.Answers(t.Context(), runA, last); err != nil || len(lines) > 0 {
		t.Errorf("answers behind the last: %q, %v", lines, err)
	}
	if left, ok := srv.do(t, "ttl", controls.Keys("catalog").Answers(runA)).(int64); !ok || left <= 0 {
		t.Error("answers are kept for ever")
	}
	if there := srv.do(t, "exists", controls.Keys("catalog").Inbox(runA)); there != int64(0) {
		t.Error("an empty inbox stays")
	}
}

func testRecall(t *testing.T, srv testServer) {
	s := srv.open(t)
	for _, taken := range []bool{false, true} {
		id, err := s.Send(t.Context(), runA, "hold")
		if err != nil {
			t.Fatal(err)
		}
		if taken {
			receive(t, s)
		}
		recalled, err := s.Recall(t.Context(), runA, id)
		if err != nil || recalled == taken {
			t.Errorf("taken %v, recalled %v, %v", taken, recalled, err)
		}
		if left := receive(t, s); len(left) > 0 {
			t.Errorf("followed although it was recalled: %+v", left)
		}
	}
}

func testFlood(t *testing.T, srv testServer) {
	s := srv.open(t)
	key := controls.Keys("catalog").Inbox(runA)
	for i := range lettersWaiting + 20 {
		srv.do(t, "xadd", key, "*", "order", fmt.Sprint(i))
	}
	letters, lost, err := s.Receive(t.Context(), runA)
	if err != nil || lost != 20 || len(letters) != lettersAtOnce || letters[0].Body != "20" {
		t.Errorf("lost %d, letters %+v, %v", lost, letters, err)
	}
}

func testOddLetters(t *testing.T, srv testServer) {
	s := srv.open(t)
	key := controls.Keys("catalog").Inbox(runA)
	long := strings.Repeat("x", longestLetter+1)
	srv.do(t, "xadd", key, "*", "order", long)
	srv.do(t, "xadd", key, "*", "order", "short", "padding", long)
	srv.do(t, "xadd", key, "*", "other", "field")
	srv.do(t, "xadd", key, "*", "order", "a\xff\x00b")
	letters := receive(t, s)
	if len(letters) != 4 || letters[0].Body != "" || letters[1].Body != "" || letters[2].Body != "" || letters[3].Body != "a\xff\x00b" {
		t.Fatalf("letters %+v", letters)
	}
	if letters[0].Size <= longestLetter {
		t.Errorf("size %d", letters[0].Size)
	}
	srv.do(t, "xadd", key, "18446744073709551615-18446744073709551615", "order", "no id can follow")
	receive(t, s)
	if _, err := s.Send(t.Context(), runA, "another"); err != nil {
		t.Errorf("an entry with the highest id closes the inbox: %v", err)
	}
	receive(t, s)
	srv.do(t, "set", key, "not a stream")
	if _, _, err := s.Receive(t.Context(), runA); fail(peer{}, err).Cause != WrongType {
		t.Errorf("a key of another type: %v", err)
	}
}

func testClaim(t *testing.T, srv testServer) {
	s := srv.open(t)
	if err := s.SendAs(t.Context(), "bob", "approve"); err != nil {
		t.Fatal(err)
	}
	if proof, found, err := s.Witness(t.Context(), "bob", "approve"); proof != ProofClaimed || !found || err != nil {
		t.Errorf("proof %q, found %v, %v", proof, found, err)
	}
	if _, found, err := s.Witness(t.Context(), "bob", "abort"); found || err != nil {
		t.Errorf("found what he did not write: %v", err)
	}
	if _, found, err := s.Witness(t.Context(), "carol", "approve"); found || err != nil {
		t.Errorf("found with another: %v", err)
	}
}

func testCommander(t *testing.T, srv testServer) {
	s := srv.open(t)
	if c, err := s.Commander(t.Context()); err != nil || c.Run != "" {
		t.Errorf("nobody commands yet: %+v, %v", c, err)
	}
	l := take(t, s, ana)
	c, err := s.Commander(t.Context())
	if err != nil || c.Run != runA || c.Actor != "ana" || c.Host != "ops-1" || !c.Since.Equal(l.Since) || !c.Until.Equal(l.Until) || c.Now.After(c.Until) {
		t.Errorf("commander %+v, %v", c, err)
	}
}

func TestUserNames(t *testing.T) {
	for name, fits := range map[string]bool{"bob": true, "bob.b@example.com": true, "": false, "a b": false, "b\nb": false, "böb": false,
		strings.Repeat("b", 65): false, "b:c": false, "{x}": false} {
		if err := CheckUser(name); (err == nil) != fits {
			t.Errorf("%q: %v", name, err)
		}
	}
}
