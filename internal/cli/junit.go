package cli

import (
	"context"
	"encoding/xml"
	"errors"
	"os"
	"strings"

	"github.com/rewarm/rewarm/internal/gameday"
)

// junitReport is what CI systems read: a suite for each day, a case for each expectation.
type junitReport struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"` // plays that came to no end
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Time       float64         `xml:"time,attr"` // seconds of the model
	Properties []junitProperty `xml:"properties>property"`
	Cases      []junitCase     `xml:"testcase"`
	Out        string          `xml:"system-out"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	File    string        `xml:"file,attr"`
	Line    int           `xml:"line,attr"`
	Time    float64       `xml:"time,attr"`
	Failure *junitFailure `xml:"failure,omitempty"`
	Error   *junitFailure `xml:"error,omitempty"`
}

type junitFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// writeJUnit writes the verdicts of all days into a file.
func writeJUnit(file string, all []played) error {
	report := junitReport{Name: "rewarm gameday"}
	for _, one := range all {
		suite := junitSuiteOf(one)
		report.Tests += suite.Tests
		report.Failures += suite.Failures
		report.Errors += suite.Errors
		report.Suites = append(report.Suites, suite)
	}
	text, err := xml.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append([]byte(xml.Header), append(text, '\n')...), 0o644)
}

func junitSuiteOf(one played) junitSuite {
	if one.err != nil {
		return junitUnjudged(one)
	}
	r := one.result
	s := junitSuite{Name: printable(r.Day), Tests: len(r.Verdicts), Time: r.Lasted,
		Out: printable("replay: " + one.replay)}
	for _, score := range r.Scores {
		if score.Value != nil {
			s.Properties = append(s.Properties, junitProperty{score.Name, scoreText(score)})
		}
	}
	for _, v := range r.Verdicts {
		c := junitCase{Name: printable(v.Name), Class: printable(r.Day), File: printable(one.day.File),
			Line: v.Line, Time: v.At}
		if v.Held == v.Breaks {
			s.Failures++
			c.Failure = junitFailureOf(v)
		}
		s.Cases = append(s.Cases, c)
	}
	return s
}

// junitUnjudged is the suite of a play that came to no end: nobody may take it for one that passed.
func junitUnjudged(one played) junitSuite {
	why := one.err.Error()
	if errors.Is(one.err, context.Canceled) {
		why = one.notJudged()
	}
	name := printable(one.day.Name)
	return junitSuite{Name: name, Tests: 1, Errors: 1, Time: one.until.Seconds(), Out: printable("replay: " + one.replay),
		Cases: []junitCase{{Name: "the day is judged", Class: name, File: printable(one.day.File), Line: 1,
			Time: one.until.Seconds(), Error: &junitFailure{Message: printable(why)}}}}
}

func junitFailureOf(v gameday.Verdict) *junitFailure {
	return &junitFailure{Message: printable(v.Why), Text: printable(strings.Join(v.Readings, "\n"))}
}
