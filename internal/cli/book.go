package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/templates"
)

// bundledBook is the runbook of the demo.
const bundledBook = "hot-key-collapse"

// maxBook bounds what is read of a runbook, in bytes; the parser has its own, lower limit.
const maxBook = 4 << 20

// readBook reads a runbook from a file or, where there is no such file, the bundled
// one of that name.
func readBook(name string) (file string, source []byte, err error) {
	source, err = readFile(name)
	if err == nil {
		return name, source, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		if file, source, ok := readBundled(name); ok {
			return file, source, nil
		}
		return "", nil, usage(fmt.Errorf("there is no file %s", name),
			"give a runbook; bundled is "+strings.Join(bundledBooks(), ", "))
	}
	return "", nil, usage(fmt.Errorf("read the runbook: %w", err), "give a file that can be read")
}

func readFile(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	source, err := io.ReadAll(io.LimitReader(file, maxBook+1))
	if err == nil && len(source) > maxBook {
		err = fmt.Errorf("%s is larger than %d MiB", name, maxBook>>20)
	}
	return source, err
}

// runbooksDir is where runbooks stand among the templates.
const runbooksDir = "runbooks"

func readBundled(name string) (file string, source []byte, ok bool) {
	return readTemplate(runbooksDir, name)
}

// readTemplate reads one of the templates in a folder of them.
func readTemplate(dir, name string) (file string, source []byte, ok bool) {
	if strings.ContainsAny(name, `/\`) {
		return "", nil, false
	}
	file = path.Join(dir, name+".yaml")
	source, err := templates.Files.ReadFile(file)
	return path.Join("templates", file), source, err == nil
}

// typedBook is what opens a runbook that was read: the bundled one by its name, unless its file is here.
func typedBook(file string) string {
	name := strings.TrimSuffix(path.Base(file), ".yaml")
	bundled, _, ok := readBundled(name)
	if _, err := os.Stat(file); err == nil || !ok || bundled != file {
		return file
	}
	return name
}

func bundledBooks() []string {
	entries, err := templates.Files.ReadDir(runbooksDir)
	if err != nil {
		return nil
	}
	var names []string
	for _, entry := range entries {
		names = append(names, strings.TrimSuffix(entry.Name(), ".yaml"))
	}
	return names
}

// openBook reads and parses a runbook.
func (p *program) openBook(name string) (*runbook.Document, error) {
	file, source, err := readBook(name)
	if err != nil {
		return nil, err
	}
	return p.parseBook(file, source)
}

// parseBook parses a runbook with the parameters of --set.
func (p *program) parseBook(file string, source []byte) (*runbook.Document, error) {
	parameters, err := p.settings.parameters()
	if err != nil {
		return nil, err
	}
	doc, problems := runbook.Parse(file, source, parameters)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return doc, nil
}

// rehearsable refuses what nobody could walk on the lab of this process.
func rehearsable(doc *runbook.Document) error {
	if doc.Service != lab.Service {
		return usage(fmt.Errorf("%s is for the service %s, and the lab's is %s", doc.File, doc.Service, lab.Service),
			"rehearse it on its own metrics, with a game day that has a past or a target: docs/gamedays.md")
	}
	return walkedAlone(doc)
}

// walkedAlone refuses what a person cannot walk without a second one, whom the lab of this process does not reach.
func walkedAlone(doc *runbook.Document) error {
	if problems := runbook.Problems(doc.TwoPersons()); len(problems) > 0 {
		return problems
	}
	return nil
}
