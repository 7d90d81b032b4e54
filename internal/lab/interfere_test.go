package lab

import (
	"testing"
	"time"
)

func TestReplicaLosesWhatCameLater(t *testing.T) {
	b := newBench(t, Options{Seed: 1})
	value := func(v string) *string { return &v }
	b.Edit("origin.admission", value("3200"))
	failOver := b.Replica()
	b.Edit("origin.admission", value("4000"))
	b.Edit("origin.bypass", value("off"))
	failOver()
	if raw, _ := b.Control("origin.admission"); raw != "3200" {
		t.Errorf("admission is %q", raw)
	}
	if raw, set := b.Control("origin.bypass"); set {
		t.Errorf("bypass is %q", raw)
	}
	b.Edit("origin.admission", nil)
	if raw, set := b.Control("origin.admission"); set {
		t.Errorf("admission is %q", raw)
	}
}

func TestFrozenHasNoNewSamples(t *testing.T) {
	b := newBench(t, Options{Seed: 1})
	frozen := b.Frozen()
	const newest = `max(timestamp(catalog_origin_queue_age_seconds))`
	before := b.ask(newest)
	b.forward(5 * time.Second)
	if now := b.ask(newest); now != before+5 {
		t.Errorf("the lab's newest sample is of %v, and was of %v", now, before)
	}
	b.transport = frozen
	if now := b.ask(newest); now != before {
		t.Errorf("the newest sample is of %v, and was of %v", now, before)
	}
}

func TestRefusedWrites(t *testing.T) {
	b := newBench(t, Options{Seed: 1})
	b.RefuseWrites("OOM command not allowed when used memory > 'maxmemory'.")
	if _, err := b.redis.Write([]byte(resp("HSET", controlsKey, "origin.bypass", "off"))); err != nil {
		t.Fatal(err)
	}
	if line, err := b.lines.ReadString('\n'); err != nil || line[:4] != "-OOM" {
		t.Errorf("%q, %v", line, err)
	}
	b.do("HLEN", controlsKey)
	b.RefuseWrites("")
	b.set("origin.bypass", "off")
}

// An event from outside happens at the next second, and to this lab alone.
func TestHappen(t *testing.T) {
	b := newBench(t, Options{Seed: 1})
	before := len(b.world.model.fleet.delays)
	b.Happen(Event{Kind: AddClients, Processes: 10})
	b.forward(2 * time.Second)
	if now := len(b.world.model.fleet.delays); now != before+10 {
		t.Errorf("%d processes, then %d", before, now)
	}
	if n := len(CaseStudy().Events); n != 4 {
		t.Errorf("the case study has %d events", n)
	}
}
