// Package evidence makes of a run what others can check without trusting whoever walked it: a bundle
// with the log, what was captured, the figures that follow from them, and a report.
//
//	run's folder ──Read──▶ Material ──Build──▶ bundle.zip
//	                          │  └─ Capture: once, what would vanish
//	                          └─ Figures ──▶ report.md, report.html
//	bundle.zip ──Verify──▶ what holds, and what cannot be known
//
// Build is a pure function of the material, the version and the key: the same folder gives the same bytes in
// any time zone, under any umask and for any user. Whatever can vanish, the ranges that Prometheus
// keeps and the controls in Redis, is captured once into the run's folder, at the end of the run or at the
// first export; what could not be had is captured as missing, with the reason.
//
// The figures follow from the records alone, so Verify works them out again. Captures only add to the
// plots and follow from nothing: for them stands the signature of the manifest, by the key of the machine
// that exported, and [Verified.Claims] names them. A bundle proves what its chain and its signatures prove, and
// no more: who holds the key and the log can write all anew, and only a head that was kept elsewhere tells.
package evidence
