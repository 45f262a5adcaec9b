package gitboard

import "testing"

const laterPatch = `diff --git a/login.go b/login.go
--- a/login.go
+++ b/login.go
@@ -10,4 +10,4 @@
 ten
-eleven
+ELEVEN
 twelve
 thirteen
@@ -40,2 +40,3 @@
 forty
+forty and a half
 forty-one
diff --git a/gone_test.go b/gone_test.go
deleted file mode 100644
--- a/gone_test.go
+++ /dev/null
@@ -1 +0,0 @@
-gone
`

// TestChangedAt: a comment's place is its line and two lines around it.
func TestChangedAt(t *testing.T) {
	for line, want := range map[int]bool{8: false, 9: true, 11: true, 13: true, 14: false, 37: false, 38: true, 40: true, 41: true, 43: true, 44: false} {
		if file, there := changedAt(laterPatch, "login.go", line); !file || there != want {
			t.Errorf("line %d: file %t, there %t", line, file, there)
		}
	}
	if file, there := changedAt(laterPatch, "logout.go", 11); file || there {
		t.Error("a file is changed that the patch does not name")
	}
	if !stillGone(laterPatch, "gone_test.go") || stillGone(laterPatch, "login.go") {
		t.Error("gone_test.go alone is gone")
	}
}
