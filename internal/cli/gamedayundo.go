package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/gameday"
)

// dayFolder is where a day on real servers keeps what it has injected.
type dayFolder struct{ dir, day string }

func (f dayFolder) logPath() string { return filepath.Join(f.dir, "injections.jsonl") }

// read gives what the day was and what it has not taken back. A day whose process ended before its
// first record has done nothing.
func (f dayFolder) read() (gameday.DayBegun, []*gameday.OpenInjection, error) {
	if info, err := os.Stat(f.logPath()); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return gameday.DayBegun{}, nil, nil
	}
	begun, open, err := gameday.ReadDay(audit.Records(f.logPath()))
	if err != nil {
		err = fail(exitUnverified, fmt.Errorf("whether game day %s has left something broken cannot be read: %w", f.day, err),
			"see what it has injected in "+f.logPath()+", take it back by hand, and move the folder away")
	}
	return begun, open, err
}

func (p *program) daysHome() (string, error) {
	home, err := p.stateHome()
	if err != nil {
		return "", err
	}
	return filepath.Join(home, "gamedays"), nil
}

func (p *program) newDayFolder(day string) (dayFolder, error) {
	home, err := p.daysHome()
	return dayFolder{dir: filepath.Join(home, day), day: day}, err
}

// dayFolders gives every day that was played on real servers, oldest first.
func (p *program) dayFolders() ([]dayFolder, error) {
	home, err := p.daysHome()
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(home)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fail(exitError, err, "make the state directory readable, or give another --state-dir")
	}
	var folders []dayFolder
	for _, entry := range entries {
		if entry.IsDir() && runShape().MatchString(entry.Name()) {
			folders = append(folders, dayFolder{dir: filepath.Join(home, entry.Name()), day: entry.Name()})
		}
	}
	return folders, nil
}

func (p *program) gamedayUndoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "undo [DAY]",
		Short: "Take back what a killed game day has left broken",
		Long: `Takes back what game days on real servers have injected and not taken back, since their
process was killed or the machine went down: by the undo that stood in the day's file, from the
day's log in --state-dir, the latest first. DAY is the name that the log's folder has; without one it
is done for all.

An injection of which nobody has seen the end is taken back at once, and again when its timeout
is over.`,
		Args: atMost(1, "gameday undo [DAY]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.gamedayUndo(cmd.Context(), strings.Join(args, ""))
		},
	}
}

func (p *program) gamedayUndo(ctx context.Context, day string) error {
	folders, err := p.dayFolders()
	if err != nil {
		return err
	}
	if day != "" {
		folders = slices.DeleteFunc(folders, func(f dayFolder) bool { return f.day != day })
		if len(folders) == 0 {
			home, err := p.daysHome()
			return errors.Join(usage(fmt.Errorf("there is no game day %q in %s", day, home),
				"leave the name out to undo them all"), err)
		}
	}
	stops := p.watchStops(ctx)
	defer stops.end()
	done := 0
	var errs []error
	for _, folder := range slices.Backward(folders) {
		n, err := p.undoDay(stops.stop, folder)
		done += n
		errs = append(errs, err)
	}
	err = errors.Join(errs...)
	if done == 0 && err == nil && !p.settings.json() {
		fmt.Fprintln(p.out, "nothing is to be taken back")
	}
	return err
}

// undoDay takes back what one day has left, and says how much that was.
func (p *program) undoDay(ctx context.Context, folder dayFolder) (int, error) {
	_, open, err := folder.read()
	if err != nil || len(open) == 0 {
		return 0, err
	}
	log, err := audit.Open(folder.logPath(), p.clock, audit.Options{Wrap: p.where.logFile})
	var locked *audit.LockedError
	if errors.As(err, &locked) {
		return 0, fail(exitCommanded, fmt.Errorf("game day %s is being played by another process of this machine",
			folder.day),
			"interrupt that one: it takes back what it has injected")
	}
	if err != nil {
		return 0, fail(exitUnverified, err, "see what was injected in "+folder.logPath()+", and take it back by hand")
	}
	// Between the look and the lock its process may have ended, and taken back what was open.
	begun, open, err := gameday.ReadDay(log.Records())
	if err == nil {
		err = os.Chdir(begun.Dir) // its programs may be named from there
	}
	if err != nil {
		return 0, errors.Join(fail(exitError, err, undoCommands(begun, open)), log.Close())
	}
	injector := gameday.NewInjector(log, p.clock, p.callProgram, p.where.user, open)
	err = p.takeBack(ctx, injector, folder, begun.Dir)
	return len(open) - len(injector.Open()), errors.Join(err, log.Close())
}

// takenBack is one line of `gameday undo --output json`.
type takenBack struct {
	Day  string          `json:"day"`
	Undo gameday.Command `json:"undo"`
	OK   bool            `json:"ok"`
}

// takeBack takes back what is open, tells of it, and gives those commands that a person has to give.
func (p *program) takeBack(ctx context.Context, injector *gameday.Injector, folder dayFolder, dir string) error {
	open := injector.Open()
	if len(open) == 0 {
		return nil
	}
	say(p.err, "", "taking back "+countOf(len(open), "injection"))
	err := injector.UndoAll(ctx)
	left := injector.Open()
	for _, made := range slices.Backward(open) {
		ok := !slices.Contains(left, made)
		if p.settings.json() {
			if err := p.encode(takenBack{folder.day, made.Undo, ok}); err != nil {
				return err
			}
		} else if ok {
			say(p.err, "", "taken back: "+made.Undo.String())
		}
	}
	if err == nil {
		return nil
	}
	return fail(exitError, err, p.command("gameday undo", folder.day)+" tries it again; by hand: "+
		undoCommands(gameday.DayBegun{Dir: dir}, left))
}

// undoCommands are the commands with which a person takes back what is open.
func undoCommands(begun gameday.DayBegun, open []*gameday.OpenInjection) string {
	var commands []string
	for _, made := range slices.Backward(open) {
		commands = append(commands, made.Undo.String())
	}
	if begun.Dir != "" {
		commands = slices.Insert(commands, 0, "cd "+shellWord(begun.Dir))
	}
	return strings.Join(commands, "; ")
}
