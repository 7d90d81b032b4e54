package audit

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
)

// Gathering puts a log together from lines that come in any order, some twice, some
// never: those of a mirror, together with those of a disk. The zero value is empty.
type Gathering struct {
	// Rank says how much a record speaks for the branch that it is in, where two
	// writers went on from the same record: the branch with the highest rank in it is
	// the log. Between equals the one whose last record came last is.
	Rank func(Record) int64

	lines map[digest]*gatheredLine
	came  int
}

type gatheredLine struct {
	record Record
	hash   digest
	prev   digest
	came   int // the how manyth line it was when it came last

	// Of the way from record 1 to here, when there is one.
	before  *gatheredLine
	reached bool
	rank    int64
	leaf    bool
}

// Add takes one line without its newline. A line that is no record changes nothing.
func (g *Gathering) Add(line []byte) (Record, error) {
	r, err := ParseRecord(line)
	if err != nil {
		return Record{}, err
	}
	if g.lines == nil {
		g.lines = map[digest]*gatheredLine{}
	}
	g.came++
	hash := digest(sha256.Sum256(line))
	if known := g.lines[hash]; known != nil {
		known.came = g.came
		return r, nil
	}
	prev, _ := parseDigest([]byte(r.Prev)) // ParseRecord has looked at it
	g.lines[hash] = &gatheredLine{record: r, hash: hash, prev: prev, came: g.came}
	return r, nil
}

// Gathered is what the lines of a [Gathering] make.
type Gathered struct {
	Records []Record // from the first one, without a gap
	Forks   []Branch // of other writers, by the record at which they leave the log

	end   digest
	loose []uint64 // records that nothing leads to
}

// Branch is what another writer went on with.
type Branch struct {
	First, Last uint64 // record numbers
}

// Gathered follows the records from the first one as far as they lead.
func (g *Gathering) Gathered() Gathered {
	nodes := make([]*gatheredLine, 0, len(g.lines))
	for _, n := range g.lines {
		nodes = append(nodes, n)
	}
	slices.SortFunc(nodes, func(a, b *gatheredLine) int {
		return cmp.Or(cmp.Compare(a.record.Seq, b.record.Seq), cmp.Compare(a.came, b.came))
	})
	var out Gathered
	var best *gatheredLine
	for _, n := range nodes {
		if !g.reach(n) {
			out.loose = append(out.loose, n.record.Seq)
		}
	}
	for _, n := range nodes {
		if n.leaf && (best == nil || cmp.Or(cmp.Compare(n.rank, best.rank), cmp.Compare(n.came, best.came)) > 0) {
			best = n
		}
	}
	if best == nil {
		return out
	}
	out.end = best.hash
	onPath := map[*gatheredLine]bool{}
	for n := best; n != nil; n = n.before {
		onPath[n] = true
		out.Records = append(out.Records, n.record)
	}
	slices.Reverse(out.Records)
	out.Forks = branches(nodes, onPath)
	return out
}

// reach connects a record to the one before it, which was looked at earlier.
func (g *Gathering) reach(n *gatheredLine) bool {
	n.before, n.reached, n.rank, n.leaf = nil, false, 0, false
	if g.Rank != nil {
		n.rank = g.Rank(n.record)
	}
	if n.record.Seq == 1 {
		n.reached = n.prev == digest{}
	} else if before := g.lines[n.prev]; before != nil && before.reached && before.record.Seq+1 == n.record.Seq &&
		before.record.T <= n.record.T {
		n.before, n.reached, n.rank = before, true, max(n.rank, before.rank)
		before.leaf = false
	}
	n.leaf = n.reached
	return n.reached
}

// branches are the ways that leave the log.
func branches(nodes []*gatheredLine, onPath map[*gatheredLine]bool) []Branch {
	var list []Branch
	for _, n := range nodes {
		if !n.leaf || onPath[n] {
			continue
		}
		b := Branch{First: n.record.Seq, Last: n.record.Seq}
		for n.before != nil && !onPath[n.before] {
			n = n.before
			b.First = n.record.Seq
		}
		list = append(list, b)
	}
	slices.SortFunc(list, func(a, b Branch) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Last, b.Last))
	})
	return list
}

// Lost says which records are missing or were changed, when some came that nothing leads
// to: what is there ends before they begin. name is what they came from.
func (g Gathered) Lost(name string) error {
	end := uint64(len(g.Records))
	for _, seq := range g.loose {
		switch {
		case seq > end+1:
			return &GapError{Path: name, First: end + 1, Last: seq - 1}
		case seq == end+1:
			return fmt.Errorf("%s is damaged: its record %d does not follow from its record %d: one of the two was changed",
				show(name), seq, end)
		}
	}
	return nil
}

// Has reports whether the log has the record that a head names.
func (g Gathered) Has(h Head) error {
	end := uint64(len(g.Records))
	if h.Seq > end {
		return &TruncatedError{Last: g.Head(), Want: h}
	}
	hash := g.end
	if h.Seq < end {
		hash, _ = parseDigest([]byte(g.Records[h.Seq].Prev))
	}
	if !h.names(hash) {
		return &RewrittenError{Found: Head{Seq: h.Seq, Hash: hash.String()}, Want: h}
	}
	return nil
}

// Head is the position of the last record; the zero Head when there is none.
func (g Gathered) Head() Head {
	if len(g.Records) == 0 {
		return Head{}
	}
	return Head{Seq: uint64(len(g.Records)), Hash: g.end.String()}
}
