package cli

import (
	"encoding/json"
	"strings"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// changeRows lists what an approval covers, in its order: a row a control with the values
// that it goes through, and a row a call. Without the runbook values stand as in Redis.
func changeRows(doc *runbook.Document, covers []steps.Change) []string {
	var rows []string
	last := ""
	for _, change := range covers {
		var control *runbook.Control
		if doc != nil {
			control = doc.Control(change.Control)
		}
		switch {
		case change.Control == last:
			rows[len(rows)-1] += ", " + changeText(control, change)
		case strings.Contains(change.Control, " "): // a call, which has no name in Redis
			rows = append(rows, change.Control+": "+changeText(control, change))
		default:
			rows = append(rows, change.Control+" to "+changeText(control, change))
		}
		last = change.Control
	}
	return rows
}

// changeText is the value that a change leaves.
func changeText(control *runbook.Control, change steps.Change) string {
	switch {
	case change.After == nil:
		return "absent"
	case control == nil:
		var words []string
		if json.Unmarshal([]byte(*change.After), &words) == nil {
			return strings.Join(words, " ")
		}
	default:
		if value, err := actions.Decode(control, *change.After); err == nil {
			return control.Format(value)
		}
	}
	return strings.TrimSpace(*change.After + " " + change.Unit)
}
