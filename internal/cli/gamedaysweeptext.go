package cli

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/rewarm/rewarm/internal/gameday"
	"github.com/rewarm/rewarm/runbook"
)

// sweepScores are the figures of the table and the plot; the files have all.
var sweepScores = []string{"recovered", "worst-demand", "stale-reads", "lost-reads", "holds"}

// showSweep prints the table, and writes what was asked for.
func (p *program) showSweep(s *gameday.Sweep, show sweepShown) error {
	if p.settings.json() {
		if err := p.encode(s); err != nil {
			return err
		}
	} else if err := writeSweepTable(p.out, s); err != nil {
		return err
	}
	for _, kept := range []struct {
		file, flag string
		write      func(io.Writer, *gameday.Sweep) error
	}{{show.out, "out", writeSweepJSON}, {show.csv, "csv", writeSweepCSV}, {show.plot, "plot", writeSweepPlot}} {
		if kept.file == "" {
			continue
		}
		if err := writeInto(kept.file, func(w io.Writer) error { return kept.write(w, s) }); err != nil {
			return fail(exitError, err, "give another file with --"+kept.flag)
		}
	}
	return nil
}

func writeInto(file string, write func(io.Writer) error) error {
	to, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(write(to), to.Close())
}

func writeSweepJSON(w io.Writer, s *gameday.Sweep) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(s)
}

func writeSweepTable(w io.Writer, s *gameday.Sweep) error {
	fmt.Fprintf(w, "game day %s, seeds %d..%d (every figure is a model's)\n", oneLine(s.Day), s.From, s.To)
	if len(s.Shards) < s.Of {
		fmt.Fprintf(w, "shards %v of %d\n", s.Shards, s.Of)
	}
	for i := range s.Variants {
		v := &s.Variants[i]
		fmt.Fprintf(w, "%s: %d of %s passed\n", oneLine(v.Name), v.Held, countOf(v.Played, "play"))
		fmt.Fprintf(w, "  %-14s %14s %14s %14s %14s  %s\n", "", "least", "median", "95 %", "greatest", secondHead(i))
		for _, d := range runbook.DayScores {
			if shown(d.Name) {
				fmt.Fprintf(w, "  %s\n", sweepRow(v, d.Name, d.Unit))
			}
		}
	}
	return nil
}

func shown(score string) bool {
	for _, name := range sweepScores {
		if name == score {
			return true
		}
	}
	return false
}

func secondHead(variant int) string {
	if variant == 0 {
		return ""
	}
	return "more than the first, 95 % interval"
}

// sweepRow is one figure of a variant.
func sweepRow(v *gameday.Variant, score, unit string) string {
	sketch := v.Scores[score]
	if sketch.Count == 0 {
		return fmt.Sprintf("%-14s %14s", score, never)
	}
	row := fmt.Sprintf("%-14s", score)
	for _, share := range []float64{0, 0.5, 0.95, 1} {
		row += fmt.Sprintf(" %14s", scoreOf(sketch.Quantile(share), score, unit))
	}
	if sketch.Missing > 0 {
		row += fmt.Sprintf("  not in %s", countOf(sketch.Missing, "play"))
	}
	paired := v.Beside[score]
	if low, high, ok := paired.Interval(); ok {
		row += fmt.Sprintf("  %+.4g (%+.4g to %+.4g)", paired.Average, low, high)
	}
	return row
}

func scoreOf(v float64, score, unit string) string {
	return scoreText(gameday.Score{Name: score, Unit: unit, Value: &v})
}

func writeSweepCSV(w io.Writer, s *gameday.Sweep) error {
	c := csv.NewWriter(w)
	rows := [][]string{{"variant", "score", "unit", "plays", "missing", "min", "median", "p95", "max", "mean",
		"minus_first", "interval_low", "interval_high"}}
	number := func(f float64) string { return strconv.FormatFloat(f, 'g', 10, 64) }
	for i := range s.Variants {
		v := &s.Variants[i]
		for _, d := range runbook.DayScores {
			sketch := v.Scores[d.Name]
			row := []string{printable(v.Name), d.Name, d.Unit, strconv.Itoa(sketch.Count), strconv.Itoa(sketch.Missing), "", "",
				"", "", "", "", "", ""}
			if sketch.Count > 0 {
				for j, f := range []float64{sketch.Quantile(0), sketch.Quantile(0.5), sketch.Quantile(0.95), sketch.Quantile(1),
					sketch.Mean()} {
					row[5+j] = number(f)
				}
			}
			paired := v.Beside[d.Name]
			if low, high, ok := paired.Interval(); ok {
				row[10], row[11], row[12] = number(paired.Average), number(low), number(high)
			}
			rows = append(rows, row)
		}
	}
	return c.WriteAll(rows)
}
