package cli

import (
	"errors"
	"strings"

	"github.com/rewarm/rewarm/steps"
)

// latest is the name of the latest walk or, where a service is given, of the one that commands it.
const latest = "last"

// wayToWrite says how an order is written: with the person's own words, as far as it can be told what was meant, else
// in general.
func (p *program) wayToWrite(o orderWord, args []string, service string) string {
	if meant := p.meant(o, args, service); meant != "" {
		return "write: " + meant
	}
	return "write: rewarm " + o.use()
}

// withWayToWrite adds to the error of an order whose first word is no run how it is written.
func (p *program) withWayToWrite(o orderWord, args []string, service string, err error) error {
	if codeOf(err) != exitUsage || p.namesRun(args[0], service) {
		return err
	}
	return usage(err, p.wayToWrite(o, args, service)+also("; ", hintOf(err)))
}

// meant spells the order that a person may have meant who has left out the run, or the step that asks: at the console
// neither is typed. It is "" where that would be no order either.
func (p *program) meant(o orderWord, args []string, service string) string {
	run := latest
	if len(args) > 0 && p.namesRun(args[0], service) {
		run, args = args[0], args[1:]
	}
	if o.kind == steps.OrderAnswer {
		args = p.withStep(run, args)
	}
	if _, err := o.read(args); err != nil || !p.namesRun(run, service) {
		return ""
	}
	about := run
	for _, word := range args {
		about += " " + shellWord(word)
	}
	if service != "" {
		return p.elsewhereCommand(o.word, about, service)
	}
	return p.command(o.word, about)
}

// namesRun reports whether a word names a run, as far as can be told without asking Redis.
func (p *program) namesRun(name, service string) bool {
	if service != "" {
		return name == latest || runShape().MatchString(name)
	}
	_, err := p.findRun(name)
	return !errors.Is(err, errNoRun)
}

// withStep puts the step that asks now before an answer that does not name it, as far as the log here tells.
func (p *program) withStep(run string, answer []string) []string {
	folder, err := p.findRun(run)
	if err != nil {
		return answer
	}
	state, err := p.fold(folder)
	if err != nil {
		return answer
	}
	asking := state.Asking()
	if len(asking) == 0 {
		return answer
	}
	if len(answer) == 0 || !strings.EqualFold(answer[0], asking[0]) {
		answer = append([]string{asking[0]}, answer...)
	}
	if len(answer) == 1 {
		answer = append(answer, "TEXT")
	}
	return answer
}
