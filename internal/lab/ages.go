package lab

import "sort"

// ages counts keys by the second at which something happened to them, oldest
// first, and keeps apart those that are older than a limit which may move.
type ages struct {
	entries []aged
	head    int // entries before it are used up
	cut     int // entries from head up to here are older than the limit
	old     int // keys before the cut
	young   int // keys from the cut on
}

type aged struct{ second, n int }

func (a *ages) len() int { return a.old + a.young }

// add counts n keys whose second may lie in the past.
func (a *ages) add(second, n int) {
	if n == 0 {
		return
	}
	live := a.entries[a.head:]
	at := a.head + sort.Search(len(live), func(i int) bool { return live[i].second > second })
	merged := at > a.head && a.entries[at-1].second == second
	if !merged {
		a.entries = append(a.entries, aged{})
		copy(a.entries[at+1:], a.entries[at:])
		a.entries[at] = aged{second: second}
		at++
	}
	a.entries[at-1].n += n
	if at > a.cut {
		a.young += n
		return
	}
	a.old += n
	if !merged {
		a.cut++
	}
}

// limit moves the cut: keys of a second before it are old.
func (a *ages) limit(before int) {
	for a.cut < len(a.entries) && a.entries[a.cut].second < before {
		a.old += a.entries[a.cut].n
		a.young -= a.entries[a.cut].n
		a.cut++
	}
	for a.cut > a.head && a.entries[a.cut-1].second >= before {
		a.cut--
		a.old -= a.entries[a.cut].n
		a.young += a.entries[a.cut].n
	}
	a.compact()
}

// dropBefore forgets the keys of seconds before this one and says how many they were.
func (a *ages) dropBefore(second int) int {
	dropped := 0
	for a.head < a.cut && a.entries[a.head].second < second {
		dropped += a.entries[a.head].n
		a.head++
	}
	a.old -= dropped
	return dropped
}

// takeOld removes up to n keys from before the cut, the oldest first.
func (a *ages) takeOld(n int) int {
	taken := 0
	for a.head < a.cut && taken < n {
		e := &a.entries[a.head]
		k := min(e.n, n-taken)
		e.n -= k
		taken += k
		if e.n == 0 {
			a.head++
		}
	}
	a.old -= taken
	return taken
}

// takeYoung removes up to n keys from after the cut, the oldest first.
func (a *ages) takeYoung(n int) int {
	taken := 0
	for i := a.cut; i < len(a.entries) && taken < n; i++ {
		k := min(a.entries[i].n, n-taken)
		a.entries[i].n -= k
		taken += k
	}
	a.young -= taken
	for a.old == 0 && a.cut < len(a.entries) && a.entries[a.cut].n == 0 {
		a.cut++
		a.head = a.cut
	}
	return taken
}

// compact gives the room of used entries back now and then.
func (a *ages) compact() {
	if a.head == len(a.entries) {
		a.entries, a.head, a.cut = a.entries[:0], 0, 0
	}
	if a.head < 64 {
		return
	}
	n := copy(a.entries, a.entries[a.head:])
	a.entries = a.entries[:n]
	a.cut -= a.head
	a.head = 0
}

// each calls f for every second that still has keys, oldest first.
func (a *ages) each(f func(second, n int)) {
	for _, e := range a.entries[a.head:] {
		if e.n > 0 {
			f(e.second, e.n)
		}
	}
}
