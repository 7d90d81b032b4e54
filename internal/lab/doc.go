// Package lab is the modelled service on which runbooks are tried: the catalog
// of the case study, with the real Redis protocol and the real PromQL engine in
// front of it.
//
// It obeys the controls in its Redis through the reader that services embed,
// and reports what becomes of them as metrics. Between the two stands a model
// in whole numbers: reads that arrive on a fixed schedule, keys that grow old,
// refresh leaders and their followers, retries, and an origin that completes
// less the more it is asked. Nothing in it knows the runbook, and every read,
// attempt and key is accounted for at every tick (Lab.Check).
//
// What happens to it is a Scenario: the case study unless Options name another,
// which ParseScenario reads from a file.
//
// All figures are a model's. Parameters lists the numbers behind them, and says
// which were fitted.
//
// A lab lives in virtual time. Its clock stands still until somebody waits:
//
//	l, err := lab.New(lab.Options{Seed: 1})
//	...
//	defer l.Close()
//	l.Clock().Wait(ctx, l.Clock().Now().Add(time.Second)) // a second of the incident
//
// The same model serves real ports and real clients with Serve.
package lab
