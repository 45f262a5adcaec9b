package git

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestDeletionKeepsOtherRefs checks that a transaction is stopped if git is about to replace
// packed-refs with a file made from a copy that it read too early.
func TestDeletionKeepsOtherRefs(t *testing.T) {
	ctx, r := scratch(t)
	base := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	for _, ref := range []string{"refs/heads/gone", "refs/heads/kept", "refs/heads/liza/state"} {
		check(t, r.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: ref, Old: plumbing.ZeroOID, New: base}}, ""))
	}
	native(t, r.TopLevel(), "pack-refs", "--all")
	deletion := []plumbing.RefUpdate{{Ref: "refs/heads/gone", Old: base, New: plumbing.ZeroOID}}
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
	testrun.ErrorIs(t, r.keepsOthers(deletion), ErrRefMoved, "a packed ref that git takes for loose")
	testrun.ErrorIs(t, r.keepsOthers([]plumbing.RefUpdate{{Ref: "refs/heads/loose", Old: base, New: plumbing.ZeroOID}}), nil, "a loose ref")
	check(t, r.UpdateRefs(ctx, deletion, "")) // here git writes the file
	if left := must[map[string]plumbing.OID](t)(r.PackedRefs("refs/heads/gone", "refs/heads/kept")); len(left) != 1 {
		t.Errorf("packed: %v", left)
	}
}

// TestOldValuesAreToldToGit checks that git gets the old value of each ref. This process also
// checks the values under git's locks. Either check alone would nearly always suffice, so each has
// its own test.
func TestOldValuesAreToldToGit(t *testing.T) {
	one, two := plumbing.OID(strings.Repeat("1", 40)), plumbing.OID(strings.Repeat("2", 40))
	got, err := transaction([]plumbing.RefUpdate{
		{Ref: "refs/heads/new", New: one}, {Ref: "refs/heads/moved", Old: one, New: two}, {Ref: "refs/heads/gone", Old: two},
		{Ref: "refs/heads/held", Old: one, New: one}, {Ref: "refs/heads/absent"},
	})
	check(t, err)
	zero := string(plumbing.ZeroOID)
	want := "update refs/heads/new\x00" + string(one) + "\x00" + zero + "\x00" +
		"update refs/heads/moved\x00" + string(two) + "\x00" + string(one) + "\x00" +
		"delete refs/heads/gone\x00" + string(two) + "\x00" +
		"verify refs/heads/held\x00" + string(one) + "\x00" +
		"verify refs/heads/absent\x00" + zero + "\x00"
	testrun.Equal(t, string(got), want, "%q, not", got)
	for _, bad := range []plumbing.RefUpdate{{Ref: "refs/heads/x", Old: "11"}, {Ref: "refs/heads/x", New: "HEAD"}, {Ref: "x"}, {Ref: "refs/heads/a b"}, {Ref: "refs/a\x00b"}, {Ref: "refs/a\nb"}} {
		if _, err := transaction([]plumbing.RefUpdate{bad}); err == nil {
			t.Errorf("%+v is let through", bad)
		}
	}
}

func TestOldValuesUnderTheLocks(t *testing.T) {
	ctx, r := scratch(t)
	base := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	other := plumbing.OID(strings.Repeat("1", len(base)))
	for _, ref := range []string{"refs/heads/packed", "refs/heads/both"} {
		check(t, r.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: ref, New: base}}, ""))
	}
	native(t, r.TopLevel(), "pack-refs", "--all")
	check(t, os.MkdirAll(filepath.Join(r.common, "refs", "heads"), 0o755))
	for _, ref := range []string{"loose", "both"} {
		check(t, os.WriteFile(filepath.Join(r.common, "refs", "heads", ref), []byte(string(other)+"\n"), 0o644))
	}
	for ref, at := range map[string]plumbing.OID{"packed": base, "loose": other, "both": other, "absent": plumbing.ZeroOID} {
		for _, old := range []plumbing.OID{base, other, plumbing.ZeroOID} {
			err := r.still([]plumbing.RefUpdate{{Ref: "refs/heads/loose", Old: other, New: base}, {Ref: "refs/heads/" + ref, Old: old, New: base}})
			if (err == nil) != (old == at) || err != nil && !errors.Is(err, ErrRefMoved) {
				t.Errorf("%s is at %s, and held to be at %s: %v", ref, at.Short(), old.Short(), err)
			}
		}
	}
	holds := func(what, ref string, want bool) {
		t.Helper()
		if err := r.still([]plumbing.RefUpdate{{Ref: "refs/heads/" + ref, Old: base}}); (err == nil) != want {
			t.Errorf("%s: %v", what, err)
		}
	}
	writeIn(t, r.common, "refs/heads/link", "ref: refs/heads/loose\n")
	holds("a symbolic ref, which git has compared", "link", true)
	check(t, os.Mkdir(filepath.Join(r.common, "packed-refs.new"), 0o755))
	holds("a new file that can't be read", "packed", false)
	check(t, os.Remove(filepath.Join(r.common, "packed-refs")))
	check(t, os.Mkdir(filepath.Join(r.common, "packed-refs"), 0o755))
	holds("a file that can't be read", "packed", false)
	holds("a file that can't be read, for a loose one", "main", false)
	check(t, os.Mkdir(filepath.Join(r.common, "reftable"), 0o755))
	holds("in a table", "loose", true)
}

// TestTheLookIsHeeded checks that an update fails if the check under the locks finds a changed ref,
// even if git found none. The git used here checks nothing and would replace packed-refs with a
// stale copy.
func TestTheLookIsHeeded(t *testing.T) {
	ctx, r := scratch(t)
	base := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	other := plumbing.OID(strings.Repeat("1", len(base)))
	gone := []plumbing.RefUpdate{{Ref: "refs/heads/gone", Old: base}}
	check(t, r.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/heads/gone", New: base}}, ""))
	native(t, r.TopLevel(), "pack-refs", "--all")
	found := must[string](t)(exec.LookPath("git"))
	bin, moved := t.TempDir(), filepath.Join(t.TempDir(), "moved")
	check(t, os.WriteFile(filepath.Join(bin, "git"), []byte(`#!/bin/sh
case "$*" in *update-ref*) ;; *) exec '`+found+`' "$@" ;; esac
[ -z "$STALE" ] || cp packed-refs packed-refs.new
echo prepare: ok
if tr '\000' '\n' | grep -qx commit; then touch '`+moved+`'; fi
`), 0o755))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	for name, c := range map[string]struct {
		stale   string
		updates []plumbing.RefUpdate
		heeded  bool
	}{
		"all in order":        {"", []plumbing.RefUpdate{{Ref: "refs/heads/new", New: base}}, false},
		"a ref that moved":    {"", []plumbing.RefUpdate{{Ref: "refs/heads/gone", Old: other, New: plumbing.OID(strings.Repeat("2", len(base)))}}, true},
		"a stale packed-refs": {"1", gone, true},
	} {
		_ = os.Remove(moved)
		t.Setenv("STALE", c.stale)
		err := r.UpdateRefs(ctx, c.updates, "")
		_, unmoved := os.Stat(moved)
		if c.heeded != (unmoved != nil) || c.heeded && err == nil {
			t.Errorf("%s: %v, and git was told to go on: %v", name, err, unmoved == nil)
		}
		_ = os.Remove(filepath.Join(r.common, "packed-refs.new"))
	}
}

// TestOwnCommits checks that the changes that git has put aside for a rebase or merge are found
// while it is stopped by a conflict, and the refs of a worktree alone.
func TestOwnCommits(t *testing.T) {
	for name, stopped := range map[string][]string{
		"rebase":       {"rebase", "--autostash", "main"},
		"apply rebase": {"rebase", "--apply", "--autostash", "main"},
		"merge":        {"merge", "--autostash", "main"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, r := scratch(t)
			write(t, r, "b.txt", "one\n")
			commitAll(t, r, "second")
			path := claim(t, ctx, r, "one")
			if got := must[[]plumbing.OID](t)(r.Worktree(path).OwnCommits(ctx)); len(got) > 0 {
				t.Errorf("nothing was put aside: %v", got)
			}
			write(t, r, "a.txt", "theirs\n")
			commitAll(t, r, "theirs")
			writeIn(t, path, "a.txt", "ours\n")
			testrun.CommitAll(t, path, "ours")
			writeIn(t, path, "b.txt", "hours of work\n")
			if err := r.Worktree(path).in(stopped[0], stopped...).Run(ctx); err == nil {
				t.Fatal("no conflict")
			}
			if got := readIn(t, path, "b.txt"); got != "one\n" {
				t.Fatalf("not put aside: %q", got)
			}
			own := plumbing.OID(native(t, path, "commit-tree", "-m", "own", string(plumbing.EmptyTree)))
			native(t, path, "update-ref", "refs/worktree/own", string(own))
			rewritten := plumbing.OID(native(t, path, "commit-tree", "-m", "rewritten", string(plumbing.EmptyTree)))
			native(t, path, "update-ref", "refs/rewritten/label", string(rewritten))
			native(t, path, "update-ref", "refs/worktree/tree", native(t, path, "rev-parse", "HEAD^{tree}"))
			got := must[[]plumbing.OID](t)(r.Worktree(path).OwnCommits(ctx))
			if len(got) != 3 || got[1] != rewritten || got[2] != own {
				t.Fatalf("found %v, not one, %s and %s", got, rewritten, own)
			}
			testrun.Equal(t, native(t, path, "show", string(got[0])+":b.txt"), "hours of work", "it holds")
		})
	}
	// The object that the file names may no longer exist.
	ctx, r := scratch(t)
	path := claim(t, ctx, r, "one")
	writeIn(t, records.LinkedDir(path), "MERGE_AUTOSTASH", strings.Repeat("1", 40)+"\n")
	if got := must[[]plumbing.OID](t)(r.Worktree(path).OwnCommits(ctx)); !slices.Equal(got, nil) {
		t.Errorf("found %v", got)
	}
}
