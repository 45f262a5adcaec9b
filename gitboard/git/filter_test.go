package git

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// TestFailingFilter checks that a filter that fails is told apart from other errors of git, also if
// only a new file needs it, and that nothing is written without it.
func TestFailingFilter(t *testing.T) {
	ctx, r := scratch(t)
	scrap := t.TempDir()
	t.Setenv("TMPDIR", scrap)
	global(t, "filter.safe.clean", "false")
	write(t, r, ".git/info/attributes", "secret filter=safe\n")
	write(t, r, "secret", "in the clear")
	if _, err := r.Worktree(r.TopLevel()).Snapshot(ctx, "left", ada); err != nil {
		t.Errorf("one that is not required: %v", err)
	}
	global(t, "filter.safe.required", "true")
	global(t, "filter.other.required", "false")
	before := native(t, r.TopLevel(), "count-objects", "-v")
	if _, err := r.Worktree(r.TopLevel()).Status(ctx); err != nil {
		t.Errorf("a new file is looked at: %v", err)
	}
	if _, err := r.Worktree(r.TopLevel()).Snapshot(ctx, "left", ada); !errors.As(err, new(*FilterError)) {
		t.Errorf("a new file is kept: %v", err)
	}
	write(t, r, ".git/info/attributes", "a.txt filter=safe\n")
	check(t, os.Chtimes(filepath.Join(r.TopLevel(), "a.txt"), time.Time{}, noon))
	if _, err := r.Worktree(r.TopLevel()).Status(ctx); !errors.As(err, new(*FilterError)) {
		t.Errorf("a changed file is looked at: %v", err)
	}
	if after := native(t, r.TopLevel(), "count-objects", "-v"); after != before {
		t.Errorf("objects were written:\n%s", after)
	}
	native(t, r.TopLevel(), "config", "core.excludesFile", "~nobody-here/x")
	if _, err := r.Worktree(r.TopLevel()).Status(ctx); err == nil || errors.As(err, new(*FilterError)) {
		t.Errorf("git's settings are wrong: %v", err)
	}
	if left := must[[]os.DirEntry](t)(os.ReadDir(scrap)); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestFailingSmudge checks that a worktree that can't be made because a filter fails is told apart
// from other failures, and that nothing is left of it.
func TestFailingSmudge(t *testing.T) {
	ctx, r := scratch(t)
	global(t, "filter.safe.smudge", "false")
	write(t, r, ".git/info/attributes", "a.txt filter=safe\n")
	head := must[plumbing.OID](t)(r.Ref(ctx, "refs/heads/main"))
	path := filepath.Join(t.TempDir(), "one")
	check(t, r.Worktree(path).Add(ctx, head))
	global(t, "filter.safe.required", "true")
	if err := r.Worktree(path).Add(ctx, head); err == nil || errors.As(err, new(*FilterError)) {
		t.Errorf("where there is one already: %v", err)
	}
	check(t, r.Worktree(path).Remove(ctx))
	if err := r.Worktree(path).Add(ctx, head); !errors.As(err, new(*FilterError)) {
		t.Errorf("the filter fails: %v", err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("its directory is left")
	}
	if list := must[[]WorktreeInfo](t)(r.Worktrees(ctx)); len(list) != 1 {
		t.Errorf("git knows %+v", list)
	}
	global(t, "filter.safe.smudge", "cat")
	check(t, r.Worktree(path).Add(ctx, head))
}
