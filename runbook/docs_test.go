package runbook

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// references are the pages that explain the keys: of runbooks, of rules and of game days.
var references = []string{"../docs/runbook.md", "../docs/diagnosis.md", "../docs/gamedays.md"}

// readReference gives the lines of the references.
func readReference(t *testing.T) []string {
	t.Helper()
	var lines []string
	for _, page := range references {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Split(string(text), "\n")...)
	}
	return lines
}

// rows gives the cells of the table after a marker.
func rows(lines []string, marker string) [][]string {
	start := slices.Index(lines, marker)
	if start < 0 {
		return nil
	}
	var all [][]string
	for _, line := range lines[min(start+3, len(lines)):] {
		if !strings.HasPrefix(line, "|") {
			break
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		all = append(all, cells)
	}
	return all
}

// TestReferenceNamesEveryKey compares the tables of the reference with the keys
// that the parser takes, both ways.
func TestReferenceNamesEveryKey(t *testing.T) {
	lines := readReference(t)
	marker := regexp.MustCompile(`^<!-- keys: (\S+) -->$`)
	explained := map[string]bool{}
	for _, line := range lines {
		m := marker.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		section := m[1]
		explained[section] = true
		want := schema[section]
		if section == "guard" { // whose bound is explained where bounds are
			want = want[len(schema["bound"]):]
		}
		var got []string
		for _, row := range rows(lines, line) {
			got = append(got, strings.Trim(row[0], "`"))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the reference has the keys %q, the parser takes %q", section, got, want)
		}
	}
	for section := range schema {
		if !explained[section] {
			t.Errorf("the reference does not explain the keys of %s", section)
		}
	}
}

// TestReferenceListsEveryEvent compares the events and the scores of game days with their tables.
func TestReferenceListsEveryEvent(t *testing.T) {
	lines := readReference(t)
	var events, scores [][2]string
	explained := strings.Join(lines, "\n")
	for _, e := range DayEvents {
		keys := ""
		if len(e.Keys) > 0 {
			keys = "`" + strings.Join(e.Keys, ", ") + "`"
		}
		events = append(events, [2]string{"`" + e.Name + "`", keys})
	}
	for _, s := range DayScores {
		scores = append(scores, [2]string{"`" + s.Name + "`", s.Unit})
		if !strings.Contains(explained, "| "+s.About+" |") {
			t.Errorf("the reference does not say of %s: %s", s.Name, s.About)
		}
	}
	for marker, want := range map[string][][2]string{"<!-- events -->": events, "<!-- scores -->": scores} {
		var got [][2]string
		for _, row := range rows(lines, marker) {
			if len(row) > 2 {
				got = append(got, [2]string{row[0], row[1]})
			} else if len(row) > 1 {
				got = append(got, [2]string{strings.TrimSuffix(row[0], " |"), ""})
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: the reference has %q, the parser %q", marker, got, want)
		}
	}
}

func TestReferenceListsEveryRule(t *testing.T) {
	var want [][]string
	for _, r := range LintRules() {
		want = append(want, []string{"`" + r.Name + "`", r.Looks, r.Reason})
	}
	got := rows(readReference(t), "<!-- rules -->")
	if len(got) != len(want) {
		t.Errorf("the reference has %d rules, the lint %d", len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if !slices.Equal(got[i], want[i]) {
			t.Fatalf("rule %d\nin the reference: %q\nin the lint:      %q", i+1, got[i], want[i])
		}
	}
}

// TestReferenceTellsTheDefaults looks for the defaults in the reference's words.
func TestReferenceTellsTheDefaults(t *testing.T) {
	lines := readReference(t)
	want := map[string]string{
		"every": builtIn.Every.String(), "passes": "2", "timeout": builtIn.Timeout.String(),
		"stale_after": builtIn.StaleAfter.String(),
		"approval":    "{protect: " + string(builtIn.Protect) + ", release: " + string(builtIn.Release) + "}",
	}
	for _, row := range rows(lines, "<!-- keys: defaults -->") {
		if key := strings.Trim(row[0], "`"); row[1] != "`"+want[key]+"`" {
			t.Errorf("the reference says that %s is %s, it is %s", key, row[1], want[key])
		}
	}
	for section, row := range map[string]string{
		"step": "| `settle` | `" + defaultSettle.String() + "` |",
		"call": "| `timeout` | `" + defaultCallTimeout.String() + "` |",
	} {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, row) }) {
			t.Errorf("the reference does not say in %s: %s", section, row)
		}
	}
}

// TestReferenceExample reads the example of the reference and lints it.
func TestReferenceExample(t *testing.T) {
	for _, f := range Lint(mustParse(t, referenceBlock(t, "example"), nil)) {
		t.Errorf("%d:%d %s: %s", f.Pos.Line, f.Pos.Column, f.Rule, f.Message)
	}
}

// TestReferenceTwoPersons puts what the reference says of two persons into its example: every
// release of it then takes two, and no brake any.
func TestReferenceTwoPersons(t *testing.T) {
	doc := mustParse(t, referenceBlock(t, "example")+referenceBlock(t, "two persons"), nil)
	for _, f := range Lint(doc) {
		t.Errorf("%d:%d %s: %s", f.Pos.Line, f.Pos.Column, f.Rule, f.Message)
	}
	for step := range doc.Steps() {
		if step.Timing.Release != ApprovalTwo || step.Timing.Protect != ApprovalNone {
			t.Errorf("%s: %+v", step.Name, step.Timing)
		}
	}
}

// referenceBlock gives the YAML that stands behind a marker.
func referenceBlock(t *testing.T, marker string) string {
	t.Helper()
	_, rest, found := strings.Cut(strings.Join(readReference(t), "\n"), "<!-- "+marker+" -->\n```yaml\n")
	block, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatalf("the reference has no %s", marker)
	}
	return block
}
