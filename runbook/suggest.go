package runbook

import "strconv"

// suggest names the known word nearest to a misspelt one, or gives the fallback.
func suggest(word string, known []string, otherwise string) string {
	best, distance := "", len(word)/3+1
	for _, k := range known {
		if d := editDistance(word, k); d <= distance && (best == "" || d < editDistance(word, best)) {
			best = k
		}
	}
	if best == "" || len(word) > 64 {
		return otherwise
	}
	return "did you mean " + strconv.Quote(best) + "?"
}

// editDistance counts the single-byte edits between two short words.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
