package lab

import "math"

// The keys of a cell are kept in groups by popularity: the launch key, the rest
// of the top ten, the rest of the top hundred, and the tail in parts that double
// in size. The hundred hottest keys have a copy in every cell; the tail is spread.
const (
	cellCount  = 4
	tailGroups = 9
	groupCount = 3 + tailGroups
)

// bucketOf names the popularity bucket of a group, as the metrics call it.
func bucketOf(group int) int { return min(group, len(bucketNames)-1) }

var bucketNames = []string{"top-1", "top-10", "top-100", "tail"}

// groupsOf is how many groups a depth of prewarming reaches.
func groupsOf(depth int) int {
	if depth == len(depths)-1 {
		return groupCount
	}
	return depth
}

// groupKeys shares the keys of a cell out to its groups.
func groupKeys(keys int) (sizes [groupCount]int) {
	sizes[0], sizes[1], sizes[2] = 1, 9, 90
	tail := keys - 100
	before := 0
	for i := range tailGroups {
		upTo := int(math.Round(float64(tail) * tailPart(i+1)))
		sizes[3+i] = upTo - before
		before = upTo
	}
	return sizes
}

// tailPart is the part of the tail's keys in its first n groups.
func tailPart(n int) float64 {
	if n == 0 {
		return 0
	}
	return math.Pow(2, float64(n-tailGroups))
}

// groupShares gives the part of the reads that goes to each group.
func groupShares(p *params, now popularity) (shares [groupCount]float64) {
	rest := (1 - now.top) / (1 - p.LaunchShare)
	if now.hundred > 0 {
		rest = max(0, now.hundred-now.top) / (p.TopTenShare + p.TopHundred)
	}
	shares[0] = now.top
	shares[1] = p.TopTenShare * rest
	shares[2] = p.TopHundred * rest
	tail := 1 - shares[0] - shares[1] - shares[2]
	for i := range tailGroups {
		reads := math.Pow(tailPart(i+1), 1-p.TailExponent) - math.Pow(tailPart(i), 1-p.TailExponent)
		shares[3+i] = tail * reads
	}
	return shares
}

// schedule deals the reads of every tick out to cells and groups. It is fixed:
// it knows nothing of how the reads fare. The sum of a tick is always the same.
type schedule struct {
	perTick int
	weight  [cellCount][groupCount]int64 // out of weightTotal
	owed    [cellCount][groupCount]int64
	dealt   [cellCount][groupCount + 1]int // the last are reads of keys that do not exist
	known   int                            // reads of the others in a tick
	largest [2]int
}

const weightTotal = 1_000_000_000

// newSchedule keeps what an earlier schedule still owed.
func newSchedule(p *params, popular popularity, copies float64, before *schedule) *schedule {
	s := &schedule{perTick: p.ReadsPerSecond / ticksPerSecond}
	s.known = s.perTick - s.crawl(p, popular.unknown)
	if before != nil {
		s.owed = before.owed
	}
	shares := groupShares(p, popular)
	rest := int64(weightTotal)
	for c := range s.weight {
		for g := range s.weight[c] {
			w := int64(math.Round(weightTotal * homeShare(p, c, g, copies) * shares[g]))
			s.weight[c][g] = w
			rest -= w
			if w > s.weight[s.largest[0]][s.largest[1]] {
				s.largest = [2]int{c, g}
			}
		}
	}
	s.weight[s.largest[0]][s.largest[1]] += rest
	return s
}

// crawl deals reads of keys that do not exist to the cells, alike in every tick,
// and says how many they are.
func (s *schedule) crawl(p *params, share float64) int {
	n := int(math.Round(share * float64(s.perTick)))
	percent, dealt := 0, 0
	for i, c := range p.Cells {
		percent += c.Percent
		s.dealt[i][unknownRank] = n*percent/100 - dealt
		dealt += s.dealt[i][unknownRank]
	}
	return n
}

// homeShare is the part of a group's reads whose home is a cell. The hottest key
// is read where its copies are: everywhere once every cell has one.
func homeShare(p *params, cell, group int, copies float64) float64 {
	share := float64(p.Cells[cell].Percent) / 100
	if group > 0 || copies >= cellCount {
		return share
	}
	everywhere := max(0, copies-1) / (cellCount - 1)
	share *= everywhere
	if cell == homeCell {
		share += 1 - everywhere
	}
	return share
}

// deal gives the reads of one tick. Rounding falls to the largest part.
func (s *schedule) deal() *[cellCount][groupCount + 1]int {
	rest := s.known
	for c := range s.weight {
		for g := range s.weight[c] {
			s.owed[c][g] += int64(s.known) * s.weight[c][g]
			n := s.owed[c][g] / weightTotal
			s.owed[c][g] -= n * weightTotal
			s.dealt[c][g] = int(n)
			rest -= int(n)
		}
	}
	s.dealt[s.largest[0]][s.largest[1]] += rest
	return &s.dealt
}
