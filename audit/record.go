package audit

import (
	"encoding/json"
	"time"
)

// Record is one entry of the log.
type Record struct {
	Seq   uint64          `json:"seq"`
	Prev  string          `json:"prev"` // hex SHA-256 of the previous line without its newline
	At    time.Time       `json:"at"`   // UTC
	T     int64           `json:"t"`    // milliseconds of run time, never decreasing, sleeps excluded
	Actor string          `json:"actor"`
	Kind  string          `json:"kind"`
	Body  json.RawMessage `json:"body"`
}
