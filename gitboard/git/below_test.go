package git

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// TestBelow checks that refs are listed without git, loose ones before packed ones, and that git is
// asked about a file that is not a plain ref.
func TestBelow(t *testing.T) {
	ctx, r := scratch(t)
	ids := store(t, ctx, r, "old", "new")
	check(t, r.UpdateRefs(ctx, []plumbing.RefUpdate{
		{Ref: "refs/liza/leases/a", New: ids[0]}, {Ref: "refs/liza/leases/b", New: ids[0]}, {Ref: "refs/liza/leasesx", New: ids[0]}, {Ref: "refs/liza/review/a/1", New: ids[0]},
	}, ""))
	native(t, r.TopLevel(), "pack-refs", "--all")
	check(t, r.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/liza/leases/b", Old: ids[0], New: ids[1]}, {Ref: "refs/liza/leases/c/d", New: ids[1]}}, ""))
	lock := filepath.Join(r.common, "refs/liza/leases/b.lock")
	check(t, os.WriteFile(lock, nil, 0o644))
	prefixes := []string{"refs/liza/leases/", "refs/liza/review/", "refs/liza/none/"}
	want := map[string]plumbing.OID{"refs/liza/leases/a": ids[0], "refs/liza/leases/b": ids[1], "refs/liza/leases/c/d": ids[1], "refs/liza/review/a/1": ids[0]}
	path := os.Getenv("PATH")
	t.Setenv("PATH", "")
	if got := must[map[string]plumbing.OID](t)(r.Below(ctx, prefixes...)); !maps.Equal(got, want) {
		t.Errorf("from files: %v", got)
	}
	check(t, os.Remove(lock))
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := r.Below(ended, prefixes...); !errors.Is(err, context.Canceled) {
		t.Errorf("in a context that has ended: %v", err)
	}
	other := *r
	other.plain = false // refs may be stored in another way
	if got, err := other.Below(ctx, prefixes...); err == nil {
		t.Errorf("without git: %v", got)
	}
	if at := other.refAtHand("refs/liza/leases/b"); at != "" {
		t.Errorf("without git it is at %s", at)
	}
	for name, c := range map[string]struct{ file, text, prefix, want string }{
		"a symbolic ref":   {"refs/liza/leases/s", "ref: refs/liza/leases/b\n", "", "refs/liza/leases/s"},
		"a link":           {"refs/liza/leases/link", "", "", ""},
		"a ref to nothing": {"refs/liza/leases/zero", string(plumbing.ZeroOID) + "\n", "", ""},
		"no directory":     {"", "", "refs/liza/leases/b/x/", ""},
		"what is packed":   {"packed-refs", "garbage\n", "", "error"},
	} {
		asked, want := prefixes, maps.Clone(want)
		if c.prefix != "" {
			asked, want = []string{c.prefix}, map[string]plumbing.OID{}
		}
		if c.want != "" {
			want[c.want] = ids[1]
		}
		packed := must[[]byte](t)(os.ReadFile(filepath.Join(r.common, "packed-refs")))
		switch {
		case name == "a link":
			check(t, os.Symlink("nowhere", filepath.Join(r.common, c.file)))
		case c.file != "":
			writeIn(t, r.common, c.file, c.text)
		}
		t.Setenv("PATH", "")
		if got, err := r.Below(ctx, asked...); err == nil {
			t.Errorf("%s, without git: %v", name, got)
		}
		t.Setenv("PATH", path)
		if got, err := r.Below(ctx, asked...); (err != nil) != (c.want == "error") || err == nil && !maps.Equal(got, want) {
			t.Errorf("%s, by git: %v, %v", name, got, err)
		}
		if c.file != "" {
			check(t, os.Remove(filepath.Join(r.common, c.file)))
		}
		writeIn(t, r.common, "packed-refs", string(packed))
	}
}
