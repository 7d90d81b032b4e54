// Package diagnosis says which modes of a cache collapse the signals of one
// observation speak for.
//
// Rules come from files (runbook.ParseDiagnosis, templates/diagnosis): each mode has
// signs that it needs, signs that support it and signs that explain the needs
// otherwise. A sign is a gate in a runbook's notation, judged as gates are, so that
// what was not measured is unknown and never evidence.
//
//	likely    every need passes, and nothing stands against it
//	possible  nothing stands against it, something speaks for it, and a need is unknown
//	unlikely  a need fails, or something stands against it
//	unknown   nothing could be told
//
// There is no score. Every verdict can be read off from its evidence:
//
//	rules, problems := runbook.ParseDiagnosis(book, file)
//	seen := poller.Poll(ctx, rules.Document(), diagnosis.Asks(rules), 0)
//	report := diagnosis.Of(rules, seen, book.Defaults.StaleAfter)
package diagnosis
