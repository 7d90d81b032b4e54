package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rewarm/rewarm/internal/evidence"
	"github.com/rewarm/rewarm/runbook"
)

func (p *program) evidenceReplayCommand() *cobra.Command {
	var book string
	cmd := &cobra.Command{
		Use:   "replay FILE|RUN --runbook OTHER",
		Short: "Judge what a run observed again, by the bounds of another runbook",
		Long: `Judges every gate of another runbook, its guards and its exit, by the readings that the run stored,
with the judge that walks: which would have passed earlier, later or never, and why. FILE is what
rewarm evidence export has written, which is verified first; RUN is a run of this machine.

Each gate is judged alone, along the run as it really went: what the service would have done
after another decision nobody knows. A gate is answered only where the run asked the same query.
The parameters are those of the run where the other runbook has them, and those of --set.`,
		Example: `  rewarm evidence replay last --runbook stricter.yaml
  rewarm evidence replay RUN.evidence.zip --runbook stricter.yaml --output json`,
		Args: exactly(1, "evidence replay FILE|RUN --runbook OTHER"),
		RunE: func(_ *cobra.Command, args []string) error { return p.evidenceReplay(args[0], book) },
	}
	cmd.Flags().StringVar(&book, "runbook", "", "`OTHER` runbook to judge by, a file or a bundled one")
	return cmd
}

func (p *program) evidenceReplay(name, book string) error {
	defer evidence.MakeRoom()()
	if book == "" {
		return usage(errors.New("no runbook was given to judge by"), "write: rewarm evidence replay "+name+" --runbook OTHER")
	}
	runs, forget, err := p.materials(name)
	if err != nil {
		return err
	}
	defer forget()
	for _, run := range runs {
		if err := p.replay(run, book); err != nil {
			return err
		}
	}
	return nil
}

// materials are the runs of a file of evidence or, where there is no such file, a run of this machine.
func (p *program) materials(name string) (runs []evidence.Material, forget func(), err error) {
	if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
		return p.unbundled(name)
	}
	folder, err := p.findRun(name)
	if err != nil {
		return nil, nil, err
	}
	if _, err := p.verify(folder); err != nil {
		return nil, nil, err
	}
	run, err := evidence.Read(folder.run, p.segments(folder), nil)
	return []evidence.Material{run}, func() {}, err
}

func (p *program) unbundled(name string) (runs []evidence.Material, forget func(), err error) {
	file, size, err := openBundle(name)
	if err != nil {
		return nil, nil, err
	}
	_, err = evidence.Verify(file, size, evidence.Check{Version: thisBuild().Version})
	if err == nil {
		runs, err = evidence.Unbundle(file, size)
	}
	if err != nil {
		_ = file.Close()
		return nil, nil, brokenEvidence(err)
	}
	return runs, func() { _ = file.Close() }, nil
}

func (p *program) replay(run evidence.Material, book string) error {
	begun, err := evidence.Begun(run)
	if err != nil {
		return err
	}
	doc, err := p.otherBook(book, begun.Parameters)
	if err != nil {
		return err
	}
	if doc.Service != begun.Service {
		return usage(fmt.Errorf("%s is for service %s, and run %s was of %s", doc.File, doc.Service, run.Run, begun.Service),
			"give a runbook of the same service")
	}
	again, err := evidence.ReplayLog(run, doc)
	if err != nil {
		return err
	}
	if p.settings.json() {
		return json.NewEncoder(p.out).Encode(again)
	}
	_, err = fmt.Fprint(p.out, replayText(again, columnsOf(p.out)))
	return err
}

// otherBook parses the runbook to judge by, with the parameters of the run that it has too.
func (p *program) otherBook(name string, ran map[string]string) (*runbook.Document, error) {
	file, source, err := readBook(name)
	if err != nil {
		return nil, err
	}
	plain, problems := runbook.Parse(file, source, nil)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	set := map[string]string{}
	for _, parameter := range plain.Parameters {
		if value, ok := ran[parameter.Name]; ok {
			set[parameter.Name] = value
		}
	}
	given, err := p.settings.parameters()
	if err != nil {
		return nil, err
	}
	for parameter, value := range given {
		set[parameter] = value
	}
	doc, problems := runbook.Parse(file, source, set)
	return doc, problems.Err()
}

// replayText is a line of what came out, a row for each gate that differs or cannot be answered, and the limits.
func replayText(r evidence.Replay, width int) string {
	var b strings.Builder
	same := 0
	var rows []string
	for _, g := range r.Gates {
		switch g.Change {
		case evidence.ChangeNone, evidence.ChangeNeither:
			same++
		case evidence.ChangeUnanswered:
		default:
			rows = append(rows, "  "+oneLine(gateNamed(g))+"  "+oneLine(replayedText(g)))
			rows = append(rows, reasonsOf(g)...)
		}
	}
	rows = append(rows, unansweredRows(r.Gates)...)
	fmt.Fprintf(&b, "run %s judged again by %s (sha256 %s): %d of %s the same\n", oneLine(r.Run), oneLine(r.Runbook),
		r.SHA256[:12], same, countOf(len(r.Gates), "gate"))
	b.WriteString(wrapRows(rows, width))
	b.WriteString("what this cannot know:\n")
	limits := make([]string, len(r.Limits))
	for i, limit := range r.Limits {
		limits[i] = "  " + limit
	}
	b.WriteString(wrapRows(limits, width))
	return b.String()
}

// unansweredRows tell each reason once, with the gates that cannot be answered for it.
func unansweredRows(gates []evidence.ReplayedGate) []string {
	var reasons []string
	named := map[string][]string{}
	for _, g := range gates {
		if g.Change != evidence.ChangeUnanswered {
			continue
		}
		if named[g.Why] == nil {
			reasons = append(reasons, g.Why)
		}
		if !slices.Contains(named[g.Why], g.Gate) {
			named[g.Why] = append(named[g.Why], g.Gate)
		}
	}
	var rows []string
	for _, why := range reasons {
		rows = append(rows, "  not answerable, "+oneLine(why)+":  "+oneLine(strings.Join(named[why], ", ")))
	}
	return rows
}

// reasonsOf are the rows that say what stood against a gate when the run's own had passed.
func reasonsOf(g evidence.ReplayedGate) []string {
	if g.Change != evidence.ChangeLater && g.Change != evidence.ChangeNever && g.Change != evidence.ChangeVerdict {
		return nil
	}
	var rows []string
	for _, reading := range g.Findings {
		rows = append(rows, "    "+oneLine(reading))
	}
	if len(rows) == 0 && g.Passes < g.Needed {
		rows = append(rows, fmt.Sprintf("    it had passed %d times in a row by then, of %d", g.Passes, g.Needed))
	}
	return rows
}

func gateNamed(g evidence.ReplayedGate) string {
	switch {
	case g.To == "":
		return g.Gate
	case g.From == "":
		return g.Gate + " to " + g.To
	}
	return fmt.Sprintf("%s from %s to %s", g.Gate, g.From, g.To)
}

// replayedText is what the other runbook would have said, beside what was.
func replayedText(g evidence.ReplayedGate) string {
	text := ""
	switch g.Change {
	case evidence.ChangeVerdict:
		return fmt.Sprintf("%s at %s, would be %s", g.Recorded.Verdict, momentNamed(g.Recorded), g.Would.Verdict)
	case evidence.ChangeNever:
		return "at " + momentNamed(g.Recorded) + ", would be never by what was observed"
	case evidence.ChangeOnlyHere:
		text = "not in the run, would be at " + momentNamed(g.Would)
	default:
		by := (time.Duration(g.ByMS) * time.Millisecond).String()
		text = fmt.Sprintf("at %s, would be %s %s, at %s", momentNamed(g.Recorded), by, g.Change, momentNamed(g.Would))
	}
	if g.After {
		text += ", by readings from after what it led to"
	}
	return text
}

func momentNamed(m *evidence.ReplayMoment) string {
	return fmt.Sprintf("%s (record %d)", m.At.UTC().Format("15:04:05.0"), m.Seq)
}
