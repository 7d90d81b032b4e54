package lab

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func post(t *testing.T, address string) (int, string) {
	t.Helper()
	answer, err := http.Post(address, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// What is posted happens, and what takes it back does, too.
func TestPostedEvents(t *testing.T) {
	s := serve(t, ServeOptions{Seed: 1, Scenario: quietStory(), Speed: 20})
	events := strings.TrimSuffix(s.MetricsURL, "/metrics") + "/events"
	slow := func(want string, holds func(float64) bool) {
		eventually(t, want, func() bool {
			age, ok := askAt(t, s.PrometheusURL, queueAge)
			return ok && holds(age)
		})
	}
	if status, body := post(t, events+"?event=slow-queries&share=50%25&factor=20"); status != http.StatusNoContent {
		t.Fatalf("%d %s", status, body)
	}
	slow("the origin is slow", func(age float64) bool { return age > 0.5 })
	if status, body := post(t, events+"?event=slow-queries&share=1%25&factor=1"); status != http.StatusNoContent {
		t.Fatalf("%d %s", status, body)
	}
}

func TestWrongPostedEvents(t *testing.T) {
	s := serve(t, ServeOptions{Seed: 1, Scenario: quietStory()})
	events := strings.TrimSuffix(s.MetricsURL, "/metrics") + "/events"
	for query, want := range map[string]string{
		"":                           "event is none of",
		"?event=frob":                "event is none of",
		"?event=lose-cell":           "cell",
		"?event=lose-cell&cell=x":    `there is no cell "x"`,
		"?event=slow-queries&frob=1": "frob",
	} {
		if status, body := post(t, events+query); status != http.StatusBadRequest || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", query, status, body)
		}
	}
	if answer, err := http.Get(events + "?event=lose-tier&copies=kept"); err != nil || answer.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("%v, %v", answer, err)
	}
}

// quietStory is a scenario in which nothing happens.
func quietStory() *Scenario { return &Scenario{Name: "quiet", Seed: 1, Start: caseBegins} }
