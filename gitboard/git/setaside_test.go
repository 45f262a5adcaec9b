package git

import (
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
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
			if text := native(t, path, "show", string(got[0])+":b.txt"); text != "hours of work" {
				t.Errorf("it holds %q", text)
			}
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
