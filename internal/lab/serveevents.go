package lab

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// eventsHandler lets the lab's events happen that are posted to it: the word as event, and its
// keys, in the query.
type eventsHandler struct{ happen func(Event) }

func (h eventsHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	event, err := eventOf(r)
	if err != nil {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, err.Error()+"\n")
		return
	}
	h.happen(event)
	w.WriteHeader(http.StatusNoContent)
}

// eventOf reads an event from a query. What is wrong with it names the query as its file.
func eventOf(r *http.Request) (Event, error) {
	query := r.URL.Query()
	kind := query.Get("event")
	if !slices.Contains(EventKinds(), kind) {
		none := "event is none of " + strings.Join(EventKinds(), ", ")
		return Event{}, Mistakes{{File: "query", Line: 1, Column: 1, Message: none}}
	}
	var fields []EventField
	for key, values := range query {
		if key != "event" {
			fields = append(fields, EventField{Key: key, Value: values[0], Line: 1, Column: 1})
		}
	}
	slices.SortFunc(fields, func(a, b EventField) int { return strings.Compare(a.Key, b.Key) })
	return ParseEvent("query", 1, 1, EventKind(kind), fields)
}

// Happen lets something happen that the scenario does not have, at the next second of the
// lab's time whatever time the event carries.
func (s *Server) Happen(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.world.model.happenNext(e)
}

// happenNext puts an event into the story at its next second.
func (m *model) happenNext(e Event) {
	e.At = m.time().Truncate(time.Second) + time.Second
	m.story.Events = append(slices.Clip(m.story.Events), e)
}
