package evidence

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/steps"
)

// hostile is what may stand in a note, a label or an error page; each begins in its own way.
const hostile = "</script><img src=x onerror=alert(1)> | =cmd() \x1b[31m `rm` \u202e \u3164 [x](javascript:1)"

// hostileRun has text from outside wherever a log takes some.
func hostileRun(t *testing.T) Material {
	t.Helper()
	records := smallRecords(t, false)
	begun := records[0].body.(*steps.Begun)
	begun.User, begun.Host = "=HYPERLINK(\"http://x\")", "<b>desk</b>|"
	long := strings.Repeat("</td>|\n", 2000)
	records = append(records,
		record{steps.KindNoted, &steps.Noted{By: "@SUM(1)", Text: "+1|2\n# heading\n- [ ] done"}},
		record{steps.KindNoted, &steps.Noted{By: "-1+1", Text: long}},
		record{steps.KindSkipped, &steps.Skipped{Step: "no-bypass", Reason: hostile, By: "\t=1"}},
		record{steps.KindCalled, &steps.Called{Step: "no-bypass", Finished: true, Command: []string{"sh", "-c", hostile}, Error: "<html>" + hostile}},
		record{steps.KindJudged, &steps.Judged{Gate: "expect enforce-admission", Step: "enforce-admission", Verdict: "fail", Decision: steps.DecisionContinue,
			Findings: []probes.Finding{{Sentence: "queue-age 9s in {cell=\"" + hostile + "\"}", Notes: []string{hostile}}}}},
		record{steps.KindAborted, &steps.Ended{Reason: hostile, By: hostile}},
	)
	m, _ := signedRun(t, smallID, records)
	var err error
	if m.Captures[rangesFile], err = encode(Ranges{Missing: "<html>" + hostile}); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestTextFromOutsideIsHarmless in every format of a bundle, of one run and of several.
// https://github.com/allinurl/goaccess/issues/58
func TestTextFromOutsideIsHarmless(t *testing.T) {
	m := hostileRun(t)
	t.Run("run", func(t *testing.T) { checkHarmless(t, texts(t, built(t, m))) })
	t.Run("incident", func(t *testing.T) { checkHarmless(t, texts(t, incidentOf(t, nil, m, otherRun(t, nil)))) })
}

func checkHarmless(t *testing.T, all map[string][]byte) {
	t.Helper()
	for name, forbidden := range map[string][]string{
		reportHTML:   {"<img", "<b>desk", "</script>", "\x1b", "\u202e", "\u3164", "javascript:1)\"", "<html>"},
		reportMD:     {"<img", "<b>desk", "</script>", "\x1b", "\u202e", "\u3164", "`rm`", "[x](", "<html>", "\n# heading", "</td>"},
		timelineCSV:  {"\x1b", "\u202e", "\u3164"},
		timelineJSON: {"\x1b"},
	} {
		for _, text := range forbidden {
			if bytes.Contains(all[name], []byte(text)) {
				t.Errorf("%s has %q", name, text)
			}
		}
	}
	checkTables(t, string(all[reportMD]))
	checkRows(t, all[timelineJSON], all[timelineCSV])
}

// checkTables wants every row of a table to have the cells of its head.
func checkTables(t *testing.T, text string) {
	t.Helper()
	cells := 0
	for line := range strings.Lines(text) {
		switch n := strings.Count(line, "|"); {
		case !strings.HasPrefix(line, "|"):
			cells = 0
		case cells == 0:
			cells = n
		case n != cells:
			t.Errorf("a row has %d cells and not %d: %.200q", n-1, cells-1, line)
		}
	}
}

// checkRows wants as many rows in both timelines, each whole, and nothing that a spreadsheet would run.
func checkRows(t *testing.T, lines, table []byte) {
	t.Helper()
	rows, err := csv.NewReader(bytes.NewReader(table)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(lines, []byte("\n")); n != len(rows)-1 {
		t.Errorf("%d lines of JSON and %d rows of CSV", n, len(rows)-1)
	}
	for line := range bytes.Lines(lines) {
		if !json.Valid(line) {
			t.Errorf("no JSON: %.200q", line)
		}
	}
	for _, row := range rows {
		for _, cell := range row {
			if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
				t.Errorf("a spreadsheet would run %.200q", cell)
			}
		}
	}
}
