package gitio

import (
	"context"

	"github.com/git-liza/git-liza/gitboard/git"
)

// InitRepository creates a repository at dir with main as its first branch, for tests.
func InitRepository(ctx context.Context, dir string, bare bool) error {
	args := []string{"init", "--quiet", "--initial-branch=main", "--object-format=sha1"}
	if bare {
		args = append(args, "--bare")
	}
	return command{op: "init", args: append(args, "--", dir)}.run(ctx)
}

// CommitAll commits everything in the worktree with the given top directory, untracked files
// included, for the demo and for tests. Hooks run as for any commit. It returns HEAD if there is
// nothing to commit.
func (r *Repo) CommitAll(ctx context.Context, worktree, message string, who git.Signature) (git.OID, error) {
	commit := flags(noUpkeep, []string{"commit", "--quiet", "--no-gpg-sign", "-m", message})
	failed := runAll(ctx,
		r.in(worktree, "add", "add", "--all"),
		r.in(worktree, "commit", commit...).hooked().with(authorEnv(who)...),
	)
	if failed != nil && exitCode(failed) != 1 {
		return "", failed
	}
	head, _, err := r.Head(ctx, worktree)
	if err != nil || failed == nil {
		return head, err
	}
	// Exit code 1 means that a hook refused, or that there was nothing to commit.
	left, err := r.Status(ctx, worktree)
	if err == nil && len(left) == 0 && !head.IsZero() {
		return head, nil
	}
	return "", failed
}
