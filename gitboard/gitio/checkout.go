package gitio

import (
	"context"

	"github.com/git-liza/git-liza/gitboard/git"
)

// CheckoutDetached makes the worktree with the given top directory match commit exactly, with HEAD
// detached. Local changes and untracked files are lost, repositories among them, and an open merge
// is abandoned. Ignored files, such as build caches, stay. Hooks do not run. It returns ErrBusy if
// another process keeps the worktree locked.
func (r *Repo) CheckoutDetached(ctx context.Context, worktree string, commit git.OID) error {
	if err := checkOIDs(commit); err != nil {
		return err
	}
	if err := r.promised(ctx, commit); err != nil {
		return err
	}
	if err := r.freeWorktree(ctx, worktree); err != nil {
		return err
	}
	checkout := flags(workers, durable, []string{"checkout", "--quiet", "--detach", "--force", string(commit), "--"})
	return runAll(ctx,
		r.in(worktree, "checkout", checkout...),
		r.in(worktree, "clean", "clean", "--quiet", "--force", "--force", "-d"), // once more for repositories
	)
}
