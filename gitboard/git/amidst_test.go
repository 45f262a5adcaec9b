package git

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// TestWorktreesAtOnce adds, moves, lists and removes worktrees concurrently.
func TestWorktreesAtOnce(t *testing.T) {
	ctx, r := scratch(t)
	check(t, r.Settings().Exclude(".worktrees/"))
	head := must[plumbing.OID](t)(r.ResolveCommit(ctx, "HEAD"))
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			path := filepath.Join(r.TopLevel(), ".worktrees", fmt.Sprint(i))
			for range 2 {
				_, listed := r.Worktrees(ctx)
				for _, err := range []error{listed, r.Worktree(path).Add(ctx, head), r.Worktree(path).Move(ctx, path+"-b"), r.Worktree(path + "-b").Remove(ctx)} {
					if err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	group.Wait()
	if list := must[[]WorktreeInfo](t)(r.Worktrees(ctx)); len(list) != 1 {
		t.Errorf("left: %v", list)
	}
}

// TestMainWorktree checks which directory is listed as the main worktree, wherever the git directory
// is, and from wherever it is asked.
func TestMainWorktree(t *testing.T) {
	dir := must[string](t)(filepath.EvalSymlinks(t.TempDir()))
	native(t, dir, "init", "-q", "--separate-git-dir=apart.git", "work")
	native(t, dir, "init", "-q", "--bare", "hub.git")
	native(t, dir, "init", "-q", "--bare", filepath.Join("bare", ".git"))
	_, plain := scratch(t)
	at := func(name ...string) string { return filepath.Join(append([]string{dir}, name...)...) }
	for _, c := range []struct{ git, main, inside string }{
		{at("apart.git"), at("work"), at("work", "linked")},
		{at("hub.git"), at("hub.git"), at("linked")},
		{at("bare", ".git"), at("bare"), at("bare", "linked")},
		{plain.common, plain.TopLevel(), filepath.Join(plain.TopLevel(), "linked")},
	} {
		in, outside := "--git-dir="+c.git, filepath.Join(t.TempDir(), "outside")
		commit := strings.TrimSpace(native(t, dir, in, "commit-tree", "-m", "first", strings.TrimSpace(native(t, dir, in, "write-tree"))))
		for _, linked := range []string{c.inside, outside} {
			native(t, dir, in, "worktree", "add", "-q", "--detach", linked, commit)
		}
		for _, linked := range []string{c.inside, outside} {
			if all := must[[]WorktreeInfo](t)(open(t, t.Context(), linked).Worktrees(t.Context())); len(all) != 3 || all[0].Path != c.main {
				t.Errorf("asked in %s: %+v, not %s first", linked, all, c.main)
			}
		}
	}
}

// TestUnwrittenRecord checks that a record that a crash left empty results in an error that names it
// and not in endless retries.
func TestUnwrittenRecord(t *testing.T) {
	ctx, r := scratch(t)
	claim(t, ctx, r, "one")
	record := filepath.Join(r.CommonDir(), "worktrees", "one", "commondir")
	check(t, os.WriteFile(record, nil, 0o666))
	damaged := (*DamagedRecordError)(nil)
	if _, err := r.Worktrees(ctx); child.ExitCode(err) != 128 || !errors.As(err, &damaged) || damaged.Path != filepath.Dir(record) {
		t.Errorf("got %v", err)
	}
	if check(t, os.Remove(record)); !r.unwritten() {
		t.Error("a record without the file is complete")
	}
	then := time.Now().Add(-LockAge)
	if check(t, os.Chtimes(filepath.Dir(record), then, then)); r.unwritten() {
		t.Error("an old record is being written")
	}
}
