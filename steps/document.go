package steps

import (
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/rewarm/rewarm/runbook"
)

// documents remembers the runbooks that logs began with: many runs are of the same one,
// and whoever lists runs folds them all. A document is never changed once it is parsed.
var documents = documentMemory{parsed: map[string]*runbook.Document{}}

const mostDocuments = 64

type documentMemory struct {
	mu     sync.Mutex
	parsed map[string]*runbook.Document
}

// of parses the runbook that a run began with: the bytes in the log decide, not a file
// that may have changed since.
func (m *documentMemory) of(begun *Begun) (*runbook.Document, error) {
	key := fmt.Sprintf("%q %q %x", begun.File, begun.Parameters, sha256.Sum256(begun.Runbook))
	m.mu.Lock()
	defer m.mu.Unlock()
	if doc := m.parsed[key]; doc != nil {
		return doc, nil
	}
	doc, problems := runbook.Parse(begun.File, begun.Runbook, begun.Parameters)
	if len(problems) > 0 {
		return nil, fmt.Errorf("the runbook in the log: %w", problems)
	}
	if len(m.parsed) >= mostDocuments {
		clear(m.parsed)
	}
	m.parsed[key] = doc
	return doc, nil
}
