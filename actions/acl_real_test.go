//go:build realservers && unix

package actions

import (
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// person opens a store with the rights that docs/controls.md gives a person.
func (r *realRedis) person(t *testing.T, user string) *Store {
	t.Helper()
	r.allow(t, user, strings.ReplaceAll(senderRights, "bob", user))
	return openStore(t, r.url, nil, 0)
}

// TestRedisProvesWhoApproves: with the rights of docs/controls.md nobody but bob writes
// where bob approves, and the run can tell.
func TestRedisProvesWhoApproves(t *testing.T) {
	r := startRedis(t)
	r.allow(t, "rewarm", leastRights)
	run := openStore(t, r.url, nil, 0)
	bob, mallory := r.person(t, "bob"), r.person(t, "mallory")
	if run.User() != "rewarm" || bob.User() != "bob" {
		t.Errorf("users %q and %q", run.User(), bob.User())
	}
	if err := bob.SendAs(t.Context(), "bob", "approve 1"); err != nil {
		t.Fatal(err)
	}
	for name, store := range map[string]*Store{"mallory": mallory, "the run": run} {
		if err := store.SendAs(t.Context(), "bob", "approve 2"); fail(peer{}, err).Cause != NoPerm {
			t.Errorf("%s writes as bob: %v", name, err)
		}
	}
	if proof, found, err := run.Witness(t.Context(), "bob", "approve 1"); proof != ProofClaimed || !found || err != nil {
		t.Errorf("while anybody may be the user default: proof %q, found %v, %v", proof, found, err)
	}
	r.do(t, "acl", "setuser", "default", "resetpass", ">pass")
	r.raw = redis.NewClient(&redis.Options{Addr: r.addr, Protocol: 2, Username: "default", Password: "pass"})
	t.Cleanup(func() { _ = r.raw.Close() })
	if proof, found, err := run.Witness(t.Context(), "bob", "approve 1"); proof != ProofACL || !found || err != nil {
		t.Errorf("proof %q, found %v, %v", proof, found, err)
	}
	if _, found, err := run.Witness(t.Context(), "bob", "approve 2"); found || err != nil {
		t.Errorf("what mallory wrote is found: %v", err)
	}
	r.do(t, "acl", "setuser", "rewarm", "~rewarm:{catalog}:*")
	if proof, _, err := run.Witness(t.Context(), "bob", "approve 1"); proof != ProofClaimed || err != nil {
		t.Errorf("the run may write as bob, proof %q, %v", proof, err)
	}
}

// TestAPersonsRights: what docs/controls.md gives a person is enough to give orders and
// to read answers, and not to flip or to command.
func TestAPersonsRights(t *testing.T) {
	r := startRedis(t)
	run := openStore(t, r.url, nil, 0)
	bob := r.person(t, "bob")
	take(t, run, ana)
	if c, err := bob.Commander(t.Context()); err != nil || c.Run != runA {
		t.Errorf("commander %+v, %v", c, err)
	}
	id, err := bob.Send(t.Context(), runA, "hold")
	if err != nil {
		t.Fatal(err)
	}
	if letters := receive(t, run); len(letters) != 1 || letters[0].Body != "hold" {
		t.Errorf("letters %+v", letters)
	}
	if recalled, err := bob.Recall(t.Context(), runA, id); recalled || err != nil {
		t.Errorf("recalled %v, %v", recalled, err)
	}
	if err := run.Answer(t.Context(), runA, [][]byte{[]byte("done")}); err != nil {
		t.Fatal(err)
	}
	if lines, _, err := bob.Answers(t.Context(), runA, "0-0"); err != nil || len(lines) != 1 {
		t.Errorf("answers %q, %v", lines, err)
	}
	if err := bob.Answer(t.Context(), runA, [][]byte{[]byte("forged")}); fail(peer{}, err).Cause != NoPerm {
		t.Errorf("bob answers in the name of the run: %v", err)
	}
	if _, err := bob.Take(t.Context(), Holder{Run: runB, Actor: "bob", Host: "ops-2"}); fail(peer{}, err).Cause != NoPerm {
		t.Errorf("bob takes the command: %v", err)
	}
	if _, err := bob.Newest(t.Context(), runA, 3); err != nil {
		t.Error(err)
	}
}
