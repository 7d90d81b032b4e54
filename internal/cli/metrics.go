package cli

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/metrics"
	"github.com/rewarm/rewarm/internal/notify"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// meter is what a walk measures of itself.
type meter struct {
	walk    *walk
	metrics *metrics.Walk
}

// measured begins to keep the metrics of a walk and serves them, where that is asked. Metrics that cannot be served
// stop no walk.
func (w *walk) measured(run string) {
	address, err := w.p.settings.metricsAddress()
	if address == "" || err != nil { // which was refused before the walk
		return
	}
	m := &meter{walk: w, metrics: metrics.New(w.doc.Service, run)}
	if w.notifier != nil {
		for _, courier := range w.notifier.couriers {
			m.metrics.Receiver(courier.Receiver().Name, counts(courier))
		}
	}
	page, err := w.p.metricsPage(address)
	if err != nil {
		sayWarning(w.p.err, "the metrics of this walk are not served: "+err.Error())
		return
	}
	page.Put(m.metrics)
	w.closeLater(func() error { page.Drop(m.metrics); return nil })
	w.watchers = append(w.watchers, m)
	w.meter = m
}

func counts(courier *notify.Courier) func() metrics.Events {
	return func() metrics.Events {
		s := courier.Stats()
		return metrics.Events{Delivered: s.Delivered, Failed: s.Failed + s.LeftOut, Waiting: s.Waiting}
	}
}

// A scrape is small and quick; a peer that is neither is cut off.
const (
	scrapeHeader = 2 * time.Second
	scrapeLimit  = 10 * time.Second
)

// metricsPage is what this process serves. The first walk that asks for it begins to listen: a run that takes over in
// the same process is shown beside the one that it took over from.
func (p *program) metricsPage(address string) (*metrics.Page, error) {
	if p.page != nil {
		return p.page, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	p.page = &metrics.Page{}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", p.page.Handler())
	server := &http.Server{Handler: mux, MaxHeaderBytes: 16 << 10,
		ReadHeaderTimeout: scrapeHeader, ReadTimeout: scrapeLimit, WriteTimeout: scrapeLimit}
	go func() { _ = server.Serve(listener) }() // it ends when it is closed
	p.closeLater(server.Close)
	say(p.err, "", "metrics http://"+listener.Addr().String()+"/metrics")
	return p.page, nil
}

func (m *meter) shown(record audit.Record, body any) {
	m.metrics.Record(record, body)
	if state := m.walk.machine.State(); state != nil {
		m.metrics.Stand(state)
	}
}

func (m *meter) replayed(record audit.Record, body any) { m.metrics.Record(record, body) }

// measuredProber takes down how long polls take.
type measuredProber struct {
	prober steps.Prober
	clock  clock
	polled func(time.Duration)
}

func (t measuredProber) Poll(
	ctx context.Context, doc *runbook.Document, asks []probes.Ask, version int64,
) probes.Observation {
	began := t.clock.Now()
	observation := t.prober.Poll(ctx, doc, asks, version)
	t.polled(t.clock.Now().Sub(began))
	return observation
}

// metricsAddress reads --metrics-listen: a port alone is one of this machine that nobody else reaches.
func (s *settings) metricsAddress() (string, error) {
	given := s.metricsListen
	if given == "" {
		return "", nil
	}
	if _, err := strconv.ParseUint(given, 10, 16); err == nil {
		given = ":" + given
	}
	host, port, err := net.SplitHostPort(given)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil || oneLine(host) != host {
		return "", usage(fmt.Errorf("--metrics-listen %q is neither a port nor host:port", given),
			"write 9464 for this machine alone, or 0.0.0.0:9464 for everybody")
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}
