package lab

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/rewarm/rewarm/actions/controls"
)

// world is the model with its metrics and what was scraped of them, at a time.
// Virtual and real labs move it by the same tick.
type world struct {
	now         time.Time
	model       *model
	page        *page
	store       *store
	scrapeEvery time.Duration
	source      source
	report      func() readerReport
}

// newWorld lets the case happen from its beginning, with controls that nobody has set.
func newWorld(o Options) (*world, error) {
	story := CaseStudy()
	if o.Scenario != nil {
		story = *o.Scenario
	}
	if o.From == 0 {
		o.From = story.Start
	}
	p := o.Variation.vary(catalog)
	if o.begin == 0 {
		o.begin = burnIn
	}
	if o.ScrapeEvery == 0 {
		o.ScrapeEvery = time.Second
	}
	if o.From < caseBegins || o.From%tickLength != 0 || o.From >= 24*time.Hour {
		return nil, fmt.Errorf("a lab starts at %s of the case or later, in steps of %s, not at %s", clockTime(caseBegins),
			tickLength, o.From)
	}
	if o.ScrapeEvery < tickLength || o.ScrapeEvery%tickLength != 0 {
		return nil, fmt.Errorf("a lab is scraped in steps of %s, not every %s", tickLength, o.ScrapeEvery)
	}
	w := &world{
		now:         o.Start.Add(o.begin - o.From),
		model:       newModel(&p, &story, o.Seed, o.begin),
		scrapeEvery: o.ScrapeEvery,
		source:      as(withDefaults(&p, story.Controls)),
		report:      noReport,
	}
	w.page = newPage(w.model, func() readerReport { return w.report() })
	w.store = newStore(w.page)
	for w.model.time() < o.From {
		w.tick()
	}
	return w, nil
}

// obey makes the service obey what a reader says, and report what it reports.
func (w *world) obey(says source, r *controls.Reader) {
	w.source = says
	w.report = func() readerReport { return reportOf(r) }
}

func (w *world) tick() { w.tickAt(w.now.Add(tickLength)) }

// tickAt moves the model on by one tick and calls that moment now.
func (w *world) tickAt(now time.Time) {
	w.now = now
	w.model.step(w.source)
	if w.model.time()%w.scrapeEvery == 0 && w.model.time() >= caseBegins {
		w.store.scrape(w.now)
	}
}

// atSecond reports whether the next tick begins a second.
func (w *world) atSecond() bool { return (w.model.tick+1)%ticksPerSecond == 0 }

func clockTime(d time.Duration) string {
	return time.Time{}.Add(d).Format("15:04:05")
}

// metricsHandler serves the page.
type metricsHandler struct {
	mu    *sync.Mutex
	world *world
}

func (h metricsHandler) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	h.mu.Lock()
	b := h.world.page.appendText(make([]byte, 0, 64<<10))
	h.mu.Unlock()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(b)
}
