package steps

import (
	"fmt"
	"time"
)

// Lasts writes how long something lasts, for people, in whole units: 41s, 3m05s, 2h04m. What is negative has not begun.
func Lasts(d time.Duration) string {
	whole := int(max(d, 0) / time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", whole)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", whole/60, whole%60)
	}
	return fmt.Sprintf("%dh%02dm", whole/3600, whole/60%60)
}
