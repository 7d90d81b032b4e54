package evidence

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/rewarm/rewarm/actions"
	"github.com/rewarm/rewarm/audit"
	"github.com/rewarm/rewarm/probes"
	"github.com/rewarm/rewarm/runbook"
	"github.com/rewarm/rewarm/steps"
	"github.com/rewarm/rewarm/templates"
)

// stopwatch is a clock that goes on by a second at each look.
type stopwatch struct{ now time.Time }

func (s *stopwatch) Now() time.Time { s.now = s.now.Add(time.Second); return s.now }

func (s *stopwatch) Wait(context.Context, time.Time) error { return nil }

func (s *stopwatch) Deadline(ctx context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

const smallID = "20261129T100801Z-small-7f3a"

// smallRun writes the log of a short run with a signed head, and gives its material.
func smallRun(t testing.TB, end bool) Material {
	t.Helper()
	m, _ := signedRun(t, smallID, smallRecords(t, end))
	return m
}

// signedRun writes records as a log with a signed head, and gives its material and the key.
func signedRun(t testing.TB, run string, records []record) (Material, *audit.Key) {
	t.Helper()
	dir := t.TempDir()
	log, err := audit.Create(filepath.Join(dir, "audit.jsonl"), &stopwatch{time.Date(2026, 11, 29, 10, 8, 0, 0, time.UTC)}, audit.Options{Run: run})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if _, err := log.Commit("ana", r.kind, r.body); err != nil {
			t.Fatal(err)
		}
	}
	key, err := audit.OpenKey(filepath.Join(dir, "keys"), "rewarm-desk")
	if err != nil {
		t.Fatal(err)
	}
	head, err := log.Sign(key.Signer)
	if err != nil {
		t.Fatal(err)
	}
	if err := log.StoreHead(head); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	public, err := os.ReadFile(filepath.Join(dir, "keys", "head.pub"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := Read(run, []string{log.Path()}, public)
	if err != nil {
		t.Fatal(err)
	}
	return m, key
}

type record struct {
	kind string
	body any
}

func smallRecords(t testing.TB, end bool) []record {
	t.Helper()
	book, err := templates.Files.ReadFile("runbooks/origin-fault.yaml")
	if err != nil {
		t.Fatal(err)
	}
	doc, problems := runbook.Parse("origin-fault.yaml", book, nil)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	value := "3200"
	target := steps.Target{Step: "enforce-admission", Purpose: steps.PurposeFlip, Control: "origin.admission", To: value}
	plan := actions.Plan{Run: "small", Step: target.Step, Control: target.Control, After: &value, Direction: runbook.Protecting, Unit: "attempts/s"}
	list := []record{
		{steps.KindBegun, &steps.Begun{Format: steps.FormatV1, Run: smallID, Service: doc.Service, File: doc.File, Runbook: book, SHA256: doc.Sum(),
			Prometheus: "http://prometheus:9090", Redis: "redis:6379", Approve: steps.Manual, Version: "v1", Host: "desk", PID: 7, User: "ana"}},
		{steps.KindStage, &steps.StageBody{Stage: "protect-origin"}},
		{steps.KindIntended, &steps.Intended{Target: target, Plan: plan, Digest: "d1", Fence: 1, Blind: true, Before: "unlimited (absent)", After: "3200 attempts/s"}},
		{steps.KindSettled, &steps.Settled{Target: target, Plan: plan, Digest: "d1", Result: steps.ResultApplied, Version: 1, Found: &value, Seen: true, After: "3200 attempts/s"}},
		{steps.KindNoted, &steps.Noted{By: "ana", Text: hostile}},
		{steps.KindManual, &steps.ManualBody{Ask: probes.Ask{Probe: "queue-age"}, Value: "0.4", Unit: "s", Source: hostile, Until: time.Date(2026, 11, 29, 10, 20, 0, 0, time.UTC), By: "ana", Digest: "d2"}},
		{steps.KindHeld, &steps.Held{Cause: "person", By: "ana", Sentence: "held by ana: " + hostile}},
		{steps.KindHeld, &steps.Held{Cause: "person", Lifted: true, By: "ana", Sentence: "released by ana"}},
	}
	if end {
		list = append(list, record{steps.KindAborted, &steps.Ended{Reason: "enough", By: "ana"}})
	}
	return list
}

// built is an unsigned bundle.
func built(t testing.TB, m Material) []byte {
	t.Helper()
	return sealed(t, m, nil)
}

// sealed is a bundle that is signed by a key, when there is one.
func sealed(t testing.TB, m Material, key *audit.Key) []byte {
	t.Helper()
	var signer note.Signer
	if key != nil {
		signer = key.Signer
	}
	var b bytes.Buffer
	if err := Build(&b, m, "v1", signer); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// verified checks a bundle in memory.
func verified(bundle []byte, check Check) (Verified, error) {
	return Verify(bytes.NewReader(bundle), int64(len(bundle)), check)
}

// texts are the files of a bundle.
func texts(t testing.TB, bundle []byte) map[string][]byte {
	t.Helper()
	list, err := unpack(bytes.NewReader(bundle), int64(len(bundle)))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for name, content := range list {
		if all[name], err = hold(content); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// packedOf packs files as rewarm does.
func packedOf(t testing.TB, all map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := pack(&b, heldAll(all)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func heldAll(all map[string][]byte) files {
	list := files{}
	for name, text := range all {
		list[name] = held(text)
	}
	return list
}

// resealed makes the manifest of changed files anew, with every hash right.
func resealed(t testing.TB, all map[string][]byte, run, version string) []byte {
	t.Helper()
	rest := maps.Clone(all)
	delete(rest, manifestFile)
	delete(rest, signatureFile)
	manifest, err := manifestOf(Manifest{Run: run, Version: version}, heldAll(rest))
	if err != nil {
		t.Fatal(err)
	}
	text, err := encode(manifest)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
