package git

import "testing"

// TestSizesOfMissing checks that a missing object has no size, also if its name contains a space.
func TestSizesOfMissing(t *testing.T) {
	ctx, r := scratch(t)
	sizes, err := r.History().SizesOf(ctx, []string{"refs/heads/none:my file", "refs/heads/none"})
	if err != nil || len(sizes) != 2 || sizes[0].OID != "" || sizes[1].OID != "" {
		t.Errorf("%v: %v", sizes, err)
	}
}
