package runbook

import "strconv"

// suggest names the known word nearest to a misspelt one, or gives the fallback.
func suggest(word string, known []string, otherwise string) string {
	best, nearest := "", max(len(word)/3, 1)+1
	if len(word) > 64 {
		return otherwise
	}
	for _, k := range known {
		if d := editDistance(word, k); d < nearest {
			best, nearest = k, d
		}
	}
	if best == "" {
		return otherwise
	}
	return "did you mean " + strconv.Quote(best) + "?"
}

// editDistance counts the bytes to insert, to leave out, to replace or to swap
// with their neighbour until one short word is the other.
func editDistance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replace := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			rows[i][j] = min(replace, rows[i-1][j]+1, rows[i][j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				rows[i][j] = min(rows[i][j], rows[i-2][j-2]+1)
			}
		}
	}
	return rows[len(a)][len(b)]
}
