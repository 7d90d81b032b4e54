package tui

import (
	"iter"
	"testing"
	"time"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/largerun"
	"github.com/rewarm/rewarm/steps"
)

// BenchmarkFrame draws a frame of a walk with its whole past at 160x50: after a record that only measures or a second
// in which nothing came, and after one that says something.
func BenchmarkFrame(b *testing.B) {
	for name, says := range map[string]bool{"measured": false, "said": true} {
		b.Run(name, func(b *testing.B) {
			m := screenOf(b, upTo(walked(b), 301), 160, 50, Options{})
			b.ReportAllocs()
			for b.Loop() {
				if says {
					m.story.told++
				}
				m.frame()
			}
		})
	}
}

// BenchmarkLargeFrame draws a frame of a run of 60 steps, 40 probes and 10,000 records at 160x50: with half of the brakes'
// effects owed and failing, and where a release waits for a word.
func BenchmarkLargeFrame(b *testing.B) {
	const records = 10_000
	events := largeRun(b, records)
	for name, seen := range map[string]int{"owed": records - largerun.Calm, "asked": records} {
		m := screenOf(b, events[:seen], 160, 50, Options{})
		for _, says := range []string{"measured", "said"} {
			b.Run(name+"/"+says, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if says == "said" {
						m.story.told++
					}
					m.frame()
				}
			})
		}
	}
}

// BenchmarkScrub goes back in time, an event at a time, in the middle of a run of 100,000 records and behind its first
// hundreds, and tells how much longer that takes: for the step that goes there first, and for those after it.
func BenchmarkScrub(b *testing.B) {
	const records, start, following = 100_000, 300, 20
	var first, next, early time.Duration
	m := longWatch(b, records)
	step := func(to int) time.Duration {
		begun := time.Now()
		m.standAt(to)
		m.frame()
		return time.Since(begun)
	}
	for b.Loop() {
		m.standAt(m.came)
		first += step(records / 2)
		for i := range following {
			next += step(records/2 - 1 - i)
		}
		m.standAt(m.came)
		early += step(start)
	}
	b.ReportMetric(float64(first)/float64(early), "first/start")
	b.ReportMetric(float64(next)/following/float64(early), "next/start")
}

// longWatch is a watch of a walk that waits for a word for so many records.
func longWatch(t testing.TB, records int) *model {
	log := waiting(t)
	m := screenOf(t, []Event{log(0)}, 160, 50, Options{Watching: true, Again: func(from, to int) iter.Seq2[audit.Record, error] {
		return func(yield func(audit.Record, error) bool) {
			for i := from; i < to && yield(log(i).Record, nil); i++ {
			}
		}
	}})
	m.story = &Story{}
	feed(t, m, log, records)
	return m
}

// feed lets a watch go on with a log up to so many records.
func feed(t testing.TB, m *model, log func(i int) Event, records int) {
	decoder := steps.NewDecoder()
	for i := m.came; i < records; i++ {
		e, err := log(i), error(nil)
		if e.Body, err = decoder.Body(e.Record.Kind, e.Record.Body); err != nil {
			t.Fatal(err)
		}
		m.queue.put(e)
		m.take()
	}
	if m.trouble != nil || m.at != records {
		t.Fatal(m.at, m.trouble)
	}
}

// waiting gives the log of a walk that waits for a word for ever: the how manyth event it has, 0 for the first.
func waiting(t testing.TB) func(i int) Event {
	events := upTo(walked(t), 301)
	last := events[len(events)-1]
	for i := len(events) - 1; last.Record.Kind != steps.KindObserved; i-- {
		last = events[i]
	}
	return func(i int) Event {
		e := last
		if i < len(events) {
			e = events[i]
		}
		e.Record.Seq = uint64(i + 1)
		return e
	}
}
