package evidence

import (
	"bytes"
	htmltemplate "html/template"
	"io"
	"strings"
	"sync"
	texttemplate "text/template"
	"time"

	"github.com/rewarm/rewarm/internal/harmless"
	"github.com/rewarm/rewarm/templates"
)

// reportTemplates are a report's templates.
type reportTemplates struct{ markdown, page template }

// template is what both kinds have.
type template interface {
	Execute(to io.Writer, data any) error
}

var (
	runTemplates      = sync.OnceValues(func() (reportTemplates, error) { return parseTemplates("report") })
	incidentTemplates = sync.OnceValues(func() (reportTemplates, error) { return parseTemplates("incident") })
)

const (
	reportsDir   = "reports/"
	pageTemplate = reportsDir + "page.html.tmpl" // what the pages share
)

// parseTemplates reads the templates of a report. In Markdown everything from outside goes through md; those of pages
// escape by themselves, and show makes visible.
func parseTemplates(name string) (reportTemplates, error) {
	words := map[string]any{"ms": ms, "utc": utc, "clock": clock, "join": strings.Join, "md": md,
		"show": visible, "svg": svg}
	text, page := name+".md.tmpl", name+".html.tmpl"
	markdown, err := texttemplate.New(text).Funcs(words).ParseFS(templates.Files, reportsDir+text)
	if err != nil {
		return reportTemplates{}, err
	}
	pages, err := htmltemplate.New(page).Funcs(words).ParseFS(templates.Files, pageTemplate, reportsDir+page)
	return reportTemplates{markdown, pages}, err
}

// render adds a report as Markdown and as one page that loads nothing.
func (list files) render(report any, of func() (reportTemplates, error)) error {
	made, err := of()
	if err != nil {
		return err
	}
	var text, page bytes.Buffer
	if err := made.markdown.Execute(&text, report); err != nil {
		return err
	}
	if err := made.page.Execute(&page, report); err != nil {
		return err
	}
	list[reportMD], list[reportHTML] = held(text.Bytes()), held(page.Bytes())
	return nil
}

// svg passes a plot on: it is made of numbers and escaped names alone.
func svg(p plot) htmltemplate.HTML { return htmltemplate.HTML(p.SVG()) }

// clock is a time of day in UTC.
func clock(at time.Time) string { return at.UTC().Format("15:04:05.0") }

// visible is text from outside on one line, as a terminal would show it.
func visible(text string) string { return harmless.Line(text) }

// md makes text harmless in a Markdown table or paragraph: no markup, no HTML, no new cell.
func md(text string) string {
	return markup.Replace(visible(text))
}

var markup = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "&#124;", "`", "&#96;", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "#", `\#`, "!", `\!`, "~", `\~`, `\`, `\\`, "$", `\$`)
