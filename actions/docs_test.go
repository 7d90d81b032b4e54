package actions

import (
	"os"
	"strings"
	"testing"
)

// leastRights is what docs/controls.md says a run's user needs.
const leastRights = "resetkeys ~rewarm:{catalog}:controls ~rewarm:{catalog}:meta ~rewarm:{catalog}:changes ~rewarm:{catalog}:commander " +
	"~rewarm:{catalog}:fence ~rewarm:{catalog}:version ~rewarm:{catalog}:check ~rewarm:{catalog}:log:* ~rewarm:{catalog}:inbox:* " +
	"~rewarm:{catalog}:answers:* %R~rewarm:{catalog}:approvals:* nocommands +evalsha +eval +hmget +hvals +pttl +time +ping +type +hget +incr +set " +
	"+hset +hdel +persist +xadd +del +expire +xlen +xtrim +xrange +xrevrange +xdel +scan"

// senderRights is what it says a person's user needs to give orders and approvals.
const senderRights = "resetkeys %W~rewarm:{catalog}:approvals:bob %W~rewarm:{catalog}:inbox:* %R~rewarm:{catalog}:answers:* " +
	"%R~rewarm:{catalog}:log:* %R~rewarm:{catalog}:commander nocommands +hmget +time +ping +xadd +xdel +xrange +xrevrange"

// readerRights is what it says a service's user needs.
const readerRights = "resetkeys %R~rewarm:{catalog}:* nocommands +get +hgetall +time +xrevrange +xread"

// lookRights is what it says a person needs who only looks.
const lookRights = "resetkeys %R~rewarm:{catalog}:* nocommands +hgetall +hmget +pttl +time +xrange +xrevrange +xread +scan"

func controlsPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../docs/controls.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

func TestThePageNamesWhatThereIs(t *testing.T) {
	page := controlsPage(t)
	for _, want := range []string{
		"    ACL SETUSER rewarm on >PASSWORD " + leastRights + "\n",
		"    ACL SETUSER looker on >PASSWORD " + lookRights + "\n",
		"    ACL SETUSER bob on >PASSWORD " + senderRights + "\n",
		"    ACL SETUSER catalog on >PASSWORD " + readerRights + "\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("docs/controls.md lacks %q", want)
		}
	}
	files, err := scriptFiles.ReadDir("scripts")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Name() != "check.lua" && !strings.Contains(page, f.Name()) {
			t.Errorf("docs/controls.md does not name %s", f.Name())
		}
	}
}
