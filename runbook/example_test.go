package runbook_test

import (
	"fmt"

	"github.com/rewarm/rewarm/runbook"
)

func ExampleParse() {
	source := []byte(`apiVersion: rewarm/v1
kind: Runbook
name: catalog-collapse
service: catalog
controls:
  origin.admission: {kind: rate, unit: attempts/s, absent: unlimited, steady: 3200, protects: lowr}
probes:
  queue-age: {query: max(origin_queue_age_seconds), unit: s}
exit: {when: [{probe: queue-age, at_most: 10 attempts/s}], interval: 5}
stages: {}
`)
	_, problems := runbook.Parse("collapse.yaml", source, nil)
	for _, p := range problems[:3] {
		fmt.Println(p)
	}
	// Output:
	// collapse.yaml:6:95: protects cannot be "lowr" (did you mean "lower"?)
	// collapse.yaml:9:43: at_most: unit "attempts/s" does not fit probe queue-age, which is in "s" (write it in the unit of the probe)
	// collapse.yaml:9:70: interval: "5" is a duration without a unit (write 5s or 5ms)
}

func ExampleControl_Direction() {
	c := &runbook.Control{Name: "retries.budget", Kind: runbook.Percent, Max: 100, Protects: "lower"}
	from, _ := c.Parse("10%")
	to, _ := c.Parse("0")
	fmt.Println(c.Format(from), "to", c.Format(to), "is", c.Direction(from, to))
	// Output: 10% to 0% is protecting
}
