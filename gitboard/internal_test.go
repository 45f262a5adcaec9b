package gitboard

import (
	"fmt"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrepo"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestProofGrows: of two processes that prove at the same time, the slower one does not set the proof
// back.
func TestProofGrows(t *testing.T) {
	b := testrun.Must(Open(t.Context(), testrepo.Bare(t).CommonDir(), Options{}))(t)
	defer b.Close()
	id := func(n int) plumbing.OID { return plumbing.OID(fmt.Sprintf("%040x", n)) }
	known := proof{id(1), id(2), id(2)}
	var chain []plumbing.OID // newest first
	for n := range 10 {
		chain = append(chain, id(100-n))
	}
	mine := proof{id(1), chain[0], chain[0]}
	for _, c := range []struct {
		name string
		now  proof // when this process has replayed the chain
		want proof
	}{
		{"nobody else", known, mine},
		{"another to the same", mine, mine},
		{"another halfway", proof{id(1), chain[9], chain[9]}, mine},
		{"another further", proof{id(1), id(101), id(101)}, proof{id(1), id(101), id(101)}},
		{"on trust in another", proof{id(3), chain[0], chain[0]}, mine},
	} {
		b.keepProof(c.now)
		b.extendProof(known, chain, mine)
		testrun.Equal(t, b.keptProof(), c.want, "%s", c.name)
	}
}

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

func TestChangesOfASection(t *testing.T) {
	const was, now = "# Spec\n\n## Plus\n\nadds\n\n## Minus\n\ntakes\n", "# Spec\n\n## Plus\n\nadds all\n\n## Minus\n\ntakes one\n"
	const plus, minus = "@@ -3,3 +3,3 @@\n ## Plus\n \n-adds\n+adds all\n", "@@ -7,3 +7,3 @@\n ## Minus\n \n-takes\n+takes one\n"
	for anchor, want := range map[string]string{"plus": plus, "minus": minus, "spec": plus + minus, "": plus + minus, "lost": plus + minus} {
		testrun.Equal(t, ofSection(plus+minus, was, now, anchor), want, "%s", anchor)
	}
}
