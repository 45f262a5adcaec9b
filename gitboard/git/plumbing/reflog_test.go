package plumbing

import (
	"fmt"
	"strings"
	"testing"
)

// TestMoves checks what is read of a reflog, and that what is no move is left out.
func TestMoves(t *testing.T) {
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 40)
	text := fmt.Sprintf("%s %s Ada <x> 1 +0000\tfirst\nodd\n%s x Ada\tsecond\n%s %s Ada <x> 2 +0000\n", b, a, a, a, b)
	if got := fmt.Sprint(ParseReflog(text)); got != fmt.Sprint([]RefMove{{OID(b), ""}, {OID(a), "first"}}) {
		t.Errorf("got %s", got)
	}
}
