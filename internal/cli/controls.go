package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/actions/controls"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

func (p *program) controlsCommand() *cobra.Command {
	return group("controls", "Look at a service's controls, and flip one by hand",
		p.controlsGetCommand(), p.controlsSetCommand(), p.controlsHistoryCommand(), p.controlsWatchCommand())
}

// storeOf opens the Redis of the settings for a service. It does not connect.
func (p *program) storeOf(service string) (*actions.Store, error) {
	s := p.settings
	if s.redis == "" && s.redisConfig == "" {
		return nil, usage(errors.New("no redis is given"),
			"give --redis URL or --redis-config FILE, set REWARM_REDIS, or use a --profile")
	}
	store, err := actions.Open(actions.Options{URL: s.redis, ConfigFile: s.redisConfig, Service: service, Clock: p.clock})
	if err != nil {
		return nil, usage(err, "")
	}
	p.closeLater(store.Close)
	for _, warning := range store.Warnings() {
		sayWarning(p.err, warning)
	}
	return store, nil
}

func runbookFlag(cmd *cobra.Command, book *string) {
	cmd.Flags().StringVar(book, "runbook", "", "`BOOK` that declares the controls (default: the one in the mirrored log of the run that flipped them last)")
}

func (p *program) controlsGetCommand() *cobra.Command {
	var book string
	cmd := &cobra.Command{
		Use:   "get SERVICE [CONTROL]",
		Short: "Say what the controls hold, since when, by whom, and what is overdue",
		Long: `Reads the controls in --redis with what their last flips left beside them. It needs no
log, so it says the same on any machine. A value that is not the one the last flip wrote
was set by hand.`,
		Args: between(1, 2, "controls get SERVICE [CONTROL]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.controlsGet(cmd.Context(), args[0], append(args, "")[1], book)
		},
	}
	runbookFlag(cmd, &book)
	return cmd
}

// between is the argument check of a command with optional arguments.
func between(least, most int, form string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usage(fmt.Errorf("expected %d to %s, got %d", least, countOf(most, "argument"), len(args)),
				"write: rewarm "+form)
		}
		return nil
	}
}

// surveyed reads what Redis knows of a service, beside what its runbook declares. A name that neither knows is refused.
func (p *program) surveyed(ctx context.Context, service, book string) (surveyShown, error) {
	store, err := p.storeOf(service)
	if err != nil {
		return surveyShown{}, err
	}
	survey, err := store.Survey(ctx)
	if err != nil {
		return surveyShown{}, commandError(err)
	}
	doc, err := p.declaredFor(ctx, store, survey, service, book)
	if err != nil {
		return surveyShown{}, err
	}
	shown := p.surveyOf(service, survey, doc)
	if shown.unknown && doc == nil {
		return shown, p.unknownService(ctx, service)
	}
	return shown, nil
}

// unknownService refuses a service of which Redis holds nothing, and names those that it holds.
func (p *program) unknownService(ctx context.Context, service string) error {
	unknown := fmt.Errorf("redis holds no control of service %s, and nobody commands it", service)
	names, err := actions.Services(ctx,
		actions.Options{URL: p.settings.redis, ConfigFile: p.settings.redisConfig, Clock: p.clock})
	const declared = "; --runbook BOOK shows what was never flipped"
	switch {
	case err != nil:
		return usage(unknown, "those that it holds are listed by redis-cli --scan --pattern '"+controls.AnyControls+"'")
	case len(names) == 0:
		return usage(unknown, "it holds those of no service: is it the right one"+declared)
	}
	return usage(unknown, "it holds those of "+strings.Join(names, ", ")+declared)
}

func (p *program) controlsGet(ctx context.Context, service, only, book string) error {
	shown, err := p.surveyed(ctx, service, book)
	if err != nil {
		return err
	}
	if only != "" {
		shown.Controls = slices.DeleteFunc(shown.Controls, func(c controlShown) bool { return c.Control != only })
		if len(shown.Controls) == 0 {
			return usage(fmt.Errorf("service %s has no control %q in redis or its runbook", service, only),
				"rewarm controls get "+service+" lists them")
		}
	}
	if p.settings.json() {
		return json.NewEncoder(p.out).Encode(shown)
	}
	fmt.Fprint(p.out, wrapRows(shown.rows(false), columnsOf(p.out)))
	return nil
}

// declaredFor finds the runbook that declares a service's controls: the one that is given,
// else the one with which the latest flip was made, as the mirror of that run's log has it.
// It is nil when there is none, which is no error.
func (p *program) declaredFor(
	ctx context.Context, store *actions.Store, survey actions.Survey, service, book string,
) (*runbook.Document, error) {
	if book != "" {
		doc, err := p.openBook(book)
		if err == nil && doc.Service != service {
			err = usage(fmt.Errorf("%s is for service %s", book, doc.Service), "give the runbook of "+service)
		}
		return doc, err
	}
	for _, run := range flippedBy(survey) {
		if doc := p.mirroredBook(ctx, store, run); doc != nil && doc.Service == service {
			return doc, nil
		}
	}
	return nil, nil
}

// flippedBy lists the runs that made the last flips, the latest first.
func flippedBy(survey actions.Survey) []string {
	metas := []*actions.Meta{}
	for _, c := range survey.Controls {
		if c.Meta != nil {
			metas = append(metas, c.Meta)
		}
	}
	slices.SortStableFunc(metas, func(a, b *actions.Meta) int { return int(b.Version - a.Version) })
	var runs []string
	for _, m := range metas {
		if !slices.Contains(runs, m.Run) {
			runs = append(runs, m.Run)
		}
	}
	return runs
}

// mirroredBook reads the runbook off the first record of a run's mirrored log; nil when
// that is gone, or of a version that cannot be read here.
func (p *program) mirroredBook(ctx context.Context, store *actions.Store, run string) *runbook.Document {
	line, err := store.Begun(ctx, run)
	if err != nil || line == nil {
		p.log.Debug("no mirrored log", "run", run, "error", err)
		return nil
	}
	record, err := audit.ParseRecord(line)
	if err != nil {
		p.log.Debug("the mirrored log cannot be read", "run", run, "error", err)
		return nil
	}
	body, err := steps.DecodeBody(record.Kind, record.Body)
	begun, ok := body.(*steps.Begun)
	if err != nil || !ok {
		return nil
	}
	doc, problems := runbook.Parse(begun.File, begun.Runbook, begun.Parameters)
	if problems.Err() != nil {
		return nil
	}
	return doc
}

// surveyShown is `controls get --output json`, and what `status --service` is made of.
type surveyShown struct {
	Service   string          `json:"service"`
	Now       time.Time       `json:"now"` // by the clock of redis, as all times here
	Commander *commanderShown `json:"commander"`
	Controls  []controlShown  `json:"controls"`
	unknown   bool            // redis holds no control of it, and nobody commands it
	ExpiresMS int64           `json:"expires_ms,omitempty"` // when redis will forget all controls, which is to be never
}

type commanderShown struct {
	Run    string    `json:"run"`
	Actor  string    `json:"actor"`
	Host   string    `json:"host"`
	Since  time.Time `json:"since"`
	Until  time.Time `json:"until"`
	Lapsed bool      `json:"lapsed"` // it has stopped renewing
}

type controlShown struct {
	Control  string    `json:"control"`
	Raw      *string   `json:"raw"`              // as redis holds it; null for a missing field
	Value    string    `json:"value"`            // for people
	Steady   string    `json:"steady,omitempty"` // for people; missing when it is not known
	Away     bool      `json:"away"`             // from its steady value
	Since    time.Time `json:"since,omitzero"`
	AgeMS    int64     `json:"age_ms,omitempty"`
	Version  int64     `json:"version,omitempty"`
	By       string    `json:"by,omitempty"` // the run that flipped it last
	Step     string    `json:"step,omitempty"`
	Actor    string    `json:"actor,omitempty"`
	Owner    string    `json:"owner,omitempty"`
	Reason   string    `json:"reason,omitempty"`
	At       time.Time `json:"at,omitzero"` // of the last flip
	ReviewAt time.Time `json:"review_at,omitzero"`
	Overdue  bool      `json:"overdue,omitempty"`
	Edited   bool      `json:"edited,omitempty"` // by hand, since the last flip
	Wrote    *string   `json:"wrote,omitempty"`  // what that flip had written, when it was edited
	Lapsed   bool      `json:"lapsed,omitempty"` // readers obey its dead man's value
	Next     string    `json:"next,omitempty"`   // the command that makes redis say what readers obey, while no run does
}

func (p *program) surveyOf(service string, survey actions.Survey, doc *runbook.Document) surveyShown {
	s := surveyShown{Service: service, Now: survey.Now.UTC(), Controls: []controlShown{},
		unknown: survey.Commander == nil && len(survey.Controls) == 0, ExpiresMS: survey.Expires.Milliseconds()}
	if c := survey.Commander; c != nil {
		s.Commander = &commanderShown{Run: c.Run, Actor: c.Actor, Host: c.Host, Since: c.Since.UTC(), Until: c.Until.UTC(),
			Lapsed: c.Lapsed()}
	}
	declared := map[string]*runbook.Control{}
	if doc != nil {
		for i := range doc.Controls {
			declared[doc.Controls[i].Name] = &doc.Controls[i]
		}
	}
	for _, c := range survey.Controls {
		shown := shownControl(c, declared[c.Control], survey.Now)
		if shown.Lapsed && !s.commanded() {
			shown.Next = p.idleCommand(service, c, declared[c.Control])
		}
		s.Controls = append(s.Controls, shown)
		delete(declared, c.Control)
	}
	for name, c := range declared { // what nobody ever flipped
		s.Controls = append(s.Controls, shownControl(actions.Surveyed{Control: name}, c, survey.Now))
	}
	slices.SortFunc(s.Controls, func(a, b controlShown) int { return strings.Compare(a.Control, b.Control) })
	return s
}

// commanded reports whether a run that renews commands the service.
func (s surveyShown) commanded() bool { return s.Commander != nil && !s.Commander.Lapsed }

// idleCommand spells how a person takes away a value that has lapsed. Without a runbook the
// steady value stands in for the dead man's, as in asLapsed.
func (p *program) idleCommand(service string, c actions.Surveyed, declared *runbook.Control) string {
	to, book := "VALUE", " --runbook BOOK"
	switch {
	case declared != nil && declared.DeadMan != nil:
		to, book = actions.Encode(*declared.DeadMan), ""
	case c.Meta.Steady != nil:
		to = *c.Meta.Steady
	}
	return p.command("controls set", shellWord(service)+" "+shellWord(c.Control)+" "+shellWord(to)) +
		" --reason TEXT" + book
}

func shownControl(c actions.Surveyed, declared *runbook.Control, now time.Time) controlShown {
	shown := controlShown{Control: c.Control, Raw: c.Raw, Value: rawShown(declared, c.Raw), Away: away(c, declared),
		Since: utc(c.Since()), ReviewAt: utc(c.ReviewAt()), Overdue: c.Overdue(now),
		Lapsed: c.Lapsed && !asLapsed(c, declared)}
	if declared != nil {
		shown.Steady = declared.Format(declared.Steady)
	}
	if !shown.Since.IsZero() {
		shown.AgeMS = now.Sub(shown.Since).Milliseconds()
	}
	m := c.Meta
	if m == nil {
		shown.Edited = c.Raw != nil
		return shown
	}
	if m.Steady != nil {
		shown.Steady = rawShown(declared, m.Steady)
	}
	shown.Version, shown.By, shown.Step, shown.Actor, shown.Owner, shown.Reason = m.Version, m.Run, m.Step, m.Actor,
		m.Owner, m.Reason
	shown.At = time.UnixMilli(m.At).UTC()
	if shown.Edited = c.Edited(); shown.Edited {
		shown.Wrote = m.After
	}
	return shown
}

// asLapsed reports whether a control holds what its readers obey once it has lapsed, so that
// nothing has ended: a run renews only what is above that. Without a runbook the steady value
// stands in for the dead man's.
func asLapsed(c actions.Surveyed, declared *runbook.Control) bool {
	if declared == nil || declared.DeadMan == nil {
		return !c.Away()
	}
	value, err := actions.Decode(declared, *c.Raw)
	return err == nil && value.Equal(*declared.DeadMan)
}

// rawShown is a raw value for people: in the control's unit where that is known.
func rawShown(c *runbook.Control, raw *string) string {
	if c == nil && raw == nil {
		return "absent"
	}
	if c == nil {
		return oneLine(*raw)
	}
	if raw == nil {
		return c.Format(c.Absent) + " (absent)"
	}
	value, err := actions.Decode(c, *raw)
	if err != nil {
		return fmt.Sprintf("%q", *raw)
	}
	return c.Format(value)
}

// away reports whether readers are known to obey another value than the steady one: by the last flip or, of what was
// never flipped, by the runbook. A missing field is what the service does without it.
func away(c actions.Surveyed, declared *runbook.Control) bool {
	if c.Meta != nil || declared == nil {
		return c.Away()
	}
	obeyed, err := declared.Absent, error(nil)
	if c.Raw != nil {
		obeyed, err = actions.Decode(declared, *c.Raw)
	}
	return err != nil || !obeyed.Equal(declared.Steady)
}

func utc(at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	return at.UTC()
}
