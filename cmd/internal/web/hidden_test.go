package web

import (
	"strings"
	"testing"
)

// TestDiffShowsWhatIsThere: a line of a diff is one line on its page, with what takes no room in it.
func TestDiffShowsWhatIsThere(t *testing.T) {
	files := parseDiff("diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1,2 @@ x\ry\n one\n+// fine\r evil()\n+is(\"a\u200bdmin\")\n", nil)
	var all []string
	for _, l := range files[0].Lines {
		all = append(all, string(l.HTML))
	}
	got := strings.Join(all, "\n")
	for _, want := range []string{"x^My\n", "// fine^M evil()", "a&lt;U+200B&gt;dmin"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
}
