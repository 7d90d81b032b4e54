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

// reportTemplates are a report's templates in the folder of templates.
type reportTemplates struct{ markdown, page string }

var (
	runTemplates      = reportTemplates{"report.md.tmpl", "report.html.tmpl"}
	incidentTemplates = reportTemplates{"incident.md.tmpl", "incident.html.tmpl"}
)

const (
	reportsDir   = "reports/"
	pageTemplate = reportsDir + "page.html.tmpl" // what the pages share
)

// render adds the report as Markdown and as one page that loads nothing.
func (list files) render(report any, of reportTemplates) error {
	text, err := markdown(report, of.markdown)
	if err != nil {
		return err
	}
	page, err := page(report, of.page)
	list[reportMD], list[reportHTML] = held(text), held(page)
	return err
}

// markdown is a report as Markdown. Everything from outside goes through md.
func markdown(report any, name string) ([]byte, error) {
	words := texttemplate.FuncMap{"md": md, "ms": ms, "utc": utc, "clock": clock, "join": strings.Join}
	t, err := texttemplate.New(name).Funcs(words).ParseFS(templates.Files, reportsDir+name)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, report)
	return b.Bytes(), err
}

// page is a report as one page. Its template escapes, and show makes visible.
func page(report any, name string) ([]byte, error) {
	words := htmltemplate.FuncMap{"show": visible, "ms": ms, "utc": utc, "clock": clock, "join": strings.Join, "svg": svg}
	t, err := htmltemplate.New(name).Funcs(words).ParseFS(templates.Files, pageTemplate, reportsDir+name)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, report)
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
