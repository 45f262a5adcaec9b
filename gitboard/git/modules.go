package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// moduleMark begins an entry of an index or a tree that is a submodule's commit: its mode, and a
// space.
const moduleMark = "160000 "

// gitlink is the mode of an index entry that names a commit of another repository, as encoded in
// the index (gitformat-index).
var gitlink = []byte{0, 0, 0xe0, 0}

// Gitlinks returns the commits of other repositories that a worktree's index names, by path:
// submodules, and nested clones that someone added. It starts no child if there are none.
func (w *Worktree) Gitlinks(ctx context.Context) (map[string]plumbing.OID, error) {
	dir, err := w.gitDir(ctx)
	if err != nil {
		return nil, err
	}
	index, err := os.ReadFile(filepath.Join(dir, "index"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, disk.NewStorageError(dir, err)
	}
	if !bytes.Contains(index, gitlink) {
		return nil, nil
	}
	out, err := w.in("ls-files", "ls-files", "--stage", "-z").Output(ctx)
	if err != nil {
		return nil, err
	}
	return gitlinks(out), nil
}

// gitlinks reads the commits of other repositories from what ls-files or ls-tree lists.
func gitlinks(out []byte) map[string]plumbing.OID {
	links := map[string]plumbing.OID{}
	for _, entry := range child.Fields(out) {
		about, path, _ := strings.Cut(entry, "\t")
		if of, is := strings.CutPrefix(about, moduleMark); is {
			oid, _, _ := strings.Cut(strings.TrimPrefix(of, "commit "), " ")
			links[path] = plumbing.OID(oid)
		}
	}
	return links
}

// Submodules returns the paths of the submodules in a commit's .gitmodules, which other clones need
// to find them.
func (h History) Submodules(ctx context.Context, commit plumbing.OID) (map[string]bool, error) {
	if err := checkOIDs(commit); err != nil {
		return nil, err
	}
	if _, err := h.repo.History().FileOID(ctx, commit, ".gitmodules"); err != nil {
		if errors.Is(err, ErrNotFound) {
			err = nil
		}
		return nil, err
	}
	out, err := h.repo.command("config", "config", "--blob", string(commit)+":.gitmodules", "--null", "--get-regexp", `^submodule\..*\.path$`).Output(ctx)
	if err != nil && child.ExitCode(err) != 1 {
		return nil, fmt.Errorf(".gitmodules of %s: %w", commit.Short(), err)
	}
	described := map[string]bool{}
	for _, entry := range child.Fields(out) {
		_, path, _ := strings.Cut(entry, "\n")
		described[filepath.ToSlash(filepath.Clean(path))] = true
	}
	return described, nil
}

// ModulePublished reports whether a remote of the repository at path has commit. If the
// remote-tracking refs do not show it, it fetches from all remotes first. It returns ErrNotFound if
// no repository is checked out there.
func (r *Repo) ModulePublished(ctx context.Context, path string, commit plumbing.OID) (bool, error) {
	if err := checkOIDs(commit); err != nil {
		return false, err
	}
	if _, err := os.Lstat(filepath.Join(path, ".git")); err != nil {
		return false, fmt.Errorf("a repository at %s: %w", path, ErrNotFound)
	}
	if r.publishedAt(ctx, path, commit) {
		return true, nil
	}
	asking, err := r.Remote(ctx, "") // for its timeout and environment
	if err != nil {
		return false, err
	}
	fetch := slices.Concat(noUpkeep, []string{"fetch", "--progress", "--all", "--no-recurse-submodules", "--no-auto-maintenance"})
	// The check below shows whether it helped.
	_, _ = asking.hear(ctx, r.Worktree(path).in("fetch", fetch...))
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	return r.publishedAt(ctx, path, commit), nil
}

func (r *Repo) publishedAt(ctx context.Context, path string, commit plumbing.OID) bool {
	out, err := r.Worktree(path).in("rev-list", "rev-list", "--max-count=1", string(commit), "--not", "--remotes", "--").Output(ctx)
	return err == nil && len(out) == 0
}

// KeepModules moves the repositories of a worktree's submodules to a directory that does not exist
// yet, along with the repositories that lie inside the worktree, also in folders that git ignores.
// It skips those whose commits are all known to be on their remotes. They would be deleted with the
// worktree. The worktree itself may already be gone.
func (w *Worktree) KeepModules(ctx context.Context, to string) (kept bool, err error) {
	if dir := w.repo.Records().Of(w.path); dir != "" {
		if kept, err = w.repo.keepModule(ctx, w.path, filepath.Join(dir, "modules"), to); err != nil {
			return kept, err
		}
	}
	inside, err := repositoriesIn(w.path)
	if err != nil {
		return kept, disk.NewStorageError(w.path, err)
	}
	for _, path := range inside {
		below, err := filepath.Rel(w.path, path)
		if err != nil {
			return kept, err
		}
		// One that was inside another one has moved with it, and has no commits here.
		if !slices.ContainsFunc(gitDirs(filepath.Join(path, ".git")), func(dir string) bool { return w.repo.unpublished(ctx, dir) }) {
			continue
		}
		if err := disk.Move(path, vacant(filepath.Join(to, below))); err != nil {
			return kept, disk.NewStorageError(to, err)
		}
		kept = true
	}
	return kept, nil
}

// repositoriesIn lists the directories below a worktree that are repositories with files. A worktree
// of another repository, and a submodule, are none: their commits are elsewhere. A bare one is files to
// git. It reads directories only, which takes less time than to delete them.
func repositoriesIn(worktree string) (all []string, err error) {
	err = filepath.WalkDir(worktree, func(path string, e fs.DirEntry, err error) error {
		switch dir := filepath.Dir(path); {
		case errors.Is(err, fs.ErrNotExist):
			return nil // gone, now or before
		case err != nil:
			return err
		case e.Name() == ".git" && e.IsDir():
			if dir != worktree && isGitDir(path) {
				all = append(all, dir)
			}
			return fs.SkipDir
		}
		return nil
	})
	return all, err
}

// isGitDir reports whether a directory has what a repository must have (gitrepository-layout).
func isGitDir(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// vacant returns a path at which nothing is, the given one if it can be.
func vacant(path string) string {
	free := path
	for n := 2; ; n++ {
		if _, err := os.Lstat(free); err != nil {
			return free
		}
		free = fmt.Sprintf("%s.%d", path, n)
	}
}

// keepModule moves the directory of the repositories of a worktree's submodules, then removes it if
// all of their commits are published. Moving first ensures that nobody adds commits during the
// check. A process that is killed on the way leaves a worktree that git can read, and repositories
// that it can.
func (r *Repo) keepModule(ctx context.Context, worktree, from, to string) (kept bool, err error) {
	if _, err := os.Lstat(from); err != nil {
		return false, nil
	}
	relink, err := r.unlinkModules(ctx, worktree, from)
	if err == nil {
		err = disk.NewStorageError(to, disk.Move(from, to))
	}
	if err != nil {
		return false, errors.Join(err, relink())
	}
	for _, dir := range gitDirs(to) {
		kept = kept || r.unpublished(ctx, dir)
	}
	if !kept {
		return false, os.RemoveAll(to)
	}
	return true, nil
}

// unlinkModules separates the repositories of a worktree's submodules, which are in a directory
// that is about to be moved, from the worktree: git uses neither while one names another that is
// gone. Their core.worktree is not needed as long as a file .git leads to them. relink writes those
// files again. Without a worktree, there are none.
func (r *Repo) unlinkModules(ctx context.Context, worktree, modules string) (relink func() error, err error) {
	links := map[string][]byte{}
	relink = func() (err error) {
		for link, text := range links {
			err = errors.Join(err, disk.Replace(link, text))
		}
		return err
	}
	var paths []string
	if worktree != "" {
		paths, _ = r.Worktree(worktree).modulesAt(ctx) // none, if it is gone
	}
	for _, path := range paths {
		link := filepath.Join(worktree, filepath.FromSlash(path), ".git")
		text, unread := os.ReadFile(link)
		if unread != nil {
			continue // a repository of its own
		}
		links[link] = text
		if err := disk.Remove(link); err != nil {
			return relink, disk.NewStorageError(filepath.Dir(link), err)
		}
	}
	for _, dir := range gitDirs(modules) {
		config := filepath.Join(dir, "config")
		for _, lock := range []string{config + ".lock", filepath.Join(dir, "index.lock")} {
			_ = r.Locks().Clear(lock, 0) // of a killed git
		}
		_ = command{Op: "config", Args: []string{"config", "--file", config, "--unset", "core.worktree"}}.Run(ctx)
	}
	return relink, nil
}

// unpublished reports whether a repository has commits, in refs or reflogs, that no remote is known
// to have. An unreadable repository counts as unpublished. A remote has what its tracking refs
// hold, wherever its refspecs put them, and the commits at which a shallow clone was cut off. Tags
// do not count on either side where there is a remote: they come from it, as a rule.
func (r *Repo) unpublished(ctx context.Context, dir string) bool {
	args := []string{"rev-list", "--max-count=1", "--all", "--reflog", "--not", "--remotes"}
	if tracking, remote := trackingRefs(ctx, dir); remote {
		args = append(slices.Insert(args, 2, "--exclude="+plumbing.TagsPrefix+"*"), tracking...)
	}
	cut, _ := os.ReadFile(filepath.Join(dir, "shallow"))
	args = append(args, strings.Fields(string(cut))...)
	out, err := command{Op: "rev-list", Args: slices.Concat(noMonitor, noHooks, []string{"-c", "protocol.allow=never", "--git-dir=" + dir, "--work-tree=" + dir}, args), Door: r.door(dir)}.Output(ctx)
	return err != nil || len(out) > 0
}

// trackingRefs returns the options of rev-list for the refs in which a repository has its remotes'
// branches (git-config, remote.<name>.fetch), and whether it has a remote.
func trackingRefs(ctx context.Context, dir string) (globs []string, remote bool) {
	out, err := command{Op: "config", Args: []string{"config", "--file", filepath.Join(dir, "config"), "--null", "--get-regexp", `^remote\..*\.fetch$`}}.Output(ctx)
	if err != nil {
		return nil, false
	}
	for _, entry := range child.Fields(out) {
		_, spec, _ := strings.Cut(entry, "\n")
		if _, to, _ := strings.Cut(spec, ":"); strings.HasPrefix(to, plumbing.RefsPrefix) && strings.HasSuffix(to, "*") {
			globs = append(globs, "--glob="+to)
		}
	}
	return globs, true
}

// gitDirs lists the repositories in a directory, itself included, with nested submodules.
func gitDirs(dir string) (all []string) {
	_, head := os.Lstat(filepath.Join(dir, "HEAD"))
	_, objects := os.Lstat(filepath.Join(dir, "objects"))
	if head == nil && objects == nil {
		return append([]string{dir}, gitDirs(filepath.Join(dir, "modules"))...)
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() {
			all = append(all, gitDirs(filepath.Join(dir, e.Name()))...)
		}
	}
	return all
}
