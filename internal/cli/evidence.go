package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/internal/evidence"
)

func (p *program) evidenceCommand() *cobra.Command {
	return group("evidence", "Make, check and list what others can hold a run against",
		p.evidenceExportCommand(), p.evidenceVerifyCommand(), p.evidenceReplayCommand(), p.evidenceListCommand())
}

func (p *program) evidenceExportCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "export RUN...",
		Short: "Write the evidence of a run, or of the runs of one incident, as one file",
		Long: `Writes a zip with the log, its signed head, the runbook, what was captured, the figures
that follow from the records, the timeline, and a report as Markdown and as a page. The
same run gives the same bytes on every machine that has its folder. Several runs, in any
order, make one file with the evidence of each in a folder and a timeline of all.

What Prometheus and Redis hold is captured once, at the end of the walk or at the first
export; when they are gone, the evidence says so.`,
		Args: between(1, mostExported, "evidence export RUN..."),
		RunE: func(cmd *cobra.Command, args []string) error { return p.evidenceExport(cmd.Context(), args, out) },
	}
	cmd.Flags().StringVar(&out, "out", "", "`FILE` to write (default RUN.evidence.zip, of several incident-RUN.evidence.zip)")
	return cmd
}

// mostExported bounds the runs of one incident.
const mostExported = 99

func (p *program) evidenceExport(ctx context.Context, names []string, out string) error {
	defer evidence.MakeRoom()()
	var folders []runFolder
	for _, name := range names {
		folder, err := p.exportable(ctx, name)
		if err != nil {
			return err
		}
		if !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	slices.SortFunc(folders, func(a, b runFolder) int { return strings.Compare(a.run, b.run) })
	if out == "" {
		out = folders[0].run + ".evidence.zip"
		if len(folders) > 1 {
			out = "incident-" + out
		}
	}
	written, err := writeBundleFile(out, func(to io.Writer) error { return p.bundle(to, folders) })
	if err != nil {
		return err
	}
	fmt.Fprintf(p.out, "%s: %d bytes, sha256 %s\n", oneLine(out), written.size, written.sum)
	switch written.replaced {
	case "":
	case written.sum:
		fmt.Fprintln(p.out, "the same bundle was there already")
	default:
		fmt.Fprintf(p.out, "it replaces an earlier bundle: sha256 %s\n", written.replaced)
	}
	for _, folder := range folders {
		if last, err := audit.Last(folder.logPath()); err == nil && !ends(last) {
			fmt.Fprintf(p.out, "run %s has not ended: an export after its end has more\n", folder.run)
		}
	}
	return nil
}

// exportable finds a run whose log verifies, and captures what can vanish.
func (p *program) exportable(ctx context.Context, name string) (runFolder, error) {
	folder, err := p.findRun(name)
	if err != nil {
		return folder, err
	}
	if _, err := p.verify(folder); err != nil {
		return folder, err
	}
	return folder, p.captureLate(ctx, folder)
}

// bundle makes the evidence of runs from their folders.
func (p *program) bundle(to io.Writer, folders []runFolder) error {
	public, err := p.publicKey()
	if err != nil {
		return err
	}
	var signer note.Signer
	if key := p.exporter(); key != nil {
		public, signer = []byte(key.Public+"\n"), key.Signer
	}
	var runs []evidence.Material
	for _, folder := range folders {
		material, err := evidence.Read(folder.run, p.segments(folder), public)
		if err != nil {
			return err
		}
		defer p.tellOf(&material).end()
		runs = append(runs, material)
	}
	if len(runs) == 1 {
		return evidence.Build(to, runs[0], thisBuild().Version, signer)
	}
	return evidence.BuildIncident(to, runs, thisBuild().Version, signer)
}

// tellOf tells of reading the log of a run for its evidence, of which the first time takes longest.
func (p *program) tellOf(m *evidence.Material) *progress {
	var size int64
	for _, segment := range m.Segments {
		size += segment.Size()
	}
	told := p.progress("reading "+m.Run, "MB", float64(size)/megabyte)
	for i, segment := range m.Segments {
		if told != nil {
			m.Segments[i] = toldSource{segment, told, i == 0}
		}
	}
	return told
}

// toldSource tells of a log that is read again and again.
type toldSource struct {
	evidence.Source
	progress *progress
	first    bool // each time begins with it
}

func (s toldSource) Open() (io.ReadCloser, error) {
	from, err := s.Source.Open()
	if err != nil {
		return nil, err
	}
	if s.first {
		s.progress.again()
	}
	return s.progress.reader(from), nil
}

// exporter is this state directory's key, nil when it has none: an export makes no key.
func (p *program) exporter() *audit.Key {
	keys, err := p.keysHome()
	if err != nil {
		return nil
	}
	if _, err := os.Stat(filepath.Join(keys, "head.key")); err != nil {
		return nil
	}
	key, err := audit.OpenKey(keys, keyName(p.where.host))
	if err != nil {
		sayWarning(p.err, "the manifest is not signed: "+err.Error())
	}
	return key
}

// publicKey is the text of this state directory's public key, nil when it has none.
func (p *program) publicKey() ([]byte, error) {
	keys, err := p.keysHome()
	if err != nil {
		return nil, err
	}
	public, err := audit.ReadRegular(filepath.Join(keys, "head.pub"), audit.MaxBeside)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return public, err
}

func (p *program) evidenceVerifyCommand() *cobra.Command {
	var head string
	var keys []string
	cmd := &cobra.Command{
		Use:   "verify FILE",
		Short: "Check a file of evidence by itself, offline",
		Long: `Checks the zip, every hash, the signature of the manifest, the chain, the signed head, that the
runbook is the one of the log, and that figures, timeline and reports follow from the records.

The captures follow from nothing: they are the word of whoever exported, and only the signature of
the manifest keeps others from changing them. A bundle carries its own key, so by itself it proves
that its parts agree, not who made it: another key can sign another log. --key checks the signatures
against a key that you have from elsewhere, --head the log against a position that was read out,
published or mirrored during the incident. The first line names what nothing but a signature
stands for, or nothing at all.`,
		Args: exactly(1, "evidence verify FILE"),
		RunE: func(_ *cobra.Command, args []string) error { return p.evidenceVerify(args[0], head, keys) },
	}
	cmd.Flags().StringVar(&head, "head", "", "`HEAD` that was kept elsewhere, as 312/9f2c41d07ab3")
	cmd.Flags().StringArrayVar(&keys, "key", nil, "`FILE` with a public key that is known to be right; may be repeated")
	return cmd
}

func (p *program) evidenceVerify(file, head string, keys []string) error {
	defer evidence.MakeRoom()()
	bundle, size, err := openBundle(file)
	if err != nil {
		return err
	}
	defer bundle.Close()
	check := evidence.Check{Version: thisBuild().Version}
	if head != "" {
		kept, err := audit.ParseHead(head)
		if err != nil {
			return usage(err, "a head looks like 312/9f2c41d07ab3")
		}
		check.Head = &kept
	}
	for _, name := range keys {
		key, err := readKey(name)
		if err != nil {
			return err
		}
		check.Keys = append(check.Keys, key)
	}
	v, err := evidence.Verify(bundle, size, check)
	if err != nil {
		return brokenEvidence(err)
	}
	return p.showEvidence(v)
}

// brokenEvidence gives what is wrong with a file of evidence its exit code and its way out.
func brokenEvidence(err error) error {
	if !evidence.IsBroken(err) {
		return err
	}
	return fail(exitUnverified, err, "keep the file as it is, and ask for another export or for the run's folder")
}

func openBundle(name string) (*os.File, int64, error) {
	const exported = "give a file that rewarm evidence export has written"
	file, err := audit.OpenRegular(name)
	if err != nil {
		return nil, 0, usage(err, exported)
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return nil, 0, usage(err, exported)
	}
	return file, info.Size(), nil
}

func readKey(file string) (note.Verifier, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, usage(err, "give the head.pub of whoever walked the run")
	}
	key, err := note.NewVerifier(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, usage(fmt.Errorf("%s: %w", file, err), "give the head.pub of whoever walked the run")
	}
	return key, nil
}

func (p *program) showEvidence(v evidence.Verified) error {
	if p.settings.json() {
		return json.NewEncoder(p.out).Encode(v)
	}
	fmt.Fprintln(p.out, oneLine(v.Summary()))
	for _, sentence := range v.Sentences {
		fmt.Fprintln(p.out, oneLine(sentence))
	}
	return nil
}

func (p *program) evidenceListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the runs of this machine with what their evidence would have",
		Args:  exactly(0, "evidence list"),
		RunE:  func(*cobra.Command, []string) error { return p.evidenceList() },
	}
}

// kept is one line of `evidence list --output json`.
type kept struct {
	Run      string   `json:"run"`
	State    runState `json:"state"`
	Signed   bool     `json:"signed"`
	Captured bool     `json:"captured"`
	Bytes    int64    `json:"log_bytes"`
}

func (p *program) evidenceList() error {
	folders, err := p.runFolders()
	if err != nil {
		return err
	}
	for _, folder := range folders {
		k := kept{Run: folder.run, State: p.listedRun(&runLog{folder: folder, files: p.segments(folder)}).State,
			Captured: evidence.Captured(folder.dir)}
		if info, err := os.Stat(folder.logPath()); err == nil {
			k.Bytes = info.Size()
		}
		_, err := os.Stat(folder.headPath())
		k.Signed = err == nil
		if err := p.showKept(k); err != nil {
			return err
		}
	}
	if len(folders) == 0 && !p.settings.json() {
		fmt.Fprintln(p.out, "no runs yet; rewarm demo makes one")
	}
	return nil
}

func (p *program) showKept(k kept) error {
	if p.settings.json() {
		return json.NewEncoder(p.out).Encode(k)
	}
	yes := map[bool]string{true: "", false: "not "}
	_, err := fmt.Fprintf(p.out, "%-44s %-11s %ssigned, %scaptured, %d bytes of log\n", k.Run, k.State, yes[k.Signed],
		yes[k.Captured], k.Bytes)
	return err
}
