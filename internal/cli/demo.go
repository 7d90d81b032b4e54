package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/internal/evidence"
	"github.com/rewarm/rewarm/internal/lab"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
)

func (p *program) demoCommand() *cobra.Command {
	var through, scenario string
	cmd := &cobra.Command{
		Use:   "demo [BOOK]",
		Short: "Let the embedded lab collapse and recover it with a runbook",
		Long: `A modelled catalog service takes 120,000 reads a second; a launch key with 28 % of them
expires everywhere, then a cache cell with 30 % is lost. The bundled runbook, or BOOK,
recovers it through all nine stages. The service speaks the real Redis protocol and
answers real PromQL, all in this process; every figure is a model's.

On a terminal you approve what releases and the lab runs at four times real time, and in
real time while a question with a deadline waits for you. Without a terminal the gates
alone approve and it runs as fast as it can.

A demo that was interrupted cannot be resumed, as a run can: the lab ends with it.`,
		Args: atMost(1, "demo [BOOK]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.demo(cmd.Context(), args, scenario, through)
		},
	}
	throughFlag(cmd, &through)
	scenarioFlag(cmd, &scenario)
	return cmd
}

// demoSpeed is how fast the lab runs when a person takes part.
const demoSpeed = 4

func (p *program) demo(ctx context.Context, books []string, scenarioName, through string) error {
	if err := checkThrough(through); err != nil {
		return err
	}
	scenario, err := openScenario(scenarioName)
	if err != nil {
		return err
	}
	doc, err := p.openBook(append(books, scenario.Runbook)[0])
	if err != nil {
		return err
	}
	if err := rehearsable(doc); err != nil {
		return err
	}
	attended := p.terminal() != nil
	if !attended {
		p.settings.unattended()
	}
	mail := &mailbox{}
	on, err := p.scenarioTargets(doc, scenario, mail, attended)
	if err != nil {
		return err
	}
	on.again = p.demoAgain(books, scenarioName)
	w := p.newWalk(ctx, doc, on)
	w.mail = mail
	defer w.close()
	if err := w.beginNew(ctx, through); err != nil {
		return err
	}
	var alone <-chan string
	if attended && !p.settings.json() {
		alone = leftAloneMeanwhile(ctx, doc, scenario)
	}
	err = w.finish(w.drive(ctx, w.person))
	if alone != nil && w.machine.State().Ending == steps.EndedClosed {
		if text := <-alone; text != "" {
			fmt.Fprint(p.out, wrapRows([]string{text, w.walkedText()}, columnsOf(p.out)))
		}
	}
	return err
}

// walkedText says what readers have lost with a walk on the lab, and how long its questions waited for a word.
func (w *walk) walkedText() string {
	text := fmt.Sprintf("with this walk %d reads were refused or have failed since it began at %s", w.on.unserved(),
		w.machine.State().BegunAt.UTC().Format(time.TimeOnly))
	material, err := evidence.Read(w.folder.run, w.p.segments(w.folder), nil)
	if err != nil {
		return text
	}
	figures, err := evidence.FiguresOf(material.Segments)
	if err != nil {
		return text
	}
	var waited int64
	for _, stage := range figures.Ledger {
		waited += stage.PersonMS
	}
	return text + "; its questions waited " + lasting(waited) + " for a word"
}

// demoAgain spells the demo as it was given: what it plays, and with what.
func (p *program) demoAgain(books []string, scenario string) string {
	text := "rewarm demo"
	for _, book := range books {
		text += " " + shellWord(book)
	}
	if scenario != caseStudy {
		text += " --scenario " + shellWord(scenario)
	}
	for _, pair := range p.settings.set {
		text += " --set " + shellWord(pair)
	}
	return text
}

// leftAloneMeanwhile plays the same incident beside a demo without a walk, and says how it went.
func leftAloneMeanwhile(ctx context.Context, doc *runbook.Document, scenario *lab.Scenario) <-chan string {
	told := make(chan string, 1)
	go func() {
		c := &comparison{From: time.Time{}.Add(scenario.Start + collapseAfter).Format(time.TimeOnly)}
		if err := c.leaveAlone(ctx, beginning(doc, scenario, scenario.Seed, lab.Variation{}), longestPlot); err != nil {
			told <- ""
			return
		}
		told <- fmt.Sprintf("left alone, the same incident would have taken %s from %s, and %d reads would have been refused or have failed (a model's figures; rewarm lab compare plays both)",
			c.minutes(c.LeftAlone), c.From, c.LostAlone)
	}()
	return told
}

// unattended are the defaults of a demo that nobody takes part in.
func (s *settings) unattended() {
	if !s.given["approve"] {
		s.approve = string(steps.Auto)
	}
	if !s.given["speed"] {
		s.speed = "max"
	}
}

// someoneAnswers reports whether the lab is to wait, at its questions with a deadline, for the person that
// sits there. Who has left the approvals to the gates and asks for a speed wants to watch at that speed.
func (s *settings) someoneAnswers(attended bool) bool {
	return attended && (s.approve == string(steps.Manual) || !s.given["speed"])
}

// labTargets makes a lab with the case study and what a walk needs to act on it.
func (p *program) labTargets(doc *runbook.Document, mail *mailbox, attended bool) (targets, error) {
	story := lab.CaseStudy()
	return p.scenarioTargets(doc, &story, mail, attended)
}

// scenarioTargets makes a lab with a scenario and what a walk needs to act on it.
func (p *program) scenarioTargets(
	doc *runbook.Document, scenario *lab.Scenario, mail *mailbox, attended bool,
) (targets, error) {
	speed, flatOut, err := p.settings.pace(demoSpeed)
	if err != nil {
		return targets{}, err
	}
	if flatOut && attended && p.settings.approve == string(steps.Manual) {
		return targets{}, usage(errors.New("at --speed max no person can keep up"), "give --approve auto, or a lower --speed")
	}
	l, err := lab.New(lab.Options{Seed: scenario.Seed, Scenario: scenario, Start: labStart(p.clock.Now(), scenario)})
	if err != nil {
		return targets{}, err
	}
	p.closeLater(func() error { l.Close(); return nil })
	var now clock = l.Clock()
	var lingers func(bool)
	if !flatOut {
		paced := newPacedClock(l.Clock(), p.clock, speed)
		if now = paced; p.settings.someoneAnswers(attended) {
			lingers = paced.linger
		}
	}
	poller, err := probes.NewPoller(probes.Options{URL: "http://lab", Transport: l.Transport()}, now)
	if err != nil {
		return targets{}, err
	}
	store, err := actions.Open(actions.Options{URL: "redis://lab:6379", Dial: l.DialRedis,
		Service: doc.Service, Clock: now})
	if err != nil {
		return targets{}, err
	}
	p.closeLater(store.Close)
	before := l.Unserved()
	return targets{prober: poller, store: store, caller: labCaller{l, mail.post}, unserved: func() int { return l.Unserved() - before }, clock: now, lingers: lingers,
		prometheus: poller.Address(), redis: store.Target(), lab: true, again: "rewarm demo",
		scenario: &steps.Scenario{Name: scenario.Name, Seed: scenario.Seed}}, nil
}

// labStart is the moment at which a scenario is handed over, on the present day.
func labStart(now time.Time, scenario *lab.Scenario) time.Time {
	year, month, day := now.UTC().Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Add(scenario.Start)
}

// labCaller has the lab answer the calls of a runbook: nothing is executed.
type labCaller struct {
	lab  *lab.Lab
	post func(mail)
}

// Start answers at once.
func (c labCaller) Start(r steps.CallRequest) {
	words := r.Do.Args
	if len(words) == 0 {
		words = []string{r.Do.Method, r.Do.URL}
	}
	c.post(steps.CallDone{Step: r.Step, Undo: r.Undo, Instead: r.Instead, OK: true, Output: c.lab.Call(words...)})
}
