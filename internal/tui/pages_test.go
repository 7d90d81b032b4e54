package tui

import (
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

// TestPagesMissNothing: whoever goes down page by page sees every row, on every size of screen.
func TestPagesMissNothing(t *testing.T) {
	events := upTo(walked(t), 301)
	words := make([]string, 40)
	for i := range words {
		words[i] = "  word " + itoa(i)
	}
	for _, view := range []viewKind{viewHelp, viewProbes, viewEvents} {
		for _, height := range []int{10, 16, 24, 40} {
			m := screenOf(t, events, 80, height, Options{Words: words})
			m.view = view
			seen := m.paged()
			m.height = 1000
			for row := range strings.Lines(plain(m.frame())) {
				if !slices.Contains(seen, row) && !strings.HasPrefix(row, "── ") && !strings.Contains("blocks: may: waiting costs: stale.product-detail > ? help", firstWord(row)) {
					t.Errorf("view %d on %d rows: %q is on no page", view, height, row)
				}
			}
		}
	}
}

// paged is every row that is seen from the first page to the last.
func (m *model) paged() []string {
	var seen []string
	for before := ""; ; {
		page := plain(m.frame())
		if page == before {
			return seen
		}
		before = page
		seen = append(seen, slices.Collect(strings.Lines(page))...)
		key := tea.KeyPgDown
		if m.direction() < 0 {
			key = tea.KeyPgUp
		}
		m.Update(tea.KeyMsg{Type: key})
	}
}

// TestPagesOfPlots: each page begins with the plot after the last of the one before.
func TestPagesOfPlots(t *testing.T) {
	m := screenOf(t, upTo(walked(t), 301), 80, 24, Options{})
	m.view = viewPlots
	var pages []string
	for range 4 {
		for row := range strings.Lines(plain(m.frame())) {
			if strings.HasPrefix(row, "probes ") {
				pages = append(pages, strings.TrimSpace(row))
			}
		}
		m.Update(tea.KeyMsg{Type: tea.KeyPgDown})
	}
	want := []string{"probes 1 to 2 of 13; PgDn, PgUp", "probes 3 to 4 of 13; PgDn, PgUp", "probes 5 to 6 of 13; PgDn, PgUp", "probes 7 to 8 of 13; PgDn, PgUp"}
	if !slices.Equal(pages, want) {
		t.Errorf("pages %q", pages)
	}
}

func firstWord(row string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(row), " ")
	return word
}
