package runbook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// LintFinding is a place where a valid runbook goes against what recoveries have
// taught.
type LintFinding struct {
	Rule    string
	Pos     Position
	Message string // what stands there
	Reason  string // why that is a danger
	Waived  string // the reason for which the file accepts it, "" when it does not
}

// LintRule is one rule of the lint.
type LintRule struct {
	Name   string
	Looks  string // what the rule looks at
	Reason string // why it matters
	check  func(*linter)
}

// LintRules gives every rule, in the order of the reference.
func LintRules() []LintRule { return slices.Clone(lintRules) }

// unusedWaiver is found by the waivers themselves, after all other rules.
const unusedWaiver = "unused-waiver"

// lintRules are all rules. The last one has no check: the waivers are looked at
// when every other rule has been.
var lintRules = []LintRule{
	{"exit-missing", "a runbook without `exit`",
		"nothing says when the collapse is over, and hits come back long before that", (*linter).exitMissing},
	{"exit-on-hit-ratio", "an `exit` that asks for hits or misses and not for all of these: the backlog, retries, demand on the origin, stale copies",
		"a hit ratio recovers while the backlog, the retries and the stale copies are still there", (*linter).exitOnHitRatio},
	{"admission-at-knee", "values of a `rate` control that protects when lower, its `steady` and `max`, and the figure `limit`, against the figure `knee` in the same unit",
		"at its knee the origin does less work the more it is asked", (*linter).admissionAtKnee},
	{"zero-without-dead-man", "a `rate` or `count` that a flip, a guard or `if_unmet` sets to zero and that has no `dead_man`",
		"zero stops everything, also after the run that wrote it has died", (*linter).zeroWithoutDeadMan},
	{"prewarm-uncharged", "releasing flips of a `rate` or `count` that has a `dead_man` or `warm` in its name: more than the figure `limit`, or no guard in the same unit that bounds the admitted work from above up to `restore` without leaving prewarm out",
		"prewarm beside the origin budget is a second stampede", (*linter).prewarmUncharged},
	{"stale-forbidden-class", "controls with `stale` and a word like `price`, `recall`, `authorization` or `inventory` in their name",
		"for such data an old answer is a wrong answer", (*linter).staleForbiddenClass},
	{"stale-window-unbounded", "`duration` controls with `stale` in their name and without `max`",
		"without the approved window any age can be served", (*linter).staleWindowUnbounded},
	{"ladder-jumps", "rungs above a quarter of the way, above 2.5 times the rung before, or past a choice; a `percent` released by more than a quarter at once",
		"the load of a rung is only known once it has been taken", (*linter).ladderJumps},
	{"ladder-without-hold", "a ladder without `when`, or with one pass",
		"a rung that is not held shows its load when the next is already taken", (*linter).ladderWithoutHold},
	{"release-without-expect", "a flip that releases without `expect`, and a call after `constrain-leaders` without `expect` or `check`",
		"nobody would see that the release was too much", (*linter).releaseWithoutExpect},
	{"release-among-protections", "a flip up to `constrain-leaders` that releases from the steady value",
		"such a step is not taken; the tighter value stays", (*linter).releaseAmongProtections},
	{"restore-ungated", "a `restore` without `when` or without `expect`",
		"without a look in between everything is lifted at once", (*linter).restoreUngated},
	{"restore-stale-jump", "a stale window that comes back without `back` rungs, or by more than two thirds in one of them",
		"all copies older than the new window have to be refreshed at the same moment", (*linter).restoreStaleJump},
	{"restore-missing", "temporary controls that are flipped and not steady at the end, in a runbook without `restore`",
		"a brake that is forgotten is the cause of the next incident", (*linter).restoreMissing},
	{"raw-key-label", "labels like `key`, `sku`, `product_id` or `user_id` in a query",
		"a label per raw key makes the metrics the next bottleneck", (*linter).rawKeyLabel},
	{"leaders-uncapped", "no flip up to `constrain-leaders` of a control named after leaders per cell, or none per region",
		"one slow cell takes every slot, or the sum of the cells is more than the origin takes", (*linter).leadersUncapped},
	{"short-range", "range selectors shorter than four times `every`, which stands for the scrape interval",
		"over so few samples a rate is not what was counted, or there is none", (*linter).shortRange},
	{"zero-without-witness", "an `alive` query or a `witness` that itself answers without data",
		"silence then counts as zero, and zero looks like recovery", (*linter).zeroWithoutWitness},
	{"average-hides-peak", "upper bounds on `avg`, `avg_over_time`, a quantile up to the median, or a sum divided by its count",
		"the cell that is on fire disappears in the average", (*linter).averageHidesPeak},
	{"prediction-counts-prewarm", "queries with `${from}` or `${to}` that use a metric of attempts at the origin without leaving prewarm out by a label",
		"prewarm yields to live demand, so counting it forbids rungs that would fit", (*linter).predictionCountsPrewarm},
	{"floor-above-target", "the time floor against `recover_within`",
		"nobody can be faster than the gates", (*linter).floorAboveTarget},
	{"timeout-below-window", "a step whose `timeout` is shorter than its own `when` or `expect` needs after a flip",
		"such a gate cannot pass, whatever the service does", (*linter).timeoutBelowWindow},
	{"bare-time", "bounds on a probe in a unit of time that are a number without a unit, zero excepted",
		"250 is read as 250 s where 250 ms was meant, and such a bound always passes", (*linter).bareTime},
	{"figure-undated", "figures without `measured`",
		"a capacity that nobody has measured lately is a guess", (*linter).figureUndated},
	{unusedWaiver, "waivers that match no finding",
		"a waiver without a finding hides the next one", nil},
}

// linter collects the findings of one document.
type linter struct {
	d        *Document
	rule     *LintRule
	findings []owned
}

// owned is a finding with the waivers that stand where it was found.
type owned struct {
	LintFinding
	waivers []Waiver
}

// Lint checks a valid runbook against every rule and gives the findings in the
// order of the file, waived ones too.
func Lint(d *Document) []LintFinding {
	l := &linter{d: d}
	for i := range lintRules {
		if l.rule = &lintRules[i]; l.rule.check != nil {
			l.rule.check(l)
		}
	}
	l.waive()
	findings := make([]LintFinding, len(l.findings))
	for i, f := range l.findings {
		findings[i] = f.LintFinding
	}
	slices.SortStableFunc(findings, func(a, b LintFinding) int {
		return cmp.Or(comparePositions(a.Pos, b.Pos), cmp.Compare(a.Rule, b.Rule))
	})
	return findings
}

// report adds a finding of the current rule.
func (l *linter) report(at Position, waivers []Waiver, format string, args ...any) {
	if at == (Position{}) {
		at = Position{1, 1}
	}
	l.findings = append(l.findings, owned{LintFinding{Rule: l.rule.Name, Pos: at,
		Message: fmt.Sprintf(format, args...), Reason: l.rule.Reason}, waivers})
}

// waive gives findings the reasons for which the file accepts them, and finds
// the waivers that accept nothing.
func (l *linter) waive() {
	used := map[Position]bool{}
	for i := range l.findings {
		f := &l.findings[i]
		for _, w := range slices.Concat(f.waivers, l.d.Waive) {
			if w.Rule == f.Rule {
				f.Waived = cmp.Or(f.Waived, w.Reason)
				used[w.Pos] = true
			}
		}
	}
	l.rule = &lintRules[len(lintRules)-1]
	for _, w := range l.d.waivers() {
		if !used[w.Pos] {
			l.report(w.Pos, nil, "the waiver of %s accepts nothing%s", quote(w.Rule), nearRule(w.Rule))
		}
	}
}

func nearRule(name string) string {
	var names []string
	for _, r := range lintRules {
		names = append(names, r.Name)
	}
	if slices.Contains(names, name) {
		return ""
	}
	return "; " + suggest(name, names, "there is no such rule")
}

// waivers gives every waiver of the document.
func (d *Document) waivers() []Waiver {
	all := slices.Concat(d.Waive, d.Exit.Waive)
	for _, c := range d.Controls {
		all = append(all, c.Waive...)
	}
	for _, p := range d.Probes {
		all = append(all, p.Waive...)
	}
	for _, g := range d.Guards {
		all = append(all, g.Waive...)
	}
	for s := range d.Steps() {
		all = append(all, s.Waive...)
	}
	return all
}

// words splits a name or a query into its lower-case words.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// mentions reports whether a name has one of the words.
func mentions(text string, any ...string) bool {
	return slices.ContainsFunc(words(text), func(w string) bool { return slices.Contains(any, w) })
}
