package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rewarm/rewarm/internal/gameday"
)

// sweeping is what a sweep is asked for.
type sweeping struct {
	seeds    string
	books    []string
	mistakes []string
	shard    string
	show     sweepShown
}

// sweepShown says where the results of a sweep go beside the screen.
type sweepShown struct{ out, csv, plot string }

func (p *program) gamedaySweepCommand() *cobra.Command {
	var asked sweeping
	cmd := &cobra.Command{
		Use:   "sweep FILE|NAME",
		Short: "Play one game day under many seeds, and in several ways",
		Long: `Plays one day under every seed of a range, on all cores, once for each way that is given:
runbooks, mistakes and values of parameters, as --set cell=cell-a,cell-b. The table has the
least, the median, the 95th percentile and the greatest of each figure. The first way is what
the others are compared with, seed by seed: the interval is Student's paired 95 %.

--shard 2/4 plays every fourth seed, for four jobs of CI; sweep merge joins what --out wrote.
Memory does not grow with the seeds: quantiles are right within half a percent. Every
figure is a model's.`,
		Args: exactly(1, "gameday sweep FILE|NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.gamedaySweep(cmd.Context(), args[0], asked)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&asked.seeds, "seeds", "1..20", "`RANGE` of seeds")
	flags.StringSliceVar(&asked.books, "runbook", nil, "`BOOKS` that are walked, instead of the day's own")
	flags.StringSliceVar(&asked.mistakes, "mistake", nil,
		"`NAMES` of mistakes of the day, each a way of its own; none, or all")
	flags.StringVar(&asked.shard, "shard", "1/1", "`PART` of the seeds that is played here, as 2/4")
	asked.show.register(cmd)
	cmd.AddCommand(p.sweepMergeCommand())
	return cmd
}

func (s *sweepShown) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&s.out, "out", "", "`FILE` to write the results into, as JSON that sweep merge reads")
	flags.StringVar(&s.csv, "csv", "", "`FILE` to write the table into, as CSV")
	flags.StringVar(&s.plot, "plot", "", "`FILE` to draw the figures into, as SVG")
}

// sweepWay is one way of playing the day.
type sweepWay struct {
	name    string
	day     *gameday.Day
	options gameday.Options
	flags   string // that play it again
}

func (p *program) gamedaySweep(ctx context.Context, name string, asked sweeping) error {
	from, to, err := parseSeeds(asked.seeds)
	if err != nil {
		return err
	}
	shard, of, err := parseShard(asked.shard)
	if err != nil {
		return err
	}
	file, source, err := readDay(name)
	if err != nil {
		return err
	}
	ways, err := p.sweepWays(file, source, asked)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(source)
	var variants []gameday.Variant
	for _, way := range ways {
		variants = append(variants, gameday.Variant{Name: way.name, Book: way.day.Book.Sum()})
	}
	sweep := gameday.NewSweep(ways[0].day.Name, hex.EncodeToString(sum[:]), from, to, shard, of, variants)
	if err := p.playSeeds(ctx, sweep, ways, shard, of); err != nil {
		return err
	}
	if err := p.showSweep(sweep, asked.show); err != nil {
		return err
	}
	return p.sayBroken(sweep, name, ways)
}

// parseSeeds reads a range as 1..1000, or one seed.
func parseSeeds(text string) (from, to uint64, err error) {
	first, last, ranged := strings.Cut(text, "..")
	if !ranged {
		last = first
	}
	from, wrong := strconv.ParseUint(first, 10, 53)
	if wrong == nil {
		to, wrong = strconv.ParseUint(last, 10, 53)
	}
	if wrong != nil || to < from {
		return 0, 0, usage(fmt.Errorf("--seeds %q is no range of seeds", text), "write --seeds 1..1000")
	}
	return from, to, nil
}

// parseShard reads a part as 2/4.
func parseShard(text string) (shard, of int, err error) {
	first, last, _ := strings.Cut(text, "/")
	shard, wrong := strconv.Atoi(first)
	if wrong == nil {
		of, wrong = strconv.Atoi(last)
	}
	if wrong != nil || shard < 1 || shard > of {
		return 0, 0, usage(fmt.Errorf("--shard %q is no part of a sweep", text), "write --shard 2/4 for the second of four")
	}
	return shard, of, nil
}

// sweepWays are all combinations of runbooks, values and mistakes.
func (p *program) sweepWays(file string, source []byte, asked sweeping) ([]sweepWay, error) {
	sets, err := p.settings.combinations()
	if err != nil {
		return nil, err
	}
	books := asked.books
	if len(books) == 0 {
		books = []string{""}
	}
	var ways []sweepWay
	for _, book := range books {
		for _, set := range sets {
			day, err := parseDayWith(file, source, dayLibrary{set: set, book: book})
			if err != nil {
				return nil, err
			}
			if day.Past != nil {
				return nil, usage(fmt.Errorf("game day %s is of one's own past, which knows no seeds", day.Name),
					"play it with rewarm gameday run, which takes --mistake all too")
			}
			if day.Target != "" {
				return nil, usage(fmt.Errorf("game day %s is played on real servers, which know no seeds", day.Name),
					"rewarm gameday run plays it once")
			}
			more, err := p.waysOf(day, book, set, asked.mistakes)
			if err != nil {
				return nil, err
			}
			ways = append(ways, more...)
		}
	}
	return ways, nil
}

// waysOf are the ways of one runbook with its values: one, or one for each mistake.
func (p *program) waysOf(day *gameday.Day, book string, set map[string]string, mistakes []string) ([]sweepWay, error) {
	var parts []string
	if book != "" {
		parts = append(parts, book)
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		parts = append(parts, name+"="+set[name])
	}
	plays, err := p.plays("", day, askedDays{mistaken: len(mistakes) > 0})
	if err != nil {
		return nil, err
	}
	if len(mistakes) > 0 { // one each, and not all at once
		if plays, err = p.eachMistake(day, mistakes); err != nil {
			return nil, err
		}
	}
	var ways []sweepWay
	for _, one := range plays {
		named := parts
		if len(mistakes) > 0 {
			named = append(slices.Clone(parts), strings.Join(append([]string{}, one.options.Mistakes...), "+"))
			if len(one.options.Mistakes) == 0 {
				named[len(named)-1] = noMistake
			}
		}
		ways = append(ways, sweepWay{name: sweepName(named), day: one.day, options: one.options,
			flags: bookFlag(book) + setFlags(set)})
	}
	return ways, nil
}

// eachMistake are plays with one of these mistakes each, or none.
func (p *program) eachMistake(day *gameday.Day, mistakes []string) ([]play, error) {
	var list []play
	for _, mistake := range mistakes {
		plays, err := p.plays("", day, askedDays{mistakes: []string{mistake}, mistaken: true})
		if err != nil {
			return nil, err
		}
		list = append(list, plays...)
	}
	return list, nil
}

func sweepName(parts []string) string {
	if len(parts) == 0 {
		return "as it is"
	}
	return strings.Join(parts, ", ")
}

// combinations are the values of --set, of which each name may have several with commas
// between them.
func (s *settings) combinations() ([]map[string]string, error) {
	all, err := s.parameters()
	if err != nil {
		return nil, err
	}
	sets := []map[string]string{{}}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		var more []map[string]string
		for _, value := range strings.Split(all[name], ",") {
			for _, set := range sets {
				with := maps.Clone(set)
				with[name] = value
				more = append(more, with)
			}
		}
		sets = more
	}
	return sets, nil
}

// playSeeds plays the seeds of a shard on all cores, and takes them in their order, so that
// the same sweep always gives the same results.
func (p *program) playSeeds(ctx context.Context, sweep *gameday.Sweep, ways []sweepWay, shard, of int) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cores := runtime.GOMAXPROCS(0)
	seeds := make(chan chan seedPlayed, 2*cores)
	room := make(chan struct{}, cores)
	go func() {
		defer close(seeds)
		for seed := sweep.From + uint64(shard-1); seed <= sweep.To && ctx.Err() == nil; seed += uint64(of) {
			end := make(chan seedPlayed, 1)
			seeds <- end
			room <- struct{}{}
			go func() {
				end <- playSeed(ctx, ways, seed)
				<-room
			}()
		}
	}()
	told := p.progress("playing", "seeds", float64((sweep.To-sweep.From+uint64(of)-uint64(shard)+1)/uint64(of)))
	defer told.end()
	var failed error
	for end := range seeds {
		one := <-end
		if failed == nil && one.err != nil {
			failed = one.err
			cancel()
		}
		if failed == nil {
			sweep.Add(one.plays)
			told.add(1)
		}
	}
	return failed
}

// seedPlayed is one seed, played in every way.
type seedPlayed struct {
	plays []*gameday.Result
	err   error
}

func playSeed(ctx context.Context, ways []sweepWay, seed uint64) seedPlayed {
	var all seedPlayed
	for _, way := range ways {
		o := way.options
		o.Seed = seed
		r, err := way.day.Play(ctx, o)
		if err != nil {
			return seedPlayed{err: fmt.Errorf("seed %d, %s: %w", seed, way.name, err)}
		}
		all.plays = append(all.plays, r)
	}
	return all
}

// sayBroken says how to play the first seed again of which not everything held.
func (p *program) sayBroken(sweep *gameday.Sweep, name string, ways []sweepWay) error {
	if p.settings.json() {
		return nil
	}
	for i, v := range sweep.Variants {
		if v.Broken == nil {
			continue
		}
		o := ways[i].options
		o.Seed = *v.Broken
		fmt.Fprintf(p.out, "%s: not everything came true in %s, first with seed %d: %s\n", v.Name,
			countOf(v.Played-v.Held, "play"), o.Seed,
			p.playedAgain(name, "", o, ways[i].flags))
	}
	return nil
}

func (p *program) sweepMergeCommand() *cobra.Command {
	var show sweepShown
	cmd := &cobra.Command{
		Use:   "merge FILE...",
		Short: "Join the shards of a sweep",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(errors.New("no file given"), "write: rewarm gameday sweep merge FILE...")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return p.sweepMerge(args, show) },
	}
	show.register(cmd)
	return cmd
}

func (p *program) sweepMerge(files []string, show sweepShown) error {
	var all *gameday.Sweep
	for _, file := range files {
		one, err := readSweep(file)
		if err != nil {
			return err
		}
		if all == nil {
			all = one
		} else if err := all.Join(one); err != nil {
			return usage(fmt.Errorf("%s: %w", file, err), "join the shards of one sweep, each once")
		}
	}
	if err := p.showSweep(all, show); err != nil {
		return err
	}
	if missing := all.Missing(); len(missing) > 0 {
		return fail(exitHeld, fmt.Errorf("of %d shards %s missing: %v", all.Of,
			map[bool]string{true: "one is", false: "some are"}[len(missing) == 1], missing),
			"give the files of all shards")
	}
	return nil
}

func readSweep(file string) (*gameday.Sweep, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, usage(err, "give files that rewarm gameday sweep --out has written")
	}
	var s gameday.Sweep
	if err := json.Unmarshal(text, &s); err != nil || s.Format != gameday.SweepFormat {
		return nil, usage(fmt.Errorf("%s holds no results of a sweep", file),
			"give files that rewarm gameday sweep --out has written")
	}
	return &s, nil
}
