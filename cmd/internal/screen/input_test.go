package screen

import (
	"strings"
	"testing"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/tty"
	"github.com/git-liza/git-liza/gitboard"
)

func TestInput(t *testing.T) {
	for _, c := range []struct {
		name string
		keys []tty.Key
		want string
	}{
		{"at the end", []tty.Key{'c'}, "abc"},
		{"in the middle", []tty.Key{tty.Left, 'ä', tty.Home, 'x', tty.End, 'y'}, "xaäby"},
		{"erased", []tty.Key{tty.Backspace, tty.Home, tty.Backspace, tty.Delete, tty.Delete, 'z'}, "z"},
		{"a word", []tty.Key{' ', 'x', 'y', ' ', tty.EraseWord}, "ab"},
		{"all of it", []tty.Key{tty.Left, tty.EraseLine}, "b"},
	} {
		i := newInput("text:", "ab")
		for _, k := range c.keys {
			i.press(k, false)
		}
		if got := i.String(); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	i := newInput("a question\ntext:", strings.Repeat("0123456789", 9))
	lines := i.lines(call.Page{Width: 21})
	if len(lines) != 1+maxTyped || !strings.HasSuffix(lines[maxTyped], "_") {
		t.Errorf("the end of a long text is not shown: %q", lines)
	}
}

func TestPlacesInAPatch(t *testing.T) {
	v := newPatchView(&gitboard.Patch{Task: "t", Number: 1, Text: "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -3,3 +3,3 @@ func\n one\n-two\n+++ b/x\n+three\n" +
		"diff --git a/gone.go b/gone.go\n--- a/gone.go\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"})
	want := map[string]string{" one": "a.go:3", "-two": "a.go:4", "+++ b/x": "a.go:4", "+three": "a.go:5", "-x": "gone.go:1"}
	for i, l := range v.lines {
		if place, known := want[l]; known && v.at[i] != place {
			t.Errorf("%q is at %q, want %q", l, v.at[i], place)
		}
	}
	rows := v.draw(call.Page{Width: 12, Height: 4})
	if len(rows) < 4 || !strings.Contains(strings.Join(rows, ""), "t, submiss") {
		t.Errorf("the first rows are %q", rows)
	}
}

// TestNoLineOfAPatchIsForged: a carriage return in a file does not begin a line of the patch, which
// would read like one of the code around it, and what takes no room is shown.
func TestNoLineOfAPatchIsForged(t *testing.T) {
	text := "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1,2 @@\n one\n+// fine\r evil()\r-old()\r\n+if is(\"a\u200bdmin\") {\n"
	for _, ranged := range []bool{false, true} {
		lines := Patch(call.Page{}, &gitboard.Patch{Task: "t", Number: 1, Text: text, RangeDiff: ranged})
		all := strings.Join(lines[1:], "\n") + "\n"
		if want := strings.NewReplacer("\r", "^M", "\u200b", "<U+200B>").Replace(text); all != want {
			t.Errorf("range-diff %v: %q, want %q", ranged, all, want)
		}
	}
}
