package audit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rewarm/rewarm/audit"
)

// tenEight is a clock that stands at the beginning of the case.
type tenEight struct{}

func (tenEight) Now() time.Time { return time.Date(2026, 11, 29, 10, 8, 1, 0, time.UTC) }

func Example() {
	state, err := os.MkdirTemp("", "audit")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(state)
	path := filepath.Join(state, "runs", "20261129T100801Z-hot-key-collapse-7f3a", "audit.jsonl")

	log, err := audit.Create(path, tenEight{}, audit.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	log.Commit("ana", "begun", map[string]string{"service": "catalog"})
	log.Append("rewarm", "observed", map[string]string{"offered": "9100"}) // need not outlive a power cut
	log.Commit("rewarm", "intended", map[string]string{"control": "origin.admission", "after": "3200"})
	if err := log.Close(); err != nil {
		fmt.Println(err)
		return
	}

	report, err := audit.Verify([]string{path}, audit.VerifyOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Head)
	for record := range audit.Records(path) {
		fmt.Println(record.Seq, record.Kind, string(record.Body))
	}
	// Output:
	// 3/b795027f29b9
	// 1 begun {"service":"catalog"}
	// 2 observed {"offered":"9100"}
	// 3 intended {"after":"3200","control":"origin.admission"}
}
