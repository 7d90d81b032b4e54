package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
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
	var service string
	cmd := &cobra.Command{
		Use:   "show RUN",
		Short: "Print the log of a run as a walk prints it",
		Long: `Prints one line an event, from the records alone. RUN is the id of a run, enough of
its beginning or end to tell, or last. With --output json it prints the records. What only
the mirror in --redis has is printed too, also of a run that has no log on this machine.`,
		Args: exactly(1, "audit show RUN"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.auditShow(cmd.Context(), args[0], service) },
	}
	serviceFlag(cmd, &service)
	return cmd
}

// serviceFlag names the service of a run that has no log on this machine.
func serviceFlag(cmd *cobra.Command, service *string) {
	cmd.Flags().StringVar(service, "service", "", "`NAME` of the service of a run that has no log on this machine (default: found in --redis)")
}

func (p *program) auditShow(ctx context.Context, name, service string) error {
	log, err := p.logOf(ctx, name, service)
	if err != nil {
		return err
	}
	log.say(p)
	printer := p.printerFor(false)
	for record, err := range log.records() {
		if err != nil {
			return unverified(err, log.folder)
		}
		body, err := steps.DecodeBody(record.Kind, record.Body)
		if err != nil {
			return unverified(fmt.Errorf("record %d: %w", record.Seq, err), log.folder)
		}
		if err := printer.print(record, body); err != nil {
			return err
		}
	}
	return nil
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
	var check checkOf
	cmd := &cobra.Command{
		Use:   "verify RUN",
		Short: "Check that the log of a run is the one that was written",
		Long: `Checks the numbers and hashes of every record, and the signed head beside the log.
With --deep it also decodes every body and walks through the run again.

Whoever can write the log and its head can write both anew: only a head that was kept
elsewhere tells. Give it with --head; a head is published at every stage, hold and end.

A log of the same run from another machine, given with --segment, either has the same
records or is a fork, which is named. What only the mirror in --redis has is checked too.`,
		Args: exactly(1, "audit verify RUN"),
		RunE: func(cmd *cobra.Command, args []string) error { return p.auditVerify(cmd.Context(), args[0], check) },
	}
	cmd.Flags().BoolVar(&check.deep, "deep", false, "decode every body and fold the run again")
	cmd.Flags().StringVar(&check.head, "head", "", "`HEAD` that was kept elsewhere, as 312/9f2c41d07ab3")
	cmd.Flags().StringArrayVar(&check.segments, "segment", nil,
		"`FILE` that is a log of the same run, from another machine; may be repeated")
	serviceFlag(cmd, &check.service)
	return cmd
}

// checkOf is what audit verify is told.
type checkOf struct {
	deep     bool
	head     string
	segments []string
	service  string
}

func (p *program) auditVerify(ctx context.Context, name string, check checkOf) error {
	log, err := p.logOf(ctx, name, check.service)
	if err != nil {
		return err
	}
	log.say(p)
	if log.trouble != nil {
		return log.trouble
	}
	files, forget, err := log.asFiles()
	if err != nil {
		return err
	}
	defer forget()
	checked, err := p.verifyFiles(log.folder, append(files, check.segments...), check.head)
	if err != nil {
		return err
	}
	if check.deep {
		told := p.progress("walking through the run again", "records", float64(checked.records))
		err := verifyDeep(told.records(log.records()), log.folder, &checked)
		told.end()
		if err != nil {
			return err
		}
	}
	return p.showVerified(checked)
}

// asFiles gives the log as files; what only the mirror has is one for a while.
func (l *runLog) asFiles() (files []string, forget func(), err error) {
	if len(l.mirrored) == 0 {
		return l.files, func() {}, nil
	}
	dir, err := os.MkdirTemp("", "rewarm-mirror-")
	if err != nil {
		return nil, nil, err
	}
	path := filepath.Join(dir, "mirror.jsonl")
	if err := audit.Place(path, l.mirrored); err != nil {
		return nil, nil, errors.Join(err, os.RemoveAll(dir))
	}
	return append(slices.Clone(l.files), path), func() { _ = os.RemoveAll(dir) }, nil
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

	records uint64
}

// verify checks the log of this machine.
func (p *program) verify(folder runFolder) (verified, error) {
	return p.verifyFiles(folder, p.segments(folder), "")
}

// verifyFiles checks the chain, the signed head beside the log and the one that was given.
func (p *program) verifyFiles(folder runFolder, files []string, given string) (verified, error) {
	v := verified{Run: folder.run, Verified: true}
	told := p.progressOfFiles("checking the chain", files)
	defer told.end()
	options := audit.VerifyOptions{Run: folder.run, Open: func(path string) (io.ReadCloser, error) {
		file, err := audit.OpenRegular(path)
		if err != nil {
			return nil, err
		}
		return told.reader(file), nil
	}}
	signed, by, err := p.signedHead(folder)
	if err != nil {
		return v, unverified(err, folder)
	}
	if signed != nil {
		options.Head, v.Signed, v.By = signed, signed.String(), by
	}
	report, err := audit.Verify(files, options)
	if err != nil {
		return v, unverified(err, folder)
	}
	if given != "" {
		kept, err := audit.ParseHead(given)
		if err != nil {
			return v, usage(err, "a head looks like 312/9f2c41d07ab3")
		}
		options.Head = &kept
		told.again()
		if report, err = audit.Verify(files, options); err != nil {
			return v, unverified(err, folder)
		}
	}
	v.Head, v.Sentences, v.records = report.Head.String(), report.Sentences(), report.Head.Seq
	return v, nil
}

// signedHead opens the head beside the log; nil when there is none, as in a run that
// was stopped before its first stage.
func (p *program) signedHead(folder runFolder) (*audit.Head, string, error) {
	signed, err := folder.head()
	if signed == nil {
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

// headBeside is the newest head that this machine has of a run, whoever signed it; nil when there is none.
func (p *program) headBeside(folder runFolder) (*audit.Head, error) {
	signed, err := folder.head()
	if signed == nil {
		return nil, err
	}
	head, _, err := p.headBy(signed)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder.headPath(), err)
	}
	return &head, nil
}

// headBy opens a signed head. By whom it is signed may be unknown here: then unknown says so, and the head still tells
// which record the log has to have.
func (p *program) headBy(signed []byte) (head audit.Head, unknown *audit.UnknownKeyError, err error) {
	keys, err := p.publicKeys()
	if err != nil {
		return head, nil, err
	}
	if head, err = audit.OpenHead(signed, keys...); errors.As(err, &unknown) {
		return unknown.Head, unknown, nil
	}
	return head, nil, err
}

// publicKeys are the keys of this state directory and of other machines that were put beside
// it; none where no run has signed yet.
func (p *program) publicKeys() ([]note.Verifier, error) {
	keys, err := p.keysHome()
	if err != nil {
		return nil, err
	}
	files, _ := filepath.Glob(filepath.Join(keys, "*.pub")) // the pattern is well formed
	var list []note.Verifier
	for _, file := range files {
		public, err := audit.ReadRegular(file, audit.MaxBeside)
		if err != nil {
			return nil, err
		}
		key, err := note.NewVerifier(strings.TrimSpace(string(public)))
		if err != nil {
			return nil, fmt.Errorf("%s is no public key: %w", file, err)
		}
		list = append(list, key)
	}
	return list, nil
}

// verifier is the public key of this state directory.
func (p *program) verifier() (note.Verifier, error) {
	keys, err := p.keysHome()
	if err != nil {
		return nil, err
	}
	public, err := audit.ReadRegular(filepath.Join(keys, "head.pub"), audit.MaxBeside)
	if err != nil {
		return nil, fmt.Errorf("the public key of heads: %w", err)
	}
	return note.NewVerifier(strings.TrimSpace(string(public)))
}

// verifyDeep decodes every body and folds the run again.
func verifyDeep(records iter.Seq2[audit.Record, error], folder runFolder, v *verified) error {
	state, err := steps.Fold(records)
	if err != nil {
		return unverified(err, folder)
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
	return fail(exitUnverified, err, "keep "+folder.dir+
		" as it is and look for another copy: the mirror in redis, a backup, a head that was published")
}

// lostRecords says how to go on where a log ends before its head.
func lostRecords(err error, folder runFolder) error {
	return fail(exitUnverified, err, "keep "+folder.dir+
		" as it is and find the records: resume takes them from the mirror with --redis, and from --emergency-log FILE; "+
		"where they are nowhere, rewarm takeover "+folder.run+
		" REASON, or rewarm run once its lease has ended, walks on in a new run")
}
