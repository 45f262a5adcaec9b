package git

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// StrayModules lists the submodules that are checked out in a worktree at other commits than its
// index names. It starts no child if none are checked out.
func (w *Worktree) StrayModules(ctx context.Context) ([]string, error) {
	paths, err := w.modulesAt(ctx)
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	out, err := w.in("diff-files", append([]string{"diff-files", "--name-only", "-z", "--ignore-submodules=dirty", "--"}, paths...)...).Output(ctx)
	return child.Fields(out), err
}

// CheckOutModules does for the submodules that are checked out in a worktree, and for those inside
// them, what CheckoutDetached did for the worktree itself: they match its index exactly. Commits
// that are missing are fetched. It starts no child if none are checked out. The error is a
// NetworkError if a submodule's remote can't be reached.
func (w *Worktree) CheckOutModules(ctx context.Context) error {
	links, err := w.Gitlinks(ctx)
	if err != nil {
		return err
	}
	paths := checkedOut(w.path, links)
	if len(paths) == 0 {
		return nil
	}
	asking, err := w.repo.Remote(ctx, "") // for its timeout and environment
	if err != nil {
		return err
	}
	if err := asking.bringModules(ctx, w.path, links); err != nil {
		return err
	}
	update := slices.Concat(noUpkeep, []string{"submodule", "--quiet", "update", "--no-fetch", "--force", "--checkout", "--recursive", "--"}, paths)
	return child.RunAll(ctx,
		w.in("submodule update", update...).With(asking.env...),
		w.in("submodule foreach", "submodule", "--quiet", "foreach", "--recursive", "git clean --quiet --force --force -d"),
	)
}

// bringModules fetches the commits, by path, that the submodules below dir lack, and those that the
// submodules inside them need for them. Git would fetch them itself, with a child that may wait
// forever.
func (m *Remote) bringModules(ctx context.Context, dir string, links map[string]plumbing.OID) error {
	for _, path := range checkedOut(dir, links) {
		module, commit := filepath.Join(dir, filepath.FromSlash(path)), links[path]
		if err := m.bringModule(ctx, module, commit); err != nil {
			return err
		}
		inside, err := m.repo.Worktree(module).in("ls-tree", "ls-tree", "-r", "-z", "--full-tree", string(commit)).Output(ctx)
		if err != nil {
			return err
		}
		if err := m.bringModules(ctx, module, gitlinks(inside)); err != nil {
			return err
		}
	}
	return nil
}

// bringModule fetches a commit into a submodule's repository unless a ref there leads to it. Like
// git, it asks for the commit itself only if what its remotes offer does not lead there.
func (m *Remote) bringModule(ctx context.Context, module string, commit plumbing.OID) error {
	reached := func(ctx context.Context) bool {
		out, err := m.repo.Worktree(module).in("rev-list", "rev-list", "--max-count=1", string(commit), "--not", "--all", "--").Output(ctx)
		return err == nil && len(out) == 0
	}
	if reached(ctx) {
		return nil
	}
	names, err := m.repo.Worktree(module).in("remote", "remote").Output(ctx)
	for _, name := range child.Lines(names) {
		by := *m
		by.Name, by.unnamed = name, false
		fetch := slices.Concat(noUpkeep, []string{"fetch", "--no-recurse-submodules", "--no-auto-maintenance", "--progress", "--", name})
		if _, err = by.hear(ctx, by.repo.Worktree(module).in("fetch", fetch...).With(notFromUser)); err == nil && !reached(ctx) {
			_, err = by.hear(ctx, by.repo.Worktree(module).in("fetch", append(fetch, string(commit))...).With(notFromUser))
		}
		if err == nil {
			break
		}
	}
	return err
}

// notFromUser means that the address comes from somebody else, as git does for submodules: such a
// remote is not asked by a protocol that only the user may choose (protocol.allow).
const notFromUser = "GIT_PROTOCOL_FROM_USER=0"

// modulesAt lists the paths of a worktree's index at which submodules are checked out.
func (w *Worktree) modulesAt(ctx context.Context) ([]string, error) {
	links, err := w.Gitlinks(ctx)
	return checkedOut(w.path, links), err
}

// checkedOut lists those of the paths below dir at which repositories are.
func checkedOut(dir string, links map[string]plumbing.OID) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(links)), func(path string) bool {
		_, missing := os.Lstat(filepath.Join(dir, filepath.FromSlash(path), ".git"))
		return missing != nil
	})
}
