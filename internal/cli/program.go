package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/user"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/metrics"
)

// program is one process of rewarm: its streams, where it runs, and its settings.
type program struct {
	in       io.Reader
	out, err io.Writer
	where    surroundings
	clock    clock
	settings settings
	log      *slog.Logger
	page     *metrics.Page // of the walks of this process; nil while none is served
	closers  []func() error
}

// surroundings is what a process learns about where it runs, and all that makes the log
// of one walk on the lab differ from that of another. Tests put their own.
type surroundings struct {
	getenv  func(string) string
	host    string
	user    string
	pid     int
	version string
	clock   clock
	random  io.Reader // makes the ends of runs' ids
	// interrupts gives the signals that stop a walk, by name, and a way to stop watching.
	interrupts func() (<-chan string, func())
	// servers is the time of the servers that a walk is made on; nil for that of this machine.
	servers clock
	// outside carries what others are told; nil for the network.
	outside http.RoundTripper
	// logFile stands between a log and its file; nil for nothing.
	logFile func(audit.File) audit.File
}

func thisMachine() surroundings {
	return surroundings{
		getenv: os.Getenv, host: hostName(), user: userName(), pid: os.Getpid(), version: thisBuild().Version,
		clock: wallClock{}, random: rand.Reader, interrupts: interrupts,
	}
}

func hostName() string {
	if name, err := os.Hostname(); err == nil {
		return name
	}
	return "unknown"
}

// userName is the name of the person, or the number of the account where it has none.
func userName() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "uid " + strconv.Itoa(os.Getuid())
}

// Main runs rewarm with the arguments after the program's name and returns the
// exit code. Results go to stdout, everything else to stderr. A walk listens to a
// person when stdin is a terminal; it reads nothing from any other stdin.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	return newProgram(stdin, stdout, stderr, thisMachine()).run(args)
}

func newProgram(stdin io.Reader, stdout, stderr io.Writer, where surroundings) *program {
	return &program{
		in:    stdin,
		out:   printableWriter{stdout},
		err:   printableWriter{stderr},
		where: where,
		clock: where.clock,
		log:   slog.New(slog.DiscardHandler),
	}
}

func (p *program) run(args []string) int {
	root := p.rootCommand()
	root.SetArgs(valuesLast(root, args))
	err := root.ExecuteContext(context.Background())
	for _, shut := range p.closers {
		err = errors.Join(err, shut())
	}
	speak(p.err, err)
	return int(codeOf(err))
}

// sayTo sends what is said beside the results somewhere else until the function that it gives is
// called: lines would tear a screen. Nil changes nothing.
func (p *program) sayTo(out io.Writer) (back func()) {
	before := p.err
	if out != nil {
		p.err = out
	}
	return func() { p.err = before }
}

// closeLater has something closed when the process ends.
func (p *program) closeLater(shut func() error) { p.closers = append(p.closers, shut) }

// exactly is the argument check of a command, with the way out.
func exactly(n int, form string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usage(errors.New("expected "+countOf(n, "argument")+", got "+strconv.Itoa(len(args))), "write: rewarm "+form)
		}
		return nil
	}
}

// atMost is the argument check of a command whose last arguments may be left out.
func atMost(n int, form string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) > n {
			return usage(errors.New("expected at most "+countOf(n, "argument")+", got "+strconv.Itoa(len(args))),
				"write: rewarm "+form)
		}
		return nil
	}
}

// countOf writes a number of things.
func countOf(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if stem, ok := strings.CutSuffix(thing, "ry"); ok { // as of entries
		return strconv.Itoa(n) + " " + stem + "ries"
	}
	return strconv.Itoa(n) + " " + thing + "s"
}
