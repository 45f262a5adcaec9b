package gitio

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git"
)

// What git is about to write in the place of packed-refs, from a copy that it has read too early, is not let through.
func TestDeletionKeepsOtherRefs(t *testing.T) {
	ctx, r := scratch(t)
	base := must[git.OID](t)(r.ResolveCommit(ctx, "HEAD"))
	for _, ref := range []string{"refs/heads/gone", "refs/heads/kept", "refs/heads/liza/state"} {
		check(t, r.UpdateRefs(ctx, []git.RefUpdate{{Ref: ref, Old: git.ZeroOID, New: base}}, ""))
	}
	native(t, r.TopLevel(), "pack-refs", "--all")
	deletion := []git.RefUpdate{{Ref: "refs/heads/gone", Old: base, New: git.ZeroOID}}
	packed := must[[]byte](t)(os.ReadFile(filepath.Join(r.common, "packed-refs")))
	gone := string(base) + " refs/heads/gone\n"
	right := strings.ReplaceAll(string(packed), gone, "")
	next := filepath.Join(r.common, "packed-refs.new")
	for what, c := range map[string]struct {
		text  string
		stale bool
	}{
		"as it must be":     {right, false},
		"another ref moved": {strings.ReplaceAll(right, string(base)+" refs/heads/liza/state", strings.Repeat("1", len(base))+" refs/heads/liza/state"), true},
		"another ref lost":  {strings.ReplaceAll(right, string(base)+" refs/heads/kept\n", ""), true},
		"not deleted":       {string(packed), true},
	} {
		check(t, os.WriteFile(next, []byte(c.text), 0o644))
		if err := r.keepsOthers(deletion); errors.Is(err, ErrRefMoved) != c.stale || err != nil && !c.stale {
			t.Errorf("%s: %v", what, err)
		}
	}
	check(t, os.Remove(next))
	if err := r.keepsOthers(deletion); !errors.Is(err, ErrRefMoved) {
		t.Errorf("a packed ref that git takes for loose: %v", err)
	}
	if err := r.keepsOthers([]git.RefUpdate{{Ref: "refs/heads/loose", Old: base, New: git.ZeroOID}}); err != nil {
		t.Errorf("a loose ref: %v", err)
	}
	check(t, r.UpdateRefs(ctx, deletion, "")) // with git's own file
	if left := must[map[string]git.OID](t)(r.PackedRefs("refs/heads/gone", "refs/heads/kept")); len(left) != 1 {
		t.Errorf("packed: %v", left)
	}
}
