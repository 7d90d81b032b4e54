package cli

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/internal/harmless"
	"github.com/rewarm/rewarm/steps"
)

// letter is an order on its way through the inbox of a run.
type letter struct {
	ID     string          `json:"id"` // 32 hex digits, made by the sender: the same twice is one order
	Run    string          `json:"run"`
	Order  steps.OrderKind `json:"order"`
	Digest string          `json:"digest,omitempty"`
	Step   string          `json:"step,omitempty"` // or the control
	Text   string          `json:"text,omitempty"`
	To     string          `json:"to,omitempty"`   // of a handover
	Until  time.Time       `json:"until,omitzero"` // of a handover
	By     string          `json:"by"`
	Host   string          `json:"host,omitempty"`
}

// answered is what became of an order, on its way back.
type answered struct {
	ID       string `json:"id"`
	Seq      uint64 `json:"seq,omitempty"`
	Refused  string `json:"refused,omitempty"`
	Hint     string `json:"hint,omitempty"`
	Again    bool   `json:"again,omitempty"`
	Waits    string `json:"waits,omitempty"`    // what an undo that was taken waits for
	Blocking string `json:"blocking,omitempty"` // what blocks the next release now
}

// idBytes make the id of an order.
const idBytes = 16

func newLetter(random io.Reader, run string, o steps.Order, by, host string) (letter, error) {
	var id [idBytes]byte
	if _, err := io.ReadFull(random, id[:]); err != nil {
		return letter{}, fmt.Errorf("name the order: %w", err)
	}
	l := letter{ID: hex.EncodeToString(id[:]), Run: run, Order: o.Kind, Digest: o.Digest, Step: o.Step, Text: o.Text,
		To: o.To, Until: o.Until, By: by, Host: host}
	return l, l.check(run)
}

// readLetter reads what somebody wrote into the inbox of a run.
func readLetter(body, run string) (letter, error) {
	var l letter
	if body == "" {
		return l, errors.New("it is too long, or has no order")
	}
	decoder := json.NewDecoder(strings.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&l); err != nil {
		return l, errors.New("it is not the JSON of an order")
	}
	if decoder.More() {
		return l, errors.New("something follows the order")
	}
	return l, l.check(run)
}

// The longest words of a letter, in bytes.
const (
	longestName = 128
	longestText = 2048
)

// check refuses what no sender of this program writes.
func (l letter) check(run string) error {
	id, err := hex.DecodeString(l.ID)
	switch {
	case err != nil || len(id) != idBytes:
		return errors.New("its id is not 32 hex digits")
	case l.Run != run:
		return errors.New("it is for another run")
	case !ordersFromElsewhere(l.Order):
		return fmt.Errorf("there is no order %q", string(l.Order))
	case actions.CheckUser(l.By) != nil:
		return errors.New("it does not say by whom it is")
	case len(l.Digest)+len(l.Step)+len(l.To) > longestName || len(l.Host) > longestName || len(l.Text) > longestText:
		return fmt.Errorf("a word of it is longer than %d bytes, or its text than %d", longestName, longestText)
	case strings.ContainsFunc(l.Digest+l.Step+l.To+l.Text+l.Host, unfit):
		return errors.New("it holds control characters")
	}
	return nil
}

// unfit reports what no order needs: whatever would be hidden on a terminal, line breaks, and bytes that are no text.
func unfit(r rune) bool { return r == utf8.RuneError || harmless.Hidden(r) }

// ordersFromElsewhere reports whether an order may come from elsewhere: all that can be
// typed, and no interrupt, which is a signal to the process.
func ordersFromElsewhere(kind steps.OrderKind) bool {
	return kind == steps.OrderApprove || slices.ContainsFunc(spokenWords, func(s spoken) bool { return s.kind == kind })
}

// needsProof reports whether it matters who gives an order: an approval, and a reading that
// a second person confirms.
func (l letter) needsProof() bool {
	return l.Order == steps.OrderApprove || l.Order == steps.OrderReading
}

// order is what a letter asks for, with where it came from.
func (l letter) order(origin steps.Origin) steps.Order {
	origin.ID, origin.Host = l.ID, l.Host
	return steps.Order{Kind: l.Order, Digest: l.Digest, Step: l.Step, To: l.To, Until: l.Until, Text: l.Text, By: l.By,
		Origin: &origin}
}
