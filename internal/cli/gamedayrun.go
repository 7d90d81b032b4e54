package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rewarm/rewarm/internal/gameday"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

// askedDays is what game days are asked for.
type askedDays struct {
	names    []string
	all      bool // every bundled day
	seed     uint64
	seeded   bool // the seed was given
	mistakes []string
	mistaken bool   // mistakes were given
	book     string // that is walked in the place of the day's own; "" for that
	target   string // that real servers must bear
	junit    string
	evidence string
	operator string // who walks
	watch    bool   // the walk is shown as it goes
}

func (p *program) gamedayRunCommand() *cobra.Command {
	var asked askedDays
	cmd := &cobra.Command{
		Use:   "run FILE|NAME... | run --all",
		Short: "Play game days and judge what must come true",
		Long: `Plays scripts: what breaks, who does what, and what must come true; on the lab in virtual time,
or in real time on the servers that are named by --target and by the day, with what breaks them.
Each expectation gets a verdict, with the first moment at which it broke and what was read
there; the scorecard tells the rest. What is unknown has not passed. On the lab every figure is a
model's, and one seed always plays alike: a day that failed prints the command that replays it.

With --operator human you walk, on a terminal and in real time or at --speed N, and are not
told what breaks; of several days one is drawn. At the end what you did is shown beside what
the script does.

With --watch you look on while the script plays one day, at four times real time or at
--speed N; q leaves the screen, and the rest is played at once.

Exit 7 when something did not hold. docs/gamedays.md describes the files.`,
		Args: func(_ *cobra.Command, args []string) error {
			if (len(args) == 0) != asked.all {
				return usage(errors.New("give game days, or --all for every bundled one"),
					"write: rewarm gameday run FILE|NAME..., bundled are "+strings.Join(bundledDays(), ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if asked.names = args; asked.all {
				asked.names = bundledDays()
			}
			asked.seeded, asked.mistaken = cmd.Flags().Changed("seed"), cmd.Flags().Changed("mistake")
			return p.gamedayRun(cmd.Context(), asked)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&asked.all, "all", false, "play every bundled game day")
	flags.Uint64Var(&asked.seed, "seed", 0, "`NUMBER` that makes two plays alike; the day's own unless given")
	flags.StringArrayVar(&asked.mistakes, "mistake", nil,
		"`NAME` of a mistake of the day that the operator makes; may be repeated; none, or all for a play with each")
	flags.StringVar(&asked.book, "runbook", "", "`BOOK` that is walked, instead of the day's own")
	flags.StringVar(&asked.target, "target", "", "`NAME` of the real servers that the day may break, as it stands in the day")
	flags.StringVar(&asked.junit, "junit", "", "`FILE` to write the verdicts into, as JUnit XML")
	flags.StringVar(&asked.evidence, "evidence", "", "`DIR` to write a bundle of evidence of every run into")
	flags.BoolVar(&asked.watch, "watch", false, "show the walk as it goes, in the console or as lines")
	flags.StringVar(&asked.operator, "operator", operatorScript, "`WHO` walks: script, or human for you")
	return cmd
}

// Words beside the names of mistakes: for an operator who makes none, and for a play without
// any and one with each.
const noMistake, eachMistake = "none", "all"

// options are how a day is played.
func (p *program) options(day *gameday.Day, asked askedDays) gameday.Options {
	o := gameday.Options{Seed: day.Story.Seed, Version: thisBuild().Version, Approve: p.approvesDay()}
	if day.Seeded {
		o.Seed = day.Seed
	}
	if asked.seeded {
		o.Seed = asked.seed
	}
	return o
}

// plays are the ways in which a day is to be played: once, or once for each mistake.
func (p *program) plays(name string, day *gameday.Day, asked askedDays) ([]play, error) {
	set, err := p.settings.parameters()
	if err != nil {
		return nil, err
	}
	flags := bookFlag(asked.book) + setFlags(set)
	if !asked.mistaken {
		return []play{{day, name, p.options(day, asked), flags}}, nil
	}
	var made [][]string
	one := []string{}
	for _, mistake := range asked.mistakes {
		switch {
		case mistake == eachMistake:
			for _, m := range day.Mistakes {
				made = append(made, []string{m.Name})
			}
		case mistake == noMistake:
		case day.Mistake(mistake) == nil:
			return nil, usage(fmt.Errorf("game day %s describes no mistake %q", day.Name, mistake),
				"its mistakes are "+mistakesOf(day))
		default:
			one = append(one, mistake)
		}
	}
	var list []play
	for _, mistakes := range append([][]string{one}, made...) {
		o := p.options(day, asked)
		o.Mistakes = mistakes
		list = append(list, play{day, name, o, flags})
	}
	return list, nil
}

// play is one playing of a day.
type play struct {
	day     *gameday.Day
	name    string // by which the day was asked for
	options gameday.Options
	flags   string // that choose its runbook and parameters
}

// approvesDay is who answers on every day, "" for what each says.
func (p *program) approvesDay() string {
	switch {
	case !p.settings.given["approve"]:
		return ""
	case p.settings.approve == string(steps.Auto):
		return runbook.ApproveAuto
	}
	return runbook.ApprovePerson
}

// played is how one day went.
type played struct {
	day    *gameday.Day
	result *gameday.Result
	replay string // the command that plays it again
	err    error
	until  time.Duration // of the day it went, on the lab
}

func (p *program) gamedayRun(ctx context.Context, asked askedDays) error {
	if asked.evidence != "" {
		if err := os.MkdirAll(asked.evidence, 0o755); err != nil {
			return fail(exitError, err, "give another folder with --evidence")
		}
	}
	switch asked.operator {
	case operatorHuman:
		return p.practise(ctx, asked)
	case operatorScript:
	default:
		return usage(fmt.Errorf("--operator %q is neither script nor human", asked.operator),
			"script plays what the day says, human lets you walk")
	}
	var plays []play
	for _, name := range asked.names {
		day, err := p.openDay(name, asked.book)
		if err != nil {
			return err
		}
		list, err := p.plays(name, day, asked)
		if err != nil {
			return err
		}
		plays = append(plays, list...)
	}
	all, err := p.playHere(ctx, plays, asked)
	if err := errors.Join(err, p.keepJUnit(asked.junit, all)); err != nil {
		return err
	}
	return p.sumUp(all)
}

// playHere plays on the lab, or on real servers where the one day says so. Where a play came to no end it gives those
// that did beside the error.
func (p *program) playHere(ctx context.Context, plays []play, asked askedDays) ([]played, error) {
	real := slices.IndexFunc(plays, func(one play) bool { return one.day.Target != "" })
	switch {
	case real < 0 && asked.target != "":
		return nil, usage(errors.New("--target is for a day that has one; these are played on the lab"), "leave --target out")
	case real < 0 && slices.Contains(p.settings.flagged, "metrics-listen"):
		return nil, usage(errors.New("--metrics-listen serves a walk in real time, and the lab plays by its script in a moment"),
			"leave it out; it counts with --operator human, and on real servers")
	case asked.watch:
		return p.playWatched(ctx, plays, asked.evidence)
	case real < 0:
		return p.playAll(ctx, plays, asked.evidence)
	case len(plays) > 1:
		return nil, usage(fmt.Errorf("game day %s breaks real servers, so it is played alone", plays[real].day.Name),
			"play it once, and no other with it")
	}
	return p.playOnTarget(ctx, plays[0], asked)
}

// keepJUnit writes the verdicts where they are asked for.
func (p *program) keepJUnit(file string, all []played) error {
	if file == "" || len(all) == 0 {
		return nil
	}
	if err := writeJUnit(file, all); err != nil {
		return fail(exitError, err, "give another file with --junit")
	}
	return nil
}

func mistakesOf(day *gameday.Day) string {
	names := []string{noMistake}
	for _, m := range day.Mistakes {
		names = append(names, m.Name)
	}
	return strings.Join(names, ", ")
}

// playAll plays on all cores, and shows each play as soon as those before it are shown. The first that comes to no end
// ends the others.
func (p *program) playAll(ctx context.Context, plays []play, evidence string) (all []played, err error) {
	ctx, cancel := p.untilInterrupted(ctx)
	defer cancel()
	ends := make([]chan played, len(plays))
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, one := range plays {
		ends[i] = make(chan played, 1)
		go func() {
			room <- struct{}{}
			defer func() { <-room }()
			if err := ctx.Err(); err != nil {
				ends[i] <- played{day: one.day, replay: p.replayOf(one), err: err}
				return
			}
			ends[i] <- p.playDay(ctx, one, evidence)
		}()
	}
	for _, end := range ends {
		one := <-end
		switch {
		case err != nil:
		case one.err != nil:
			err = notPlayed(one, len(all), len(plays))
			cancel()
		default:
			if err = p.showDay(one); err != nil {
				cancel()
			}
		}
		all = append(all, one)
	}
	return all, err
}

// notPlayed says why a play came to no end. One that was interrupted counts as nothing: what its day expects is judged
// at the end alone.
func notPlayed(one played, judged, asked int) error {
	if !errors.Is(one.err, context.Canceled) {
		return fmt.Errorf("game day %s: %w", one.day.Name, one.err)
	}
	text := one.notJudged()
	if asked > 1 {
		text += fmt.Sprintf("; %d of %s were judged before it", judged, countOf(asked, "play"))
	}
	return fail(exitInterrupted, errors.New(text), one.replay+" plays it again")
}

// notJudged says of a play that was interrupted how far it came.
func (one played) notJudged() string {
	return fmt.Sprintf("game day %s was interrupted after %s of its %s: it is not judged, so it has neither passed nor failed",
		one.day.Name, moment(one.until.Seconds()), one.day.Duration)
}

func (p *program) playDay(ctx context.Context, one play, evidence string) played {
	o := one.options
	if evidence != "" {
		keeper, err := newDayKeeper(p, evidence)
		if err != nil {
			return played{day: one.day, err: err}
		}
		defer keeper.close()
		o.Journal, o.Ended = keeper.journal, keeper.ended
	}
	end := played{day: one.day, replay: p.replayOf(one)}
	o.OnSecond = func(elapsed time.Duration) { end.until = elapsed }
	end.result, end.err = one.day.Play(ctx, o)
	return end
}

// replayOf is the command that plays the same once more.
func (p *program) replayOf(one play) string {
	return p.playedAgain(one.name, one.day.Target, one.options, one.flags)
}

// playedAgain is the command that plays a day in the same way again.
func (p *program) playedAgain(name, target string, o gameday.Options, flags string) string {
	text := "rewarm gameday run " + shellWord(name) + " --seed " + strconv.FormatUint(o.Seed, 10)
	if target != "" {
		text = p.command("gameday run", shellWord(name)+" --target "+target)
	}
	for _, mistake := range o.Mistakes {
		text += " --mistake " + shellWord(mistake)
	}
	if o.Mistakes != nil && len(o.Mistakes) == 0 {
		text += " --mistake " + noMistake
	}
	if p.settings.given["approve"] {
		text += " --approve " + p.settings.approve
	}
	return text + flags
}

// bookFlag spells another runbook as a flag.
func bookFlag(book string) string {
	if book == "" {
		return ""
	}
	return " --runbook " + shellWord(book)
}

// setFlags spells parameters as flags.
func setFlags(set map[string]string) string {
	text := ""
	for _, name := range slices.Sorted(maps.Keys(set)) {
		text += " --set " + shellWord(name+"="+set[name])
	}
	return text
}

// sumUp says in a line how many days passed, and gives the exit code.
func (p *program) sumUp(all []played) error {
	passed := 0
	for _, one := range all {
		if one.result.Passed {
			passed++
		}
	}
	if !p.settings.json() {
		fmt.Fprintf(p.out, "%d of %s passed\n", passed, countOf(len(all), "game day"))
	}
	if passed < len(all) {
		return quiet(exitNotHeld, errNotHeld)
	}
	return nil
}

// encode writes one line of JSON.
func (p *program) encode(v any) error { return json.NewEncoder(p.out).Encode(v) }
