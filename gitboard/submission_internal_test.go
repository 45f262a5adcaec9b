package gitboard

import "testing"

func TestChangesOfASection(t *testing.T) {
	const was, now = "# Spec\n\n## Plus\n\nadds\n\n## Minus\n\ntakes\n", "# Spec\n\n## Plus\n\nadds all\n\n## Minus\n\ntakes one\n"
	const plus, minus = "@@ -3,3 +3,3 @@\n ## Plus\n \n-adds\n+adds all\n", "@@ -7,3 +7,3 @@\n ## Minus\n \n-takes\n+takes one\n"
	for anchor, want := range map[string]string{"plus": plus, "minus": minus, "spec": plus + minus, "": plus + minus, "lost": plus + minus} {
		if got := ofSection(plus+minus, was, now, anchor); got != want {
			t.Errorf("%s: %q", anchor, got)
		}
	}
}
