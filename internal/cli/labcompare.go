package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/runbook"
)

func (p *program) labCompareCommand() *cobra.Command {
	var asked comparing
	cmd := &cobra.Command{
		Use:   "compare [BOOK]",
		Short: "How long a scenario takes left alone, and with a runbook",
		Long: `Plays a scenario on the lab three times with one seed: left alone, with the gates alone
approving, and with a person who takes 8 s for each word. All are measured from the
collapse, 10:08 in the case study, to the end of the last interval in which the runbook's
exit holds. Every figure is a model's.

The floor is what warming takes at least: keys that are cold at the collapse, over what
the admission limit leaves beside the live misses.`,
		Args: atMost(1, "lab compare [BOOK]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			asked.books, asked.seeded = args, cmd.Flags().Changed("seed")
			return p.labCompare(cmd.Context(), asked)
		},
	}
	scenarioFlag(cmd, &asked.scenario)
	cmd.Flags().Uint64Var(&asked.seed, "seed", 0, "`NUMBER` that makes two runs alike; the scenario's own unless given")
	cmd.Flags().StringVar(&asked.plot, "plot", "", "`FILE` to draw both runs into, as SVG")
	return cmd
}

// comparing is what a comparison is asked for.
type comparing struct {
	scenario string
	books    []string // one at most
	seed     uint64
	seeded   bool // the seed was given
	plot     string
}

func (p *program) labCompare(ctx context.Context, asked comparing) error {
	scenario, err := openScenario(asked.scenario)
	if err != nil {
		return err
	}
	if !asked.seeded {
		asked.seed = scenario.Seed
	}
	doc, err := p.openBook(append(asked.books, scenario.Runbook)[0])
	if err != nil {
		return err
	}
	if err := rehearsable(doc); err != nil {
		return err
	}
	if asked.plot != "" {
		if err := plotComparison(ctx, asked.plot, doc, scenario, asked.seed); err != nil {
			return err
		}
	}
	c, err := compare(ctx, doc, scenario, asked.seed, lab.Variation{}, p.tellOfTrial)
	if err != nil {
		return err
	}
	if p.settings.json() {
		return json.NewEncoder(p.out).Encode(c)
	}
	return c.write(p.out)
}

// comparison is how a scenario went. Durations are seconds from the collapse.
type comparison struct {
	Scenario  string   `json:"scenario"`
	Runbook   string   `json:"runbook"`
	Seed      uint64   `json:"seed"`
	Modelled  bool     `json:"modelled"` // always: every figure is a model's
	From      string   `json:"from"`     // time of day of the collapse
	LeftAlone *float64 `json:"left_alone_seconds"`
	Auto      *float64 `json:"recovered_auto_seconds"`
	Person    *float64 `json:"recovered_person_seconds"`
	Words     int      `json:"words"`
	PerWord   float64  `json:"seconds_per_word"`
	Saved     *float64 `json:"saved_seconds"`             // left alone less recovered with a person
	LostAlone int      `json:"left_alone_unserved_reads"` // refused or failed
	LostAuto  int      `json:"recovered_auto_unserved_reads"`
	LostHand  int      `json:"recovered_person_unserved_reads"`
	Cold      int      `json:"keys_to_warm"`
	Limit     float64  `json:"limit_attempts_per_second"`
	Misses    float64  `json:"live_misses_per_second"`
	Floor     float64  `json:"floor_seconds"`

	longest time.Duration // that was waited for, in the lab's time
}

// collapseAfter is how long after the start of a scenario its collapse is seen: half a
// minute, which is 10:08 in the case study.
const collapseAfter = 30 * time.Second

// dayOfTrials is the day on which trials are, so that two of them are equal.
var dayOfTrials = time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)

// perWord is how long a person takes for a word.
const perWord = 8 * time.Second

// longestTrial bounds a trial, in the lab's time.
const longestTrial = time.Hour

func compare(ctx context.Context, doc *runbook.Document, scenario *lab.Scenario, seed uint64, vary lab.Variation, tell func(what string) *progress) (*comparison, error) {
	c := &comparison{
		Scenario: scenario.Name, Runbook: doc.Name, Seed: seed, Modelled: true, PerWord: perWord.Seconds(),
		From: time.Time{}.Add(scenario.Start + collapseAfter).Format(time.TimeOnly),
	}
	begin := beginning(doc, scenario, seed, vary)
	told := tell("1 of 3, left alone")
	err := c.leaveAlone(ctx, begin.told(told), longestTrial)
	told.end()
	if err != nil {
		return nil, err
	}
	told = tell("2 of 3, recovered as gates approve")
	c.Auto, c.LostAuto, _, err = recoverWith(ctx, begin.told(told), 0)
	told.end()
	if err != nil {
		return nil, err
	}
	told = tell("3 of 3, recovered by a person")
	c.Person, c.LostHand, c.Words, err = recoverWith(ctx, begin.told(told), perWord)
	told.end()
	if err != nil {
		return nil, err
	}
	if c.LeftAlone != nil && c.Person != nil {
		saved := *c.LeftAlone - *c.Person
		c.Saved = &saved
	}
	c.floor(doc)
	return c, nil
}

type beginTrial func(word time.Duration) (*trial, error)

// told begins trials that tell how far they are.
func (begin beginTrial) told(g *progress) beginTrial {
	return func(word time.Duration) (*trial, error) {
		t, err := begin(word)
		if err == nil && g != nil {
			t.each = func() error { g.reach(t.elapsed().Seconds()); return nil }
		}
		return t, err
	}
}

// tellOfTrial tells of a trial, whose length nobody knows before.
func (p *program) tellOfTrial(what string) *progress { return p.progress(what, "modelled seconds", 0) }

// beginning begins trials of a scenario at its collapse, all alike.
func beginning(doc *runbook.Document, scenario *lab.Scenario, seed uint64, vary lab.Variation) beginTrial {
	collapse := scenario.Start + collapseAfter
	return func(word time.Duration) (*trial, error) {
		l, err := lab.New(lab.Options{Seed: seed, Scenario: scenario, From: collapse, Variation: vary,
			Start: dayOfTrials.Add(collapse)})
		if err != nil {
			return nil, err
		}
		return &trial{doc: doc, lab: l, began: l.Clock().Now(), before: l.Unserved(), longest: longestTrial, word: word}, nil
	}
}

func (c *comparison) leaveAlone(ctx context.Context, begin beginTrial, longest time.Duration) error {
	t, err := begin(0)
	if err != nil {
		return err
	}
	defer t.lab.Close()
	c.longest, t.longest = longest, longest
	c.Cold, c.Misses = t.lab.Cold(), t.lab.WarmMisses()
	took, err := t.leftAlone(ctx)
	c.LostAlone = t.unserved()
	if errors.Is(err, errTooLong) {
		return nil
	}
	c.LeftAlone = inSeconds(took)
	return err
}

// recoverWith walks the runbook to the recovery. No time means that it was not reached.
func recoverWith(
	ctx context.Context, begin beginTrial, word time.Duration,
) (took *float64, lost, words int, err error) {
	t, err := begin(word)
	if err != nil {
		return nil, 0, 0, err
	}
	defer t.lab.Close()
	state, err := t.walked(ctx, false)
	if err == nil && state.Recovered != nil {
		took = inSeconds(time.Duration(state.Recovered.TookMS) * time.Millisecond)
	}
	if errors.Is(err, errTooLong) {
		err = nil
	}
	return took, t.unserved(), t.words, err
}

func inSeconds(d time.Duration) *float64 {
	s := d.Seconds()
	return &s
}

// floor is what warming takes at least, when every cold key is fetched from the origin
// inside the limit.
func (c *comparison) floor(doc *runbook.Document) {
	if figure := doc.Figure("limit"); figure != nil {
		c.Limit = figure.Value
	}
	if left := c.Limit - c.Misses; left > 0 {
		c.Floor = float64(c.Cold) / left
	}
}

func (c *comparison) write(to io.Writer) error {
	_, err := fmt.Fprintf(to, `scenario %s, runbook %s, seed %d, from %s (every figure is a model's)
left alone                %s, %d reads refused or failed
recovered, gates approve  %s, %d reads
recovered, by a person    %s, %d reads, %d words of %.0f s
difference                %s
floor of warming          %.1f s: %d cold keys over the %.0f/s that %.0f live misses/s leave of %.0f/s
`,
		c.Scenario, c.Runbook, c.Seed, c.From, c.minutes(c.LeftAlone), c.LostAlone, c.minutes(c.Auto), c.LostAuto,
		c.minutes(c.Person), c.LostHand, c.Words, c.PerWord, c.minutes(c.Saved), c.Floor, c.Cold, c.Limit-c.Misses,
		c.Misses, c.Limit)
	return err
}

func (c *comparison) minutes(seconds *float64) string {
	if seconds == nil {
		return "not within " + c.longest.String()
	}
	return fmt.Sprintf("%.1f min (%.0f s)", *seconds/60, *seconds)
}
