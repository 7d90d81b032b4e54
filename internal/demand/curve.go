package demand

import "strings"

// Curve says what the origin still completes when it is asked for more than its knee.
type Curve struct {
	Decline  Number  // of the modelled curve, used when nothing was measured
	Measured []Point // loads strictly rising, all beyond the knee
}

// Point is one observation of a load test.
type Point struct {
	Load    Number // attempts/s that were offered
	Goodput Number // useful completions/s
}

// Source says where the goodput beyond the knee comes from: measured or modelled.
func (c Curve) Source() string {
	if len(c.Measured) > 0 {
		return "measured"
	}
	return "modelled"
}

// at is what is completed of a load. Up to the knee it is the load.
func (c Curve) at(load, knee term) term {
	switch {
	case !load.value.above(knee.value):
		return load
	case len(c.Measured) > 0:
		return term{c.interpolated(load.value, knee.value), "measured goodput at that load",
			"on the measured curve at " + load.shown}
	}
	one, decline := term{Whole(1), "1", "1"}, term{c.Decline, "decline", c.Decline.Exact()}
	excess := load.over(knee).minus(one).inBrackets()
	return knee.over(one.plus(decline.times(excess)).inBrackets())
}

// interpolated goes straight from the knee through the measured points, and stays at
// the last of them.
func (c Curve) interpolated(load, knee Number) Number {
	before := Point{knee, knee}
	for _, next := range c.Measured {
		if !load.above(next.Load) {
			part := load.minus(before.Load).over(next.Load.minus(before.Load))
			return before.Goodput.plus(next.Goodput.minus(before.Goodput).times(part))
		}
		before = next
	}
	return before.Goodput
}

// fits refuses points that contradict the knee.
func (c Curve) fits(knee Number) error {
	for _, point := range c.Measured {
		if !point.Load.above(knee) {
			return wrong("leave it out, or lower --knee", "the load %s is not beyond the knee of %s", point.Load.Exact(),
				knee.Exact())
		}
		if point.Goodput.above(knee) {
			return wrong("raise --knee to where goodput stops growing",
				"a goodput of %s is more than at the knee of %s", point.Goodput.Exact(), knee.Exact())
		}
	}
	return nil
}

const pointsHint = "write LOAD=GOODPUT pairs with rising loads, such as 8400=2800,16800=1700"

// parsePoints reads LOAD=GOODPUT,LOAD=GOODPUT.
func parsePoints(text string) ([]Point, error) {
	var points []Point
	for pair := range strings.SplitSeq(text, ",") {
		load, goodput, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, wrong(pointsHint, "%q is not a LOAD=GOODPUT pair", pair)
		}
		point, err := parsePoint(load, goodput)
		if err != nil {
			return nil, err
		}
		if n := len(points); n > 0 && !point.Load.above(points[n-1].Load) {
			return nil, wrong(pointsHint, "the load %q is not above the one before it", load)
		}
		points = append(points, point)
	}
	return points, nil
}

func parsePoint(load, goodput string) (Point, error) {
	var point Point
	var err error
	if point.Load, err = parseDecimal(load); err != nil {
		return point, err
	}
	if point.Goodput, err = parseDecimal(goodput); err != nil {
		return point, err
	}
	if point.Goodput.above(point.Load) {
		return point, wrong(pointsHint, "a goodput of %s is more than its load of %s", point.Goodput.Exact(),
			point.Load.Exact())
	}
	return point, nil
}
