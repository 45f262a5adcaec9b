package text_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/text"
)

// TestLineWriter checks that whole lines are passed on, that an endless line is passed on in parts,
// and that the last one needs no line end.
func TestLineWriter(t *testing.T) {
	var got []string
	w := &text.LineWriter{To: func(line string) { got = append(got, line) }}
	for _, part := range []string{"a", "b\nc\n", "", "d", strings.Repeat("x", 70<<10), "e\nf"} {
		if _, err := fmt.Fprint(w, part); err != nil {
			t.Fatal(err)
		}
	}
	_ = w.Close()
	_ = w.Close()
	if want := []string{"ab\n", "c\n", "d" + strings.Repeat("x", 70<<10), "e\n", "f"}; !slices.Equal(got, want) {
		t.Errorf("%.200q", got)
	}
}
