package probes

import (
	"context"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/rewarm/rewarm/runbook"
)

// Course is how a probe went over a time, as Prometheus keeps it.
type Course struct {
	Probe  string
	Unit   string
	Query  string
	Detail string // why there is none, printable; "" when there is
	Series []CourseSeries
}

// CourseSeries is one series of a course, with printable labels; sorted by them.
type CourseSeries struct {
	Series string
	Points []CoursePoint
}

// CoursePoint is one value, as Prometheus writes it.
type CoursePoint struct {
	At  time.Time
	Raw string
}

// longestCourse bounds how long one range query may take: it stands beside a walk, never before a brake.
const longestCourse = 30 * time.Second

// mostCourseSeries bounds the series that are kept of one probe, those first by their labels.
const mostCourseSeries = 20

// Courses asks for the probes of a runbook over a time, one after the other, each when its turn comes. A probe whose
// query asks about a rung has no course.
func (p *Poller) Courses(
	ctx context.Context, doc *runbook.Document, from, to time.Time, step time.Duration,
) iter.Seq[Course] {
	return func(yield func(Course) bool) {
		for i := range doc.Probes {
			if !yield(p.course(ctx, &doc.Probes[i], from, to, step)) {
				return
			}
		}
	}
}

func (p *Poller) course(ctx context.Context, probe *runbook.Probe, from, to time.Time, step time.Duration) Course {
	c := Course{Probe: probe.Name, Unit: probe.Unit, Query: probe.Query}
	if probe.UsesRung() {
		c.Detail = "its query asks about a rung of a ladder"
		return c
	}
	ctx, cancel := p.clock.Deadline(ctx, longestCourse)
	defer cancel()
	c.Series, c.Detail = p.client.course(ctx, probe.Query, from, to, step, longestCourse)
	slices.SortFunc(c.Series, func(a, b CourseSeries) int { return strings.Compare(a.Series, b.Series) })
	c.Series = c.Series[:min(len(c.Series), mostCourseSeries)]
	return c
}
