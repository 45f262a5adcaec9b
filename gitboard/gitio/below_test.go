package gitio

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git"
)

// TestBelow checks that refs are listed without git, loose ones before packed ones, and that git is
// asked about a file that is not a plain ref.
func TestBelow(t *testing.T) {
	ctx, r := scratch(t)
	ids := store(t, ctx, r, "old", "new")
	check(t, r.UpdateRefs(ctx, []git.RefUpdate{
		{Ref: "refs/liza/leases/a", New: ids[0]}, {Ref: "refs/liza/leases/b", New: ids[0]}, {Ref: "refs/liza/leasesx", New: ids[0]}, {Ref: "refs/liza/review/a/1", New: ids[0]},
	}, ""))
	native(t, r.TopLevel(), "pack-refs", "--all")
	check(t, r.UpdateRefs(ctx, []git.RefUpdate{{Ref: "refs/liza/leases/b", Old: ids[0], New: ids[1]}, {Ref: "refs/liza/leases/c/d", New: ids[1]}}, ""))
	lock := filepath.Join(r.common, "refs/liza/leases/b.lock")
	check(t, os.WriteFile(lock, nil, 0o644))
	prefixes := []string{"refs/liza/leases/", "refs/liza/review/", "refs/liza/none/"}
	want := map[string]git.OID{"refs/liza/leases/a": ids[0], "refs/liza/leases/b": ids[1], "refs/liza/leases/c/d": ids[1], "refs/liza/review/a/1": ids[0]}
	path := os.Getenv("PATH")
	t.Setenv("PATH", "")
	if got := must[map[string]git.OID](t)(r.Below(ctx, prefixes...)); !maps.Equal(got, want) {
		t.Errorf("from files: %v", got)
	}
	check(t, os.Remove(lock))
	writeIn(t, r.common, "refs/liza/leases/s", "ref: refs/liza/leases/b\n")
	want["refs/liza/leases/s"] = ids[1]
	if got, err := r.Below(ctx, prefixes...); err == nil {
		t.Errorf("without git: %v", got)
	}
	t.Setenv("PATH", path)
	if got := must[map[string]git.OID](t)(r.Below(ctx, prefixes...)); !maps.Equal(got, want) {
		t.Errorf("by git: %v", got)
	}
}
