package gitio

import (
	"context"

	"github.com/git-liza/git-liza/gitboard/git"
)

// CheckoutDetached makes the worktree whose top is given hold exactly commit,
// with HEAD detached: local changes and untracked files are lost, an open
// merge is given up. Ignored files, such as caches of a build, stay. Hooks do
// not run.
func (r *Repo) CheckoutDetached(ctx context.Context, worktree string, commit git.OID) error {
	if err := checkOIDs(commit); err != nil {
		return err
	}
	if err := r.promised(ctx, commit); err != nil {
		return err
	}
	checkout := flags(workers, durable, []string{"checkout", "--quiet", "--detach", "--force", string(commit), "--"})
	return runAll(ctx,
		r.in(worktree, "checkout", checkout...),
		r.in(worktree, "clean", "clean", "--quiet", "--force", "-d"),
	)
}
