package steps

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/probes"
)

// TestKindsAreDocumented compares the tables of docs/audit-log.md with the JSON keys of
// the bodies, in both directions.
func TestKindsAreDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "audit-log.md"))
	if err != nil {
		t.Fatal(err)
	}
	documented := documentedKeys(string(page[strings.Index(string(page), "## Kinds"):]))
	want := map[string][]string{
		"target": jsonKeys(Target{}), "plan": append(jsonKeys(actions.Plan{}), "before_base64"), "covers": jsonKeys(Change{}),
		"overrides": jsonKeys(Override{}), "origin": jsonKeys(Origin{}), "gates": jsonKeys(GateSeen{}), "findings": jsonKeys(probes.Finding{}),
		"answers": jsonKeys(probes.Answer{}), "ask": jsonKeys(probes.Ask{}), "readings": jsonKeys(probes.Reading{}),
		"propagation": jsonKeys(probes.Propagation{}), "diagnosis": jsonKeys(Diagnosis{}), "signs": jsonKeys(ModeSign{}),
		KindTorn: {"offset", "length", "sha256"},
	}
	for _, kind := range Kinds() {
		if kind == KindTorn {
			continue // of package audit
		}
		want[kind] = jsonKeys(newBody(kind))
	}
	want[KindSettled] = append(want[KindSettled], jsonKeys(settledJSON{})...)
	want[KindDrifted] = append(want[KindDrifted], jsonKeys(driftedJSON{})...)
	for name, keys := range want {
		slices.Sort(keys)
		got := documented[name]
		slices.Sort(got)
		if !slices.Equal(slices.Compact(keys), got) {
			t.Errorf("docs/audit-log.md gives %s the keys %v, its body has %v", name, got, keys)
		}
	}
}

var (
	nameCell = regexp.MustCompile("^\\| `([a-z_]+)` \\|")
	keyWord  = regexp.MustCompile("`([a-z0-9_]+)`")
)

// documentedKeys reads the last cell of every row that begins with a name.
func documentedKeys(text string) map[string][]string {
	all := map[string][]string{}
	for line := range strings.Lines(text) {
		name := nameCell.FindStringSubmatch(line)
		if name == nil || all[name[1]] != nil {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(strings.TrimSpace(line), "|"), "|")
		keys := regexp.MustCompile(`\([^)]*\)`).ReplaceAllString(cells[len(cells)-1], "")
		all[name[1]] = []string{}
		for _, key := range keyWord.FindAllStringSubmatch(keys, -1) {
			all[name[1]] = append(all[name[1]], key[1])
		}
	}
	return all
}

func jsonKeys(body any) []string {
	kind := reflect.TypeOf(body)
	if kind.Kind() == reflect.Pointer {
		kind = kind.Elem()
	}
	var keys []string
	for i := range kind.NumField() {
		tag := strings.Split(kind.Field(i).Tag.Get("json"), ",")[0]
		if tag != "" && tag != "-" {
			keys = append(keys, tag)
		}
	}
	return keys
}

// TestWordsAreDocumented: every word that a body of this package can say is on the page.
func TestWordsAreDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "audit-log.md"))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("body.go")
	if err != nil {
		t.Fatal(err)
	}
	words := regexp.MustCompile(`(?m)^\t(?:Drift|Decision|Result|Scope|Manual|Auto)\w* +(?:\w+ )?= +"([^"]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(words) < 20 {
		t.Fatalf("found only %d words in body.go", len(words))
	}
	for _, word := range words {
		if !strings.Contains(string(page), "`"+word[1]+"`") {
			t.Errorf("docs/audit-log.md does not say what %q means", word[1])
		}
	}
}

// TestKeyThatStandsTwice: readers that keep the first and readers that keep the last would tell two stories.
func TestKeyThatStandsTwice(t *testing.T) {
	for _, body := range []string{`{"text":"a","text":"b"}`, `{"Text":"a"}`} {
		got, err := DecodeBody(KindNoted, []byte(body))
		if note, ok := got.(*Noted); err == nil && (!ok || note.Text != "") {
			t.Errorf("%s is read as %+v", body, got)
		}
	}
}
