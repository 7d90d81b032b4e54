package cli

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rewarm/rewarm/internal/gameday"
	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/templates"
)

func (p *program) gamedayCommand() *cobra.Command {
	return group("gameday", "Practise the hour on the lab, and say what must come true", p.gamedayRunCommand(),
		p.gamedaySweepCommand(),
		p.gamedayListCommand(), p.gamedayUndoCommand())
}

// gamedaysDir is where game days stand among the templates.
const gamedaysDir = "gamedays"

// bundledDays are the names of the game days that come with rewarm.
func bundledDays() []string {
	entries, err := templates.Files.ReadDir(gamedaysDir)
	if err != nil {
		return nil
	}
	var names []string
	for _, entry := range entries {
		names = append(names, strings.TrimSuffix(entry.Name(), ".yaml"))
	}
	return names
}

// readDay reads a game day: a file or, where there is none, the bundled one of that name.
func readDay(name string) (file string, source []byte, err error) {
	source, err = readFile(name)
	if err == nil || strings.ContainsAny(name, `/\`) {
		return name, source, err
	}
	file = path.Join(gamedaysDir, name+".yaml")
	if source, err = templates.Files.ReadFile(file); err != nil {
		err = usage(fmt.Errorf("there is no game day %s", name), "give a file, or one of "+strings.Join(bundledDays(), ", "))
	}
	return path.Join("templates", file), source, err
}

// openDay reads a game day with the parameters of --set, and with another runbook in the
// place of its own unless that is "".
func (p *program) openDay(name, book string) (*gameday.Day, error) {
	file, source, err := readDay(name)
	if err != nil {
		return nil, err
	}
	return p.parseDay(file, source, book)
}

func (p *program) parseDay(file string, source []byte, book string) (*gameday.Day, error) {
	set, err := p.settings.parameters()
	if err != nil {
		return nil, err
	}
	day, err := parseDayWith(file, source, dayLibrary{set: set, book: book})
	if err == nil {
		for _, sentence := range day.Unseen() {
			sayWarning(p.err, sentence)
		}
	}
	return day, err
}

func parseDayWith(file string, source []byte, library dayLibrary) (*gameday.Day, error) {
	library.dir = filepath.Dir(file)
	day, err := gameday.Parse(file, source, library)
	if err != nil {
		return nil, err
	}
	day.GameDay.Runbook = cmp.Or(library.book, day.GameDay.Runbook)
	if day.Target != "" {
		return day, nil
	}
	return day, walkedAlone(day.Book)
}

// dayLibrary finds the scenarios and runbooks that game days name.
type dayLibrary struct {
	set  map[string]string // comes before what a day sets
	book string            // that is walked in the place of the day's own; "" for that
	dir  string            // where the day stands
}

// beside gives the path of a file that stands beside the day, or else the name as it is.
func (l dayLibrary) beside(name string) string {
	file := filepath.Join(l.dir, name)
	if info, err := os.Stat(file); filepath.IsAbs(name) || err != nil || info.IsDir() {
		return name
	}
	return file
}

// Scenario finds a bundled scenario, or a file.
func (l dayLibrary) Scenario(name string) (*lab.Scenario, error) {
	return openScenario(l.beside(name))
}

// File reads a file.
func (l dayLibrary) File(name string) ([]byte, error) { return readFile(l.beside(name)) }

// mistakenDir is where the runbooks with a classic mistake stand among the templates. Only
// game days find them by name: nobody should walk one on a service.
const mistakenDir = "mistaken"

// Runbook finds a bundled runbook, one with a mistake, or a file.
func (l dayLibrary) Runbook(name string, set map[string]string) (*runbook.Document, error) {
	book := cmp.Or(l.book, l.beside(name))
	file, source, err := readBook(book)
	if mistaken, text, ok := readTemplate(mistakenDir, book); ok && err != nil {
		file, source, err = mistaken, text, nil
	}
	if err != nil {
		return nil, err
	}
	all := maps.Clone(set)
	maps.Copy(all, l.set)
	doc, problems := runbook.Parse(file, source, all)
	return doc, problems.Err()
}

func (p *program) gamedayListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the game days that come with rewarm",
		Args:  exactly(0, "gameday list"),
		RunE:  func(*cobra.Command, []string) error { return p.gamedayList() },
	}
}

// listedDay is one line of `gameday list --output json`.
type listedDay struct {
	Name     string   `json:"name"`
	About    string   `json:"about"`
	Scenario string   `json:"scenario"`
	Runbook  string   `json:"runbook"`
	Mistakes []string `json:"mistakes"`
}

func (p *program) gamedayList() error {
	var rows []string
	for _, name := range bundledDays() {
		day, err := p.openDay(name, "")
		if err != nil {
			return err
		}
		listed := listedDay{Name: name, About: day.About, Scenario: day.Scenario, Runbook: day.Runbook, Mistakes: []string{}}
		for _, m := range day.Mistakes {
			listed.Mistakes = append(listed.Mistakes, m.Name)
		}
		if p.settings.json() {
			if err := p.encode(listed); err != nil {
				return err
			}
			continue
		}
		rows = append(rows, fmt.Sprintf("%-26s  %s", name,
			oneLine(day.About)+also("; mistakes: ", strings.Join(listed.Mistakes, ", "))))
	}
	_, err := fmt.Fprint(p.out, wrapRows(rows, columnsOf(p.out)))
	return err
}

// errNotHeld says that an expectation of a game day was broken, or never judged.
var errNotHeld = errors.New("not everything came true")
