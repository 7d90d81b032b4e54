package runbook

import (
	"strings"
	"testing"
	"unicode/utf16"
)

// wide encodes a text as UTF-16 with the given byte order.
func wide(text string, bigEndian bool) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(text)) {
		high, low := byte(unit>>8), byte(unit)
		if bigEndian {
			high, low = low, high
		}
		b.WriteByte(low)
		b.WriteByte(high)
	}
	return b.String()
}

// bomb is a file in which each alias stands for nine of the one before.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 9; i++ {
		name, before := string(rune('a'+i)), string(rune('a'+i-1))
		b.WriteString(name + ": &" + name + " [" + strings.Repeat("*"+before+"0, ", 9) + "]\n")
	}
	return b.String()
}

func TestSource(t *testing.T) {
	tests := map[string]struct {
		source string
		want   string // one of the problems, "" when the file is valid
	}{
		"LF":                {minimal, ""},
		"CRLF":              {strings.ReplaceAll(minimal, "\n", "\r\n"), ""},
		"no newline at end": {strings.TrimSuffix(minimal, "\n"), ""},
		"start marker":      {"---\n" + minimal + "...\n", ""},
		"tab after a value": {strings.Replace(minimal, "service: catalog", "service: catalog\t", 1), ""},
		"empty":             {"", "1:1: the file holds no runbook"},
		"spaces":            {" \n \n", "1:1: the file holds no runbook"},
		// https://github.com/elastic/beats/issues/2354
		"UTF-8 with BOM":       {"\xef\xbb\xbf" + minimal, "1:1: the file starts with a byte order mark"},
		"BOM in the middle":    {strings.Replace(minimal, "smallest", "small\ufeffest", 1), "3:12: the invisible character U+FEFF"},
		"UTF-16 little endian": {"\xff\xfe" + wide(minimal, false), "1:1: the file is UTF-16 or UTF-32"},
		"UTF-16 big endian":    {"\xfe\xff" + wide(minimal, true), "1:1: the file is UTF-16 or UTF-32"},
		// https://github.com/mikefarah/yq/issues/1860
		"UTF-16 without BOM":  {wide(minimal, false), "1:1: the file is UTF-16 or UTF-32"},
		"not UTF-8":           {strings.Replace(minimal, "smallest", "small\xffest", 1), "3:12: byte 0xff is not UTF-8"},
		"carriage return":     {strings.Replace(minimal, "\nkind", "\rkind", 1), "1:22: a carriage return without a line feed"},
		"escape":              {strings.Replace(minimal, "smallest", "small\x1b[2J", 1), "3:12: the invisible character U+001B"},
		"C1":                  {strings.Replace(minimal, "smallest", "\u009b31m", 1), "3:7: the invisible character U+009B"},
		"bidi override":       {strings.Replace(minimal, "nothing to warm", "nothing \u202eto warm", 1), "10:31: the invisible character U+202E"},
		"replacement":         {strings.Replace(minimal, "smallest", "small\ufffd", 1), "3:12: the invisible character U+FFFD"},
		"zero byte":           {strings.Replace(minimal, "smallest", "small\x00", 1), "3:12: the invisible character U+0000"},
		"too large":           {minimal + "#" + strings.Repeat("x", maxSource), "1:1: the file has 1049013 bytes, the limit is 1048576"},
		"too many tokens":     {strings.Repeat("- x\n", maxTokens), "1:1: the file has 40000 YAML tokens, the limit is 20000"},
		"too deep":            {strings.Repeat("[", 200), "1:65: brackets are nested deeper than 64"},
		"deep without bracks": {strings.Repeat("- ", 5000), "1:1: the file holds a list, not a runbook"},
		"alias bomb":          {bomb(), "1:5: anchors and aliases are not taken"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			d, problems := Parse("f", []byte(test.source), nil)
			switch {
			case test.want == "" && problems != nil:
				t.Errorf("not valid: %v", problems)
			case test.want != "" && (d != nil || len(problems) == 0):
				t.Error("valid")
			case test.want != "" && !strings.Contains(problems.Error(), "f:"+test.want):
				t.Errorf("got  %v\nwant f:%s", problems, test.want)
			}
		})
	}
}

// TestDocumentTakesCRLF checks that a query in a block is the same text with both
// line endings, while the sum is that of the bytes.
func TestDocumentTakesCRLF(t *testing.T) {
	lf := spliceAt(t, "probe", "x:\n  unit: s\n  query: >-\n    sum(\n      up\n    )").source
	crlf := strings.ReplaceAll(lf, "\n", "\r\n")
	a, b := mustParse(t, lf, nil), mustParse(t, crlf, nil)
	if a.Probe("x").Query != b.Probe("x").Query || strings.Contains(b.Probe("x").Query, "\r") {
		t.Errorf("queries differ: %q and %q", a.Probe("x").Query, b.Probe("x").Query)
	}
	if a.Sum() == b.Sum() {
		t.Error("different bytes have one sum")
	}
}
