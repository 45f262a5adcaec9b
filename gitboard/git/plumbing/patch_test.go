package plumbing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

const examplePatch = `diff --git a/a.go b/a.go
index 1..2 100644
--- a/a.go
+++ b/a.go
@@ -3,3 +3,3 @@ func a
 three
-four
+FOUR
+four and a half
 five
\ No newline at end of file
diff --git "a/with \"quotes\".go" b/new name.go
similarity index 90%
rename from "with \"quotes\".go"
rename to new name.go
--- "a/with \"quotes\".go"
+++ b/new name.go
@@ -1 +1 @@
--- a dash
+++ a plus
diff --git a/gone.go b/gone.go
deleted file mode 100644
--- a/gone.go
+++ /dev/null
@@ -1 +0,0 @@
-gone
`

// TestUnresolved checks that only added markers that begin and end in one file are found.
func TestUnresolved(t *testing.T) {
	got := Unresolved("diff --git a/a b/a\n@@ -3 +3,5 @@\n+<<<<<<< HEAD\n one\n+=======\n+two\n+>>>>>>> b\n" +
		"diff --git a/b b/b\n@@ -1,2 +1 @@\n-<<<<<<< HEAD\n+<<<<<<< x\ndiff --git a/c b/c\n@@ -1 +1 @@\n+>>>>>>> x\n")
	testrun.Equal(t, strings.Join(got, " "), "a:3", "%q", got)
}

func TestPatchLines(t *testing.T) {
	var got []string
	for l := range PatchLines("a preface\n" + examplePatch) {
		if l.Kind != PatchHeader && l.Kind != PatchFile {
			got = append(got, fmt.Sprintf("%c %s<%s %d %d %s", l.Kind, l.Path, l.Was, l.Old, l.New, l.Content()))
		}
	}
	want := `@ a.go<a.go 0 0 @ -3,3 +3,3 @@ func a
  a.go<a.go 3 3 three
- a.go<a.go 4 0 four
+ a.go<a.go 0 4 FOUR
+ a.go<a.go 0 5 four and a half
  a.go<a.go 5 6 five
\ a.go<a.go 0 0  No newline at end of file
@ new name.go<with "quotes".go 0 0 @ -1 +1 @@
- new name.go<with "quotes".go 1 0 -- a dash
+ new name.go<with "quotes".go 0 1 ++ a plus
@ gone.go<gone.go 0 0 @ -1 +0,0 @@
- gone.go<gone.go 1 0 gone`
	testrun.Equal(t, strings.Join(got, "\n"), want, "got")
}

func TestLinesOfAText(t *testing.T) {
	for text, n := range map[string]int{"": 0, "a": 1, "a\n": 1, "a\nb": 2, "\n\n": 2} {
		if got := CountLines([]byte(text)); got != n {
			t.Errorf("%q has %d lines, not %d", text, got, n)
		}
	}
	for n, want := range []string{1: "a", 2: "b", 3: "", 4: ""} {
		if got := LineOf([]byte("a\nb\r\n"), n); n > 0 && got != want {
			t.Errorf("line %d is %q, not %q", n, got, want)
		}
	}
}
