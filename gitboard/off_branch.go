package gitboard

import (
	"context"
	"fmt"
	"os"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// OffBranch is a warning that the worktree of a task, at a path, is on another branch than the task's;
// "" if it is not, or if there is none.
func (v *View) OffBranch(ctx context.Context, task, dir string) (string, error) {
	if _, err := os.Stat(dir); err != nil {
		return "", nil
	}
	_, branch, err := v.board.Repo().Worktree(dir).Head(ctx)
	if err != nil || branch == "" || branch == v.TaskRef(task) {
		return "", err
	}
	return fmt.Sprintf("WORKTREE is on %s, not on %s: git switch %[2]s", plumbing.BranchName(branch), v.TaskBranch(task)), nil
}
