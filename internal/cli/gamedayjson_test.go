package cli

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rewarm/rewarm/internal/gameday"
)

// The page of game days explains every key of what is written as JSON, and no other.
func TestKeysOfPlaysAreExplained(t *testing.T) {
	text, err := os.ReadFile("../../docs/gamedays.md")
	if err != nil {
		t.Fatal(err)
	}
	for marker, of := range map[string]reflect.Type{
		"play": reflect.TypeFor[playedJSON](), "verdict": reflect.TypeFor[gameday.Verdict](), "score": reflect.TypeFor[gameday.Score](),
		"practice": reflect.TypeFor[comparedPlay](), "wrong": reflect.TypeFor[gameday.WrongMove](),
		"wait": reflect.TypeFor[gameday.Wait](), "long wait": reflect.TypeFor[gameday.LongWait](),
		"event": reflect.TypeFor[gameday.Event](), "deed": reflect.TypeFor[gameday.Deed](),
	} {
		_, table, _ := strings.Cut(string(text), "<!-- json: "+marker+" -->\n")
		table, _, _ = strings.Cut(table, "\n\n")
		var explained []string
		for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\|").FindAllStringSubmatch(table, -1) {
			explained = append(explained, row[1])
		}
		if keys := jsonKeys(of); !slices.Equal(explained, keys) {
			t.Errorf("docs/gamedays.md explains of a %s %q, and written is %q", marker, explained, keys)
		}
	}
}

// jsonKeys are the keys under which a struct is written, in their order.
func jsonKeys(t reflect.Type) []string {
	var keys []string
	for field := range t.Fields() {
		if field.Anonymous {
			keys = append(keys, jsonKeys(field.Type.Elem())...)
			continue
		}
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		keys = append(keys, key)
	}
	return keys
}
