package tui

import (
	"testing"
	"time"

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
		m.standAt(len(m.kept))
		first += step(records / 2)
		for i := range following {
			next += step(records/2 - 1 - i)
		}
		m.standAt(len(m.kept))
		early += step(start)
	}
	b.ReportMetric(float64(first)/float64(early), "first/start")
	b.ReportMetric(float64(next)/following/float64(early), "next/start")
}

// longWatch is a watch of a walk that waits for a word for so many records.
func longWatch(b *testing.B, records int) *model {
	events := upTo(walked(b), 301)
	m := screenOf(b, events[:1], 160, 50, Options{Watching: true})
	m.story = &Story{}
	last := events[len(events)-1]
	for i := len(events) - 1; last.Record.Kind != steps.KindObserved; i-- {
		last = events[i]
	}
	body, err := steps.DecodeBody(last.Record.Kind, last.Record.Body)
	if err != nil {
		b.Fatal(err)
	}
	last.Body = body
	for i := range records {
		e := last
		if i < len(events) {
			e = events[i]
		}
		e.Record.Seq = uint64(i + 1)
		m.queue.put(&e, "")
		m.take()
	}
	if m.trouble != nil || m.at != records {
		b.Fatal(m.at, m.trouble)
	}
	return m
}
