package gitio

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
)

// TestWorktreesAtOnce adds, moves, lists and removes worktrees concurrently.
func TestWorktreesAtOnce(t *testing.T) {
	ctx, r := scratch(t)
	check(t, r.Exclude(".worktrees/"))
	head := must[git.OID](t)(r.ResolveCommit(ctx, "HEAD"))
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			path := filepath.Join(r.TopLevel(), ".worktrees", fmt.Sprint(i))
			for range 4 {
				_, listed := r.Worktrees(ctx)
				for _, err := range []error{listed, r.AddWorktree(ctx, path, head), r.MoveWorktree(ctx, path, path+"-b"), r.RemoveWorktree(ctx, path+"-b")} {
					if err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	group.Wait()
	if list := must[[]Worktree](t)(r.Worktrees(ctx)); len(list) != 1 {
		t.Errorf("left: %v", list)
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
	if _, err := r.Worktrees(ctx); exitCode(err) != 128 || !errors.As(err, &damaged) || damaged.Path != filepath.Dir(record) {
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
