package runbook

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
)

// syntaxError reports what stops the YAML parser, with the way out for the
// mistakes that people make.
func (d *decoder) syntaxError(text string, err error) {
	var syntax yaml.Error
	if !errors.As(err, &syntax) {
		d.fail(Position{1, 1}, "", "the file is not YAML: %s", printable(err.Error()))
		return
	}
	at, message := place(syntax.GetToken()), syntax.GetMessage()
	d.fail(at, syntaxHint(strings.Split(text, "\n"), at.Line, message), "not YAML: %s", printable(message))
}

func syntaxHint(lines []string, line int, message string) string {
	switch {
	case strings.Contains(message, "'\t'"):
		return "indent with spaces"
	case line > len(lines):
		return ""
	case strings.Contains(message, "must be specified"):
		return bracketHint(lines[line-1])
	case strings.HasPrefix(message, "mapping value"):
		return colonHint(lines, line)
	case strings.Contains(message, "non-map value"), strings.Contains(message, "not allowed in this context"):
		return indentHint(lines, line)
	}
	return ""
}

// barePlaceholder is a plain text with ${NAME} in it, up to where its line, list
// or table goes on.
var barePlaceholder = lazily(`(?:^|[\s:,\[{])([^\s,\[\]{}'"]*\$\{[^\s{}]*\}[^\s,\[\]{}'"]*)`)

// bracketHint knows that a brace ends a plain text inside brackets.
func bracketHint(line string) string {
	if found := barePlaceholder().FindStringSubmatch(line); found != nil && len(found[1]) <= quotedLimit {
		return "quote it: '" + found[1] + "'"
	}
	return "close every bracket that is opened, and put commas between the items"
}

// colonHint tells a text with a colon in it from a line that is indented too far.
func colonHint(lines []string, line int) string {
	if line < len(lines) && strings.TrimSpace(lines[line]) != "" && indentOf(lines[line]) > indentOf(lines[line-1]) {
		return fmt.Sprintf("indent line %d like the one above, by %d spaces", line+1, keyIndent(lines[line-1]))
	}
	return "quote a text that has a colon in it"
}

// indentHint finds the line that this one should stand below.
func indentHint(lines []string, line int) string {
	isStep := startsStep(lines[line-1])
	for i := line - 2; i >= 0; i-- {
		above := strings.TrimSpace(lines[i])
		if above == "" || above[0] == '#' || isStep && !startsStep(lines[i]) {
			continue
		}
		switch {
		case isStep:
			return fmt.Sprintf("indent this step like the one above, by %d spaces", indentOf(lines[i]))
		case strings.HasPrefix(strings.TrimSpace(lines[line-1]), "-"):
			return fmt.Sprintf("indent this item like the ones beside it; the line above begins after %d spaces",
				indentOf(lines[i]))
		}
		return fmt.Sprintf("indent it like the keys beside it; the line above has its key after %d spaces",
			keyIndent(lines[i]))
	}
	return ""
}

func startsStep(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "- step:") }

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// keyIndent is where a line has its key, which the first of a list item has after
// the dash.
func keyIndent(line string) int { return len(line) - len(strings.TrimLeft(line, " -")) }
