package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/rewarm/rewarm/"

// arrows says which packages of this module each package may import. A package
// that is not named here may import none.
var arrows = map[string][]string{
	"cmd/rewarm":              {"internal/cli"},
	"internal/cli":            {"actions", "actions/controls", "audit", "internal/demand", "internal/diagnosis", "internal/evidence", "internal/gameday", "internal/harmless", "internal/lab", "internal/metrics", "internal/notify", "internal/tui", "probes", "runbook", "steps", "templates"},
	"internal/tui":            {"actions", "audit", "internal/harmless", "internal/tui/quietstart", "probes", "runbook", "steps"},
	"internal/tui/quietstart": {},
	"internal/gameday":        {"actions", "audit", "internal/evidence", "internal/lab", "probes", "runbook", "steps", "templates"},
	"internal/evidence": {
		"actions", "audit", "internal/harmless", "probes", "runbook", "steps", "templates"},
	"internal/demand":      {},
	"internal/freeport":    {},
	"internal/harmless":    {},
	"internal/hostiletext": {},
	"internal/largerun":    {"actions", "audit", "probes", "runbook", "steps"},
	"internal/diagnosis":   {"probes", "runbook"},
	"internal/lab":         {"actions/controls"},
	"internal/metrics":     {"audit", "runbook", "steps"},
	"internal/notify":      {"audit", "internal/harmless", "runbook", "steps"},
	"internal/simulation":  {"actions", "actions/controls", "audit", "internal/lab", "probes", "runbook", "steps", "templates"},
	"steps":                {"actions", "audit", "probes", "runbook"},
	"probes":               {"runbook"},
	"actions":              {"actions/controls", "runbook"},
	"actions/controls":     {},
	"runbook":              {},
	"audit":                {},
	"templates":            {},
}

// forTests are the packages that any test may import, and nobody else.
var forTests = []string{"internal/freeport", "internal/hostiletext", "internal/largerun"}

// keepers says which packages may import a library of others; a name that ends in
// .go is the one file that may.
var keepers = map[string][]string{
	"github.com/charmbracelet/":                      {"internal/tui"},
	"github.com/NimbleMarkets/ntcharts":              {"internal/tui"},
	"github.com/prometheus/client_golang/api":        {"probes/client.go"},
	"github.com/prometheus/client_golang/prometheus": {"internal/metrics"},
	"github.com/prometheus/prometheus/model/labels":  {"runbook", "probes", "internal/lab"}, // the parser's own words
	"github.com/prometheus/prometheus/promql/parser": {"runbook", "probes", "internal/lab"},
	"github.com/prometheus/prometheus/":              {"internal/lab"},
	"github.com/redis/go-redis/":                     {"actions", "actions/controls"},
	"github.com/spf13/":                              {"internal/cli"},
	"github.com/alicebob/miniredis/":                 {"internal/lab"},
}

// clocks are the functions of package time that only internal/cli may call.
var clocks = []string{"Now", "Since", "Until", "After", "AfterFunc", "Sleep", "NewTimer", "NewTicker", "Tick"}

// deadlines are those of package context.
var deadlines = []string{"WithTimeout", "WithDeadline", "WithTimeoutCause", "WithDeadlineCause"}

type goFile struct {
	pkg, name string // "probes", "probes/client.go"
	test      bool
	syntax    *ast.File
}

func moduleFiles(t *testing.T) []goFile {
	t.Helper()
	root := filepath.Join("..", "..")
	set := token.NewFileSet()
	var files []goFile
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name := entry.Name(); path != root && (strings.HasPrefix(name, ".") || name == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		syntax, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		files = append(files, goFile{pkg: strings.TrimSuffix(name, "/"+filepath.Base(path)), name: name,
			test: strings.HasSuffix(name, "_test.go"), syntax: syntax})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func (f goFile) imports() []string {
	var paths []string
	for _, spec := range f.syntax.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		paths = append(paths, path)
	}
	return paths
}

// TestImportArrows keeps the house in its shape: who may import whom, and which
// libraries stay in one room. Tests may use a library for a fake, and what their
// package reaches through others.
func TestImportArrows(t *testing.T) {
	for _, file := range moduleFiles(t) {
		allowed, known := arrows[file.pkg]
		if !known {
			t.Errorf("%s: package %s has no row in the table of arrows", file.name, file.pkg)
			continue
		}
		for _, path := range file.imports() {
			if own, ok := strings.CutPrefix(path, module); ok {
				if own != file.pkg && !slices.Contains(allowed, own) && !(file.test && (slices.Contains(forTests, own) || reaches(file.pkg, own))) {
					t.Errorf("%s imports %s: %s may only import %q", file.name, own, file.pkg, allowed)
				}
			} else if !file.test {
				checkKeeper(t, file, path)
			}
		}
	}
}

// reaches reports whether a package imports another, itself or through others.
func reaches(from, to string) bool {
	return slices.ContainsFunc(arrows[from], func(next string) bool { return next == to || reaches(next, to) })
}

// checkKeeper finds the longest prefix that keeps a library.
func checkKeeper(t *testing.T, file goFile, path string) {
	t.Helper()
	kept := ""
	for prefix := range keepers {
		if strings.HasPrefix(path, prefix) && len(prefix) > len(kept) {
			kept = prefix
		}
	}
	if kept != "" && !slices.Contains(keepers[kept], file.pkg) && !slices.Contains(keepers[kept], file.name) {
		t.Errorf("%s imports %s: only %q may", file.name, path, keepers[kept])
	}
}

// TestOnlyTheClockTellsTime: everything outside internal/cli is handed a clock.
func TestOnlyTheClockTellsTime(t *testing.T) {
	for _, file := range moduleFiles(t) {
		if file.test || file.name == "internal/cli/clock.go" {
			continue
		}
		ast.Inspect(file.syntax, func(node ast.Node) bool {
			selector, ok := node.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			pkg, ok := selector.X.(*ast.Ident)
			if !ok || pkg.Obj != nil {
				return true
			}
			if pkg.Name == "time" && slices.Contains(clocks, selector.Sel.Name) ||
				pkg.Name == "context" && slices.Contains(deadlines, selector.Sel.Name) {
				t.Errorf("%s uses %s.%s: take the Clock that the package is handed", file.name, pkg.Name, selector.Sel.Name)
			}
			return true
		})
	}
}
