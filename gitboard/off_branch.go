package gitboard

import (
	"context"
	"fmt"
	"os"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// OffBranch is a warning that the worktree of a task, at a path, is on another branch than the task's or
// on none; "" if it is not, or if there is no worktree.
func (v *View) OffBranch(ctx context.Context, task, dir string) (string, error) {
	if _, err := os.Stat(dir); err != nil {
		return "", nil
	}
	head, branch, err := v.board.Repo().Worktree(dir).Head(ctx)
	switch {
	case err != nil || branch == v.TaskRef(task):
		return "", err
	case branch == "":
		return fmt.Sprintf("WORKTREE has a detached HEAD, %s, and is not on %s: end the rebase, if there is one, else git switch %[2]s", head.Short(), v.TaskBranch(task)), nil
	}
	return fmt.Sprintf("WORKTREE is on %s, not on %s: git switch %[2]s", plumbing.BranchName(branch), v.TaskBranch(task)), nil
}
