package metrics

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
)

const (
	dashboard = "../../docs/prometheus/rewarm-dashboard.json"
	alerts    = "../../docs/prometheus/rewarm-alerts.yaml"
)

// TestDashboardQueriesParse: every query of the dashboard is PromQL once Grafana has put its variables in, and asks for
// metrics of a walk or of a service.
func TestDashboardQueriesParse(t *testing.T) {
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	text, err := os.ReadFile(dashboard)
	if err == nil {
		err = json.Unmarshal(text, &board)
	}
	if err != nil {
		t.Fatal(err)
	}
	variables := strings.NewReplacer("$__rate_interval", "1m", "$service", "catalog", "$run", ".*")
	queries := parser.NewParser(parser.Options{})
	asked := 0
	for _, panel := range board.Panels {
		for _, target := range panel.Targets {
			asked++
			expr, err := queries.ParseExpr(variables.Replace(target.Expr))
			if err != nil {
				t.Errorf("%s: %s: %v", panel.Title, target.Expr, err)
				continue
			}
			parser.Inspect(expr, func(n parser.Node, _ []parser.Node) error {
				if s, ok := n.(*parser.VectorSelector); ok && !strings.HasPrefix(s.Name, "rewarm_") {
					t.Errorf("%s asks for %q", panel.Title, s.Name)
				}
				return nil
			})
		}
	}
	if asked == 0 {
		t.Error("the dashboard asks for nothing")
	}
}

// TestWhatIsAskedForIsMeasured: alerts and dashboard name no metric of a walk that does not exist. Those of services
// are checked where the reader is.
func TestWhatIsAskedForIsMeasured(t *testing.T) {
	page := full(t).page()
	for _, file := range []string{dashboard, alerts} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		names := regexp.MustCompile(`\brewarm_run_[a-z_]+`).FindAllString(string(text), -1)
		if len(names) == 0 {
			t.Errorf("%s asks for no metric of a walk", file)
		}
		for _, name := range names {
			if !strings.Contains(page, "\n"+name+"{") {
				t.Errorf("%s: a walk has no metric %s", file, name)
			}
		}
	}
}
