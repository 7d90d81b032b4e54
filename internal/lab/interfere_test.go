package lab

import (
	"testing"
	"time"
)

func TestReplicaLosesWhatCameLater(t *testing.T) {
	b := newBench(t, Options{Seed: 1})
	value := func(v string) *string { return &v }
	b.Edit(Service, "origin.admission", value("3200"))
	failOver := b.Replica()
	b.Edit(Service, "origin.admission", value("4000"))
	b.Edit(Service, "origin.bypass", value("off"))
	failOver()
	if raw, _ := b.Control(Service, "origin.admission"); raw != "3200" {
		t.Errorf("admission is %q", raw)
	}
	if raw, set := b.Control(Service, "origin.bypass"); set {
		t.Errorf("bypass is %q", raw)
	}
	b.Edit(Service, "origin.admission", nil)
	if raw, set := b.Control(Service, "origin.admission"); set {
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

// What a batch job asks for is bounded by nothing but its own rate, and every count adds up.
func TestBatchPrewarm(t *testing.T) {
	m := newCase(&catalog, 1, cellLost-time.Second)
	s := m.fleet.untouchedSource()
	for m.time() < cellLost+time.Second {
		m.step(s)
	}
	before := m.sources[warming]
	m.happen(&Event{Kind: BatchPrewarm, Keys: 50_000, Over: 5 * time.Second})
	for m.time() < cellLost+8*time.Second {
		m.step(s)
	}
	if asked := m.sources[warming] - before; asked != 50_000 {
		t.Errorf("%d attempts", asked)
	}
	if err := m.check(); err != nil {
		t.Error(err)
	}
}

// Without the detector only the keys of the static list are held, and with it the others again.
func TestLoseDetector(t *testing.T) {
	b := newBench(t, Options{Seed: 1})
	b.set("local.ttl", "1")
	b.forward(5 * time.Second)
	if n := b.world.model.localKeys(); n <= 1 {
		t.Fatalf("%d keys are held", n)
	}
	b.Happen(Event{Kind: LoseDetector, Over: 10 * time.Second})
	b.forward(8 * time.Second)
	if n := b.world.model.localKeys(); n != 1 {
		t.Errorf("%d keys are held without the detector", n)
	}
	b.forward(8 * time.Second)
	if n := b.world.model.localKeys(); n <= 1 {
		t.Errorf("%d keys are held when it is back", n)
	}
}
