package evidence

import (
	"bytes"
	htmltemplate "html/template"
	"strconv"
	"strings"
	texttemplate "text/template"
	"time"
	"unicode"

	"github.com/rewarm/rewarm/templates"
)

// The templates of the reports.
const (
	markdownTemplate = "reports/report.md.tmpl"
	htmlTemplate     = "reports/report.html.tmpl"
)

// markdown is the report as Markdown. Everything from outside goes through md.
func (r *report) markdown() ([]byte, error) {
	text, err := templates.Files.ReadFile(markdownTemplate)
	if err != nil {
		return nil, err
	}
	t, err := texttemplate.New("report.md").Funcs(texttemplate.FuncMap{"md": md, "ms": ms, "utc": utc, "clock": clock, "join": strings.Join}).Parse(string(text))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, r)
	return b.Bytes(), err
}

// html is the report as one page that loads nothing.
func (r *report) html() ([]byte, error) {
	text, err := templates.Files.ReadFile(htmlTemplate)
	if err != nil {
		return nil, err
	}
	t, err := htmltemplate.New("report.html").Funcs(htmltemplate.FuncMap{"show": visible, "ms": ms, "utc": utc, "clock": clock, "join": strings.Join, "svg": svg}).Parse(string(text))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, r)
	return b.Bytes(), err
}

// svg passes a plot on: it is made of numbers and escaped names alone.
func svg(p plot) htmltemplate.HTML { return htmltemplate.HTML(p.SVG()) }

// clock is a time of day in UTC.
func clock(at time.Time) string { return at.UTC().Format("15:04:05.0") }

// visible makes control characters and direction overrides visible, on one line.
func visible(text string) string {
	if !strings.ContainsFunc(text, hidden) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if hidden(r) {
			b.WriteString(strings.Trim(quoteRune(r), "'"))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func hidden(r rune) bool {
	return r != ' ' && !unicode.IsGraphic(r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) || r == unicode.ReplacementChar
}

// md makes text harmless in a Markdown table or paragraph: no markup, no HTML, no new cell.
func md(text string) string {
	return markup.Replace(visible(text))
}

var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "&#124;", "`", "&#96;", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "#", `\#`, "!", `\!`, "~", `\~`, `\`, `\\`, "$", `\$`)

func quoteRune(r rune) string { return strconv.QuoteRuneToASCII(r) }
