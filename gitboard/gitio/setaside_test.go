package gitio

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

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
			if got := must[[]git.OID](t)(r.OwnCommits(ctx, path)); len(got) > 0 {
				t.Errorf("nothing was put aside: %v", got)
			}
			write(t, r, "a.txt", "theirs\n")
			commitAll(t, r, "theirs")
			writeIn(t, path, "a.txt", "ours\n")
			testrun.CommitAll(t, path, "ours")
			writeIn(t, path, "b.txt", "hours of work\n")
			if err := r.in(path, stopped[0], stopped...).run(ctx); err == nil {
				t.Fatal("no conflict")
			}
			if got := readIn(t, path, "b.txt"); got != "one\n" {
				t.Fatalf("not put aside: %q", got)
			}
			own := git.OID(native(t, path, "commit-tree", "-m", "own", string(git.EmptyTree)))
			native(t, path, "update-ref", "refs/worktree/own", string(own))
			rewritten := git.OID(native(t, path, "commit-tree", "-m", "rewritten", string(git.EmptyTree)))
			native(t, path, "update-ref", "refs/rewritten/label", string(rewritten))
			native(t, path, "update-ref", "refs/worktree/tree", native(t, path, "rev-parse", "HEAD^{tree}"))
			got := must[[]git.OID](t)(r.OwnCommits(ctx, path))
			if len(got) != 3 || got[1] != rewritten || got[2] != own {
				t.Fatalf("found %v, not one, %s and %s", got, rewritten, own)
			}
			if text := native(t, path, "show", string(got[0])+":b.txt"); text != "hours of work" {
				t.Errorf("it holds %q", text)
			}
		})
	}
	if got := must[[]git.OID](t)(SetAside("")); len(got) > 0 {
		t.Errorf("without a record: %v", got)
	}
	// What the file names may be gone, or it may be damaged.
	ctx, r := scratch(t)
	path := claim(t, ctx, r, "one")
	for _, text := range []string{strings.Repeat("1", 40) + "\n", "", "no commit\n"} {
		writeIn(t, LinkedDir(path), "MERGE_AUTOSTASH", text)
		if got := must[[]git.OID](t)(r.OwnCommits(ctx, path)); !slices.Equal(got, nil) {
			t.Errorf("%q: found %v", text, got)
		}
	}
	writeIn(t, filepath.Join(LinkedDir(path), "rebase-merge"), "autostash/unreadable", "")
	if _, err := r.OwnCommits(ctx, path); err == nil {
		t.Error("what can't be read is nothing")
	}
}

// TestStagedInAGoneWorktree checks that what was staged in a worktree that is gone is kept although
// its index is locked, or a file's content is missing: nobody can end that there any more.
func TestStagedInAGoneWorktree(t *testing.T) {
	ctx, r := scratch(t)
	path := claim(t, ctx, r, "one")
	record := LinkedDir(path)
	writeIn(t, path, "lost", "lost\n")
	writeIn(t, path, "new", "staged\n")
	native(t, path, "add", ".")
	lost := native(t, path, "rev-parse", ":lost")
	check(t, os.RemoveAll(path))
	writeIn(t, record, "index.lock", "")
	staged := func() []string {
		t.Helper()
		commit := must[git.OID](t)(r.RecordedStaged(ctx, record, "staged", ada))
		return must[[]string](t)(r.ChangedFiles(ctx, must[git.OID](t)(r.ResolveCommit(ctx, "HEAD")), commit))
	}
	if got := staged(); !slices.Equal(got, []string{"lost", "new"}) {
		t.Errorf("beside a lock: %v", got)
	}
	check(t, os.RemoveAll(r.KeptDir()))
	check(t, os.Remove(filepath.Join(r.CommonDir(), "objects", lost[:2], lost[2:])))
	if got := staged(); !slices.Equal(got, []string{"new"}) {
		t.Errorf("with a missing file: %v", got)
	}
	if left := must[[]string](t)(filepath.Glob(filepath.Join(record, "liza-*"))); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
