package git

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// DefaultBranch returns the short name of the branch that new work starts from: the branch checked
// out in the main worktree (or HEAD of a bare repository) if it has commits; otherwise the branch
// of origin/HEAD, main or master, whichever exists here first. Branches in but are skipped. It
// returns ErrNotFound if there is none.
func (h History) DefaultBranch(ctx context.Context, but ...string) (string, error) {
	const origin = plumbing.RemotesPrefix + "origin/"
	head, err := h.repo.symbolic(ctx, "HEAD")
	if err != nil {
		return "", err
	}
	remote, err := h.repo.symbolic(ctx, origin+"HEAD")
	if err != nil {
		return "", err
	}
	if name, found := strings.CutPrefix(remote, origin); found {
		remote = plumbing.HeadsPrefix + name
	}
	for _, ref := range []string{head, remote, plumbing.HeadsPrefix + "main", plumbing.HeadsPrefix + "master"} {
		name, isBranch := strings.CutPrefix(ref, plumbing.HeadsPrefix)
		if !isBranch || slices.Contains(but, name) {
			continue
		}
		tip, err := h.repo.Ref(ctx, ref)
		if err != nil {
			return "", err
		}
		if !tip.IsZero() {
			return name, nil
		}
	}
	return "", fmt.Errorf("a default branch: %w", ErrNotFound)
}

// Upstream returns the full name of the ref that a branch follows (git-branch --set-upstream-to), ""
// for none. The branch may be given by its full name.
func (r *Repo) Upstream(ctx context.Context, branch string) (string, error) {
	out, err := r.command("for-each-ref", "for-each-ref", "--format=%(upstream)", plumbing.BranchRef(branch)).Output(ctx)
	return string(trimNewline(out)), err
}

// symbolic returns the target of a symbolic ref, or "" if there is none.
func (r *Repo) symbolic(ctx context.Context, name string) (string, error) {
	out, err := r.command("symbolic-ref", "symbolic-ref", "--quiet", name).Output(ctx)
	if err != nil && child.ExitCode(err) != 1 {
		return "", err
	}
	return string(trimNewline(out)), nil
}
