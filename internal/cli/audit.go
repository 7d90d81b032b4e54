package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"

	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/steps"
)

func (p *program) auditCommand() *cobra.Command {
	return group("audit", "Look at the log of a run", p.auditShowCommand(), p.auditVerifyCommand())
}

func (p *program) auditShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show RUN",
		Short: "Print the log of a run as a walk prints it",
		Long: `Prints one line an event, from the records alone. RUN is the id of a run, enough of
its beginning or end to tell, or last. With --output json it prints the records.`,
		Args: exactly(1, "audit show RUN"),
		RunE: func(_ *cobra.Command, args []string) error { return p.auditShow(args[0]) },
	}
}

func (p *program) auditShow(name string) error {
	folder, err := p.findRun(name)
	if err != nil {
		return err
	}
	printer := p.printerFor(false)
	for record, err := range p.records(folder) {
		if err != nil {
			return unverified(err, folder)
		}
		body, err := steps.DecodeBody(record.Kind, record.Body)
		if err != nil {
			return unverified(fmt.Errorf("record %d: %w", record.Seq, err), folder)
		}
		if err := printer.print(record, body); err != nil {
			return err
		}
	}
	return nil
}

// segments are the files of a run's log, in order. The emergency log is one of them
// when it goes on where the log broke.
func (p *program) segments(folder runFolder) []string {
	files := []string{folder.logPath()}
	emergency := p.settings.emergencyLog
	if emergency == "" {
		return files
	}
	if info, err := os.Stat(emergency); err != nil || info.Size() == 0 {
		return files
	}
	both := append(files, emergency)
	if _, err := audit.Verify(both, audit.VerifyOptions{}); err != nil {
		return files
	}
	return both
}

func (p *program) records(folder runFolder) iter.Seq2[audit.Record, error] {
	return audit.Records(p.segments(folder)...)
}

// fold gives the state of a run from its log.
func (p *program) fold(folder runFolder) (*steps.State, error) {
	state, err := steps.Fold(p.records(folder))
	if err != nil {
		return nil, unverified(err, folder)
	}
	return state, nil
}

func (p *program) auditVerifyCommand() *cobra.Command {
	var deep bool
	var head string
	cmd := &cobra.Command{
		Use:   "verify RUN",
		Short: "Check that the log of a run is the one that was written",
		Long: `Checks the numbers and hashes of every record, and the signed head beside the log.
With --deep it also decodes every body and walks through the run again.

Whoever can write the log and its head can write both anew: only a head that was kept
elsewhere tells. Give it with --head; a head is published at every stage, hold and end.`,
		Args: exactly(1, "audit verify RUN"),
		RunE: func(_ *cobra.Command, args []string) error { return p.auditVerify(args[0], head, deep) },
	}
	cmd.Flags().BoolVar(&deep, "deep", false, "decode every body and fold the run again")
	cmd.Flags().StringVar(&head, "head", "", "`HEAD` that was kept elsewhere, as 312/9f2c41d07ab3")
	return cmd
}

func (p *program) auditVerify(name, head string, deep bool) error {
	folder, err := p.findRun(name)
	if err != nil {
		return err
	}
	checked, err := p.verify(folder, head)
	if err != nil {
		return err
	}
	if deep {
		if err := p.verifyDeep(folder, &checked); err != nil {
			return err
		}
	}
	return p.showVerified(checked)
}

// verified is what a check found; it is also the JSON of `audit verify`.
type verified struct {
	Run       string   `json:"run"`
	Verified  bool     `json:"verified"`
	Head      string   `json:"head"`
	Signed    string   `json:"signed,omitempty"` // the head that was signed
	By        string   `json:"by,omitempty"`     // whose key signed it
	Deep      bool     `json:"deep,omitempty"`
	Sentences []string `json:"sentences"`
}

// verify checks the chain, the signed head beside the log and the one that was given.
func (p *program) verify(folder runFolder, given string) (verified, error) {
	v := verified{Run: folder.run, Verified: true}
	options := audit.VerifyOptions{Run: folder.run}
	signed, by, err := p.signedHead(folder)
	if err != nil {
		return v, unverified(err, folder)
	}
	if signed != nil {
		options.Head, v.Signed, v.By = signed, signed.String(), by
	}
	report, err := audit.Verify(p.segments(folder), options)
	if err != nil {
		return v, unverified(err, folder)
	}
	if given != "" {
		kept, err := audit.ParseHead(given)
		if err != nil {
			return v, usage(err, "a head looks like 312/9f2c41d07ab3")
		}
		options.Head = &kept
		if report, err = audit.Verify(p.segments(folder), options); err != nil {
			return v, unverified(err, folder)
		}
	}
	v.Head, v.Sentences = report.Head.String(), report.Sentences()
	return v, nil
}

// signedHead opens the head beside the log; nil when there is none, as in a run that
// was stopped before its first stage.
func (p *program) signedHead(folder runFolder) (*audit.Head, string, error) {
	signed, err := os.ReadFile(folder.headPath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	verifier, err := p.verifier()
	if err != nil {
		return nil, "", err
	}
	head, err := audit.OpenHead(signed, verifier)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", folder.headPath(), err)
	}
	return &head, verifier.Name(), nil
}

// verifier is the public key of this state directory.
func (p *program) verifier() (note.Verifier, error) {
	keys, err := p.keysHome()
	if err != nil {
		return nil, err
	}
	public, err := os.ReadFile(filepath.Join(keys, "head.pub"))
	if err != nil {
		return nil, fmt.Errorf("the public key of heads: %w", err)
	}
	return note.NewVerifier(strings.TrimSpace(string(public)))
}

// verifyDeep decodes every body and folds the run again.
func (p *program) verifyDeep(folder runFolder, v *verified) error {
	state, err := p.fold(folder)
	if err != nil {
		return err
	}
	v.Deep = true
	v.Sentences = append(v.Sentences, fmt.Sprintf("every body was decoded and the run folded again: %d flips, %d holds on, ending %q",
		len(state.Flips()), len(state.Holds()), state.Ending))
	return nil
}

func (p *program) showVerified(v verified) error {
	if p.settings.json() {
		return json.NewEncoder(p.out).Encode(v)
	}
	fmt.Fprintf(p.out, "run %s verifies\n", v.Run)
	if v.Signed != "" {
		fmt.Fprintf(p.out, "head %s is signed by %s and the log has it\n", v.Signed, oneLine(v.By))
	}
	for _, sentence := range v.Sentences {
		fmt.Fprintln(p.out, oneLine(sentence))
	}
	return nil
}

// unverified gives what is wrong with a log its exit code and its way out.
func unverified(err error, folder runFolder) error {
	return fail(exitUnverified, err, "keep "+folder.dir+" as it is and look for another copy: the mirror in redis, a backup, a head that was published")
}
