package recovery

import (
	"slices"
	"testing"
)

// TestInVain checks that a problem which is found again after its repair counts as not repaired,
// and is reported once.
func TestInVain(t *testing.T) {
	one, two, left := Finding{Kind: "a", Text: "one", Fixed: true}, Finding{Kind: "a", Text: "two", Fixed: true}, Finding{Kind: "b", Text: "three"}
	found := []Finding{one, left, two}
	findings, repaired := inVain([]Finding{one}, found, []Finding{one, two})
	if len(findings) != 0 || !slices.Equal(repaired, []Finding{two}) {
		t.Errorf("earlier %v, repaired %v", findings, repaired)
	}
	if f := found[0]; f.Fixed || f.Error == "" || found[1] != left || found[2] != two {
		t.Errorf("found %v", found)
	}
	if findings, repaired = inVain([]Finding{one}, []Finding{two}, []Finding{two}); len(findings) != 1 || len(repaired) != 1 {
		t.Errorf("of different problems: earlier %v, repaired %v", findings, repaired)
	}
}
