package text

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Nearest returns up to n of the known words that resemble word, nearest first.
func Nearest(word string, known []string, n int) []string {
	type scored struct {
		word string
		d    int
	}
	var near []scored
	for _, k := range known {
		d := distance(word, k)
		if min(len(k), len(word)) > 2 && (strings.Contains(k, word) || strings.Contains(word, k)) {
			d = min(d, 2)
		}
		if d <= min(max(2, len(k)/2), len(k)) && d < max(len(k), len(word)) {
			near = append(near, scored{k, d})
		}
	}
	slices.SortFunc(near, func(a, b scored) int {
		if a.d != b.d {
			return a.d - b.d
		}
		return cmp.Or(strings.Count(a.word, " ")-strings.Count(b.word, " "), strings.Compare(a.word, b.word))
	})
	var words []string
	for _, s := range near[:min(n, len(near))] {
		words = append(words, s.word)
	}
	return words
}

// distance is the Levenshtein distance in characters.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(y)]
}

// maxCompared is how many characters of a text are compared with another. The time grows with the
// square, and two whole logs of 30 000 characters would take a second.
const maxCompared = 1000

// Similar is the protocol's "similar": a Levenshtein similarity of at least 0.7 after folding case,
// digits and white space. For long texts, only the lengths and the first maxCompared characters
// count.
func Similar(a, b string) bool { return Alike([]rune(Fold(a)), []rune(Fold(b)), maxCompared) }

// Alike is Similar for folded texts, of which at most the given number of characters is compared.
func Alike(x, y []rune, compared int) bool {
	if most := 3 * max(len(x), len(y)) / 10; most < len(x)-len(y) || most < len(y)-len(x) {
		return false
	}
	x, y = x[:min(len(x), compared)], y[:min(len(y), compared)]
	most := 3 * max(len(x), len(y)) / 10
	return most >= leastDistance(x, y) && within(x, y, most)
}

// leastDistance returns a lower bound for the Levenshtein distance: the number of characters that
// one text has and the other lacks.
func leastDistance(x, y []rune) int {
	var more [256]int // characters that share a slot only lower the bound
	for _, r := range x {
		more[r&255]++
	}
	for _, r := range y {
		more[r&255]--
	}
	ofX, ofY := 0, 0
	for _, n := range more {
		ofX += max(0, n)
		ofY += max(0, -n)
	}
	return max(ofX, ofY)
}

// within reports whether the Levenshtein distance is at most most. It computes only the cells near
// the diagonal and stops as soon as the distance must be larger.
func within(x, y []rune, most int) bool {
	if most < len(x)-len(y) || most < len(y)-len(x) {
		return false
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = min(j, most+1)
	}
	for i := 1; i <= len(x); i++ {
		from, to := max(1, i-most), min(len(y), i+most)
		diagonal := row[from-1]
		row[from-1] = most + 1
		if from == 1 {
			row[0] = i
		}
		least := row[from-1]
		for j := from; j <= to; j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			diagonal, row[j] = row[j], min(row[j]+1, row[j-1]+1, diagonal+cost)
			least = min(least, row[j])
		}
		if least > most {
			return false
		}
	}
	return row[len(y)] <= most
}

// Fold returns a text with case, digits and white space folded.
func Fold(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return '0'
		}
		return unicode.ToLower(r)
	}, s)
	return strings.Join(strings.Fields(s), " ")
}
