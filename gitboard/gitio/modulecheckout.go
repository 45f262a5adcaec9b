package gitio

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// StrayModules lists the submodules that are checked out in a worktree at other commits than its
// index names. It starts no child if none are checked out.
func (r *Repo) StrayModules(ctx context.Context, worktree string) ([]string, error) {
	paths, err := r.modulesAt(ctx, worktree)
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	out, err := r.in(worktree, "diff-files", append([]string{"diff-files", "--name-only", "-z", "--ignore-submodules=dirty", "--"}, paths...)...).output(ctx)
	return splitNUL(out), err
}

// CheckOutModules does for the submodules that are checked out in a worktree, and for those inside
// them, what CheckoutDetached does for the worktree itself: they match its index exactly. Commits
// that are missing are fetched. It starts no child if none are checked out.
func (r *Repo) CheckOutModules(ctx context.Context, worktree string) error {
	paths, err := r.modulesAt(ctx, worktree)
	if err != nil || len(paths) == 0 {
		return err
	}
	asking, err := r.Remote(ctx, "") // for its environment
	if err != nil {
		return err
	}
	update := flags(noUpkeep, []string{"submodule", "--quiet", "update", "--force", "--checkout", "--recursive", "--"}, paths)
	return runAll(ctx,
		r.in(worktree, "submodule update", update...).with(asking.env...),
		r.in(worktree, "submodule foreach", "submodule", "--quiet", "foreach", "--recursive", "git clean --quiet --force --force -d"),
	)
}

// modulesAt lists the paths of a worktree's index at which submodules are checked out.
func (r *Repo) modulesAt(ctx context.Context, worktree string) ([]string, error) {
	links, err := r.Gitlinks(ctx, worktree)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(links)), func(path string) bool {
		_, missing := os.Lstat(filepath.Join(worktree, filepath.FromSlash(path), ".git"))
		return missing != nil
	}), err
}
