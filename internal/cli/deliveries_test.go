package cli

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rewarm/rewarm/internal/notify"
)

// TestDeliveriesAreKept: a resume knows what a receiver lacks; of a receiver that is new, or where the file is lost or
// damaged, nothing is known, and nothing is sent again.
func TestDeliveriesAreKept(t *testing.T) {
	dir := t.TempDir()
	quiet := slog.New(slog.DiscardHandler)
	first := openDeliveries(dir, quiet)
	if first.lacks("bus", 1) {
		t.Error("something is known of a receiver that was never told")
	}
	bus := []*notify.Courier{notify.NewCourier(notify.Receiver{Name: "bus"}, notify.Options{})}
	first.beginAt(1, bus)
	if again := openDeliveries(dir, quiet); !again.lacks("bus", 1) || again.lacks("chat", 1) {
		t.Error("killed before the first delivery, it is not known what is missing")
	}
	first.note("bus", 7)
	first.note("bus", 5)
	again := openDeliveries(dir, quiet)
	if again.lacks("bus", 7) || !again.lacks("bus", 8) {
		t.Errorf("kept: %v", again.upTo)
	}
	if again.beginAt(20, bus); !again.lacks("bus", 8) {
		t.Error("a resume forgets what is missing")
	}
	for _, text := range []string{"", "null", "[]", `{"bus":"x"}`, `{"bus":7`} {
		if err := os.WriteFile(filepath.Join(dir, "notified.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		said := &bytes.Buffer{}
		damaged := openDeliveries(dir, slog.New(slog.NewTextHandler(said, nil)))
		if damaged.lacks("bus", 100) {
			t.Errorf("%q tells that something is missing", text)
		}
		if told := strings.Contains(said.String(), "it is not known what was delivered"); told != (text != "null") {
			t.Errorf("%q: the diagnostics say %q", text, said)
		}
		damaged.note("bus", 3)
	}
}
