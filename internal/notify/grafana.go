package notify

import (
	"encoding/json"
	"errors"
	"html"
	"strings"

	"github.com/rewarm/rewarm/internal/harmless"
)

// annotation is what Grafana's /api/annotations takes:
// https://grafana.com/docs/grafana/v12.4/developer-resources/api-reference/http-api/annotations.md. From Grafana 13 on
// it stands beside another interface and goes on to work:
// https://grafana.com/docs/grafana-cloud/developer-resources/api-reference/http-api/api-legacy/annotations.md.
type annotation struct {
	Dashboard string   `json:"dashboardUID,omitempty"`
	Panel     int64    `json:"panelId,omitempty"`
	Time      int64    `json:"time"` // milliseconds since 1970
	Tags      []string `json:"tags"`
	Text      string   `json:"text"` // HTML
}

// grafana writes one event as an annotation, which has the time of its record.
func grafana(m Message, r Receiver) ([]byte, error) {
	e := m.Events[0]
	lines := append([]string{e.Where + ": " + e.Text}, e.Details...)
	lines = append(lines, runLine(m), headLine(m))
	for i, line := range lines {
		lines[i] = html.EscapeString(harmless.Cut(line, longestLine))
	}
	tags := []string{"rewarm", "service:" + m.Service, "run:" + m.Run, "kind:" + string(e.Kind)}
	return json.Marshal(annotation{Dashboard: r.Dashboard, Panel: r.Panel, Time: e.At.UnixMilli(),
		Tags: append(tags, r.Tags...), Text: strings.Join(lines, "<br>")})
}

// isAnnotated looks whether it was Grafana that answered.
func isAnnotated(answer []byte) error {
	var made struct {
		ID *int64 `json:"id"`
	}
	if json.Unmarshal(answer, &made) != nil || made.ID == nil {
		return errors.New("it does not answer as grafana does")
	}
	return nil
}
