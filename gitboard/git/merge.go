package git

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// MergeInto merges commit into the checkout of the worktree, using
// `git merge`: index, files, HEAD and its branch move. It returns nil, nil if the commit was
// merged, fast-forwarded or already contained. On conflicts it returns their paths and leaves the
// merge open in that worktree for someone to finish. who is the author and committer of a merge
// commit; a zero time means now. Hooks do not run.
//
// It returns a CommandError if git refuses to begin: local changes are in the way, or another merge
// is open. It returns ErrBusy if another process keeps the worktree locked.
func (w *Worktree) MergeInto(ctx context.Context, commit plumbing.OID, message string, who plumbing.Signature) (conflicts []string, err error) {
	if err := checkOIDs(commit); err != nil {
		return nil, err
	}
	if err := w.free(ctx); err != nil {
		return nil, err
	}
	// Each option overrides a setting that would make this something other than a merge with a
	// commit.
	args := slices.Concat(noUpkeep, durable, workers, []string{"merge", "--quiet", "--ff", "--commit",
		"--no-squash", "--no-edit", "--no-log", "--no-autostash", "--no-gpg-sign",
		"--no-verify-signatures", "-m", message, string(commit)})
	failed := w.in("merge", args...).With(authorEnv(who)...).Run(ctx)
	if child.ExitCode(failed) != 1 {
		return nil, failed
	}
	// Exit code 1 is a conflict or a refusal; only a conflict leaves unmerged paths.
	conflicts, err = w.unmerged(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w (and listing conflicts: %w)", failed, err)
	}
	if len(conflicts) == 0 {
		return nil, failed
	}
	return conflicts, nil
}

// unmerged returns the paths with conflicts in a worktree's index.
func (w *Worktree) unmerged(ctx context.Context) ([]string, error) {
	out, err := w.in("diff", "diff", "--name-only", "-z", "--diff-filter=U", "--no-ext-diff").Output(ctx)
	return child.Fields(out), err
}
