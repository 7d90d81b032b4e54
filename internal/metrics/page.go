package metrics

import (
	"net/http"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Page is what a process serves: the metrics of the walks that it makes. On a game day a run may take over from another
// of the same process. The zero Page has none; it is safe for use by several goroutines.
type Page struct {
	mu    sync.Mutex
	walks []*Walk
}

// Put adds a walk. Where the page has an earlier process of the same run, the walk takes its place.
func (p *Page) Put(w *Walk) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.walks = append(slices.DeleteFunc(p.walks, func(other *Walk) bool { return other.run == w.run }), w)
}

// Drop takes a walk off the page.
func (p *Page) Drop(w *Walk) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.walks = slices.DeleteFunc(p.walks, func(other *Walk) bool { return other == w })
}

// Handler answers a scrape.
func (p *Page) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		promhttp.HandlerFor(p.registries(), promhttp.HandlerOpts{}).ServeHTTP(w, r)
	})
}

func (p *Page) registries() (all prometheus.Gatherers) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.walks {
		all = append(all, w.registry)
	}
	return all
}
