package plumbing

import (
	"slices"
	"strings"
)

// RefMove is one move of a ref, as recorded in its reflog.
type RefMove struct {
	To      OID
	Message string
}

// ParseReflog parses the file of a reflog, newest first.
func ParseReflog(text string) (moves []RefMove) {
	for line := range strings.Lines(text) {
		head, message, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if fields := strings.Fields(head); len(fields) > 1 && OID(fields[1]).Valid() {
			moves = append(moves, RefMove{OID(fields[1]), message})
		}
	}
	slices.Reverse(moves)
	return moves
}
