package web

import (
	"html"
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

// TestValueIsWhole: the attribute holds no control character, and posts the text that it was given.
func TestValueIsWhole(t *testing.T) {
	const path = "a\x1b[31m\u202e\"<b>\r\n.go"
	attribute := string(value(path))
	if strings.ContainsAny(attribute, "\x1b\u202e\r\n<") {
		t.Errorf("%q", attribute)
	}
	posted := html.UnescapeString(strings.TrimSuffix(strings.TrimPrefix(attribute, `value="`), `"`))
	if posted != path {
		t.Errorf("posted %q", posted)
	}
}
