package steps

import (
	"testing"
	"time"
)

func TestLasts(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second:            "0s",
		999 * time.Millisecond:  "0s",
		59*time.Second + 999e6:  "59s",
		time.Minute:             "1m00s",
		5*time.Minute + 8*1e9:   "5m08s",
		time.Hour:               "1h00m",
		26*time.Hour + 4*60*1e9: "26h04m",
	} {
		if got := Lasts(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
