package gitio

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

	"github.com/git-liza/git-liza/gitboard/git"
)

// gitlink is the mode of an index entry that names a commit of another repository, as encoded in
// the index (gitformat-index).
var gitlink = []byte{0, 0, 0xe0, 0}

// Gitlinks returns the commits of other repositories that a worktree's index names, by path:
// submodules, and nested clones that someone added. It starts no child if there are none.
func (r *Repo) Gitlinks(ctx context.Context, worktree string) (map[string]git.OID, error) {
	dir, err := r.worktreeGitDir(ctx, worktree)
	if err != nil {
		return nil, err
	}
	index, err := os.ReadFile(filepath.Join(dir, "index"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, storageError(dir, err)
	}
	if !bytes.Contains(index, gitlink) {
		return nil, nil
	}
	out, err := r.in(worktree, "ls-files", "ls-files", "--stage", "-z").output(ctx)
	if err != nil {
		return nil, err
	}
	links := map[string]git.OID{}
	for _, entry := range splitNUL(out) {
		about, path, _ := strings.Cut(entry, "\t")
		if of, is := strings.CutPrefix(about, "160000 "); is {
			oid, _, _ := strings.Cut(of, " ")
			links[path] = git.OID(oid)
		}
	}
	return links, nil
}

// Submodules returns the paths of the submodules in a commit's .gitmodules, which other clones need
// to find them.
func (r *Repo) Submodules(ctx context.Context, commit git.OID) (map[string]bool, error) {
	if err := checkOIDs(commit); err != nil {
		return nil, err
	}
	if _, err := r.FileOID(ctx, commit, ".gitmodules"); err != nil {
		if errors.Is(err, ErrNotFound) {
			err = nil
		}
		return nil, err
	}
	out, err := r.command("config", "config", "--blob", string(commit)+":.gitmodules", "--null", "--get-regexp", `^submodule\..*\.path$`).output(ctx)
	if err != nil && exitCode(err) != 1 {
		return nil, fmt.Errorf(".gitmodules of %s: %w", commit.Short(), err)
	}
	described := map[string]bool{}
	for _, entry := range splitNUL(out) {
		_, path, _ := strings.Cut(entry, "\n")
		described[filepath.ToSlash(filepath.Clean(path))] = true
	}
	return described, nil
}

// ModulePublished reports whether a remote of the repository at path has commit. If the
// remote-tracking refs do not show it, it fetches from all remotes first. It returns ErrNotFound if
// no repository is checked out there.
func (r *Repo) ModulePublished(ctx context.Context, path string, commit git.OID) (bool, error) {
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
	limited, cancel := context.WithTimeout(ctx, asking.patience)
	defer cancel()
	fetch := flags(noUpkeep, []string{"fetch", "--quiet", "--all", "--no-recurse-submodules", "--no-auto-maintenance"})
	// The check below shows whether it helped.
	_ = r.in(path, "fetch", fetch...).with(asking.env...).run(limited)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	return r.publishedAt(ctx, path, commit), nil
}

func (r *Repo) publishedAt(ctx context.Context, path string, commit git.OID) bool {
	out, err := r.in(path, "rev-list", "rev-list", "--max-count=1", string(commit), "--not", "--remotes", "--").output(ctx)
	return err == nil && len(out) == 0
}

// KeepModules moves the repositories of a worktree's submodules to a directory that does not exist
// yet, along with the repositories that lie inside the worktree, also in folders that git ignores.
// It skips those whose commits are all known to be on their remotes. They would be deleted with the
// worktree. The worktree itself may already be gone.
func (r *Repo) KeepModules(ctx context.Context, worktree, to string) (kept bool, err error) {
	if dir := r.RecordOf(worktree); dir != "" {
		if kept, err = r.keepModule(ctx, filepath.Join(dir, "modules"), to); err != nil {
			return kept, err
		}
	}
	inside, err := repositoriesIn(worktree)
	if err != nil {
		return kept, storageError(worktree, err)
	}
	for _, path := range inside {
		below, err := filepath.Rel(worktree, path)
		if err != nil {
			return kept, err
		}
		if !r.unpublishedIn(ctx, path) || r.tracks(ctx, worktree, filepath.Join(below, "HEAD")) {
			continue
		}
		err = moveAcross(path, vacant(filepath.Join(to, below)))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was inside another one, and moved with it
		}
		if err != nil {
			return kept, storageError(to, err)
		}
		kept = true
	}
	return kept, nil
}

// repositoriesIn lists the directories below a worktree that are repositories, with files or bare.
// A worktree of another repository, and a submodule, are none: their commits are elsewhere. It
// reads directories only, which takes less time than to delete them.
func repositoriesIn(worktree string) (all []string, err error) {
	err = filepath.WalkDir(worktree, func(path string, e fs.DirEntry, err error) error {
		dir, name := filepath.Split(path)
		dir = filepath.Clean(dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // gone, now or before
		case err != nil:
			return err
		case name == ".git" && e.IsDir():
			if dir != worktree && isGitDir(path) {
				all = append(all, dir)
			}
			return fs.SkipDir
		case name == "HEAD" && dir != worktree && isGitDir(dir):
			all = append(all, dir)
			return fs.SkipDir // of what is in dir
		}
		return nil
	})
	return all, err
}

// tracks reports whether a file is in a worktree's index: a bare repository among a project's test
// data is.
func (r *Repo) tracks(ctx context.Context, worktree, file string) bool {
	out, err := r.in(worktree, "ls-files", "ls-files", "--", file).output(ctx)
	return err == nil && len(out) > 0
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

// unpublishedIn reports whether a repository, given by its top directory, or one of its submodules
// is unpublished.
func (r *Repo) unpublishedIn(ctx context.Context, top string) bool {
	dir := filepath.Join(top, ".git")
	if !isGitDir(dir) {
		dir = top
	}
	return slices.ContainsFunc(gitDirs(dir), func(dir string) bool { return r.unpublished(ctx, dir) })
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

// keepModule moves a directory of repositories, then removes it if all of their commits are
// published. Moving first ensures that nobody adds commits during the check.
func (r *Repo) keepModule(ctx context.Context, from, to string) (kept bool, err error) {
	if _, err := os.Lstat(from); err != nil {
		return false, nil
	}
	if err := moveAcross(from, to); err != nil {
		return false, storageError(to, err)
	}
	all := gitDirs(to)
	for _, dir := range all {
		kept = kept || r.unpublished(ctx, dir)
	}
	if !kept {
		return false, os.RemoveAll(to)
	}
	for _, dir := range all {
		// core.worktree names the removed worktree, and git would refuse to use the repository.
		_ = command{op: "config", args: []string{"config", "--file", filepath.Join(dir, "config"), "--unset", "core.worktree"}}.run(ctx)
	}
	return true, nil
}

// unpublished reports whether a repository has commits, in refs or reflogs, that no remote is known
// to have. An unreadable repository counts as unpublished. A remote has what its tracking refs
// hold, wherever its refspecs put them, and the commits at which a shallow clone was cut off. Tags
// do not count on either side where there is a remote: they come from it, as a rule.
func (r *Repo) unpublished(ctx context.Context, dir string) bool {
	args := []string{"rev-list", "--max-count=1", "--all", "--reflog", "--not", "--remotes"}
	if tracking, remote := trackingRefs(ctx, dir); remote {
		args = append(slices.Insert(args, 2, "--exclude="+git.TagsPrefix+"*"), tracking...)
	}
	cut, _ := os.ReadFile(filepath.Join(dir, "shallow"))
	args = append(args, strings.Fields(string(cut))...)
	out, err := command{op: "rev-list", args: flags(noMonitor, noHooks, []string{"-c", "protocol.allow=never", "--git-dir=" + dir, "--work-tree=" + dir}, args)}.output(ctx)
	return err != nil || len(out) > 0
}

// trackingRefs returns the options of rev-list for the refs in which a repository has its remotes'
// branches (git-config, remote.<name>.fetch), and whether it has a remote.
func trackingRefs(ctx context.Context, dir string) (globs []string, remote bool) {
	out, err := command{op: "config", args: []string{"config", "--file", filepath.Join(dir, "config"), "--null", "--get-regexp", `^remote\..*\.fetch$`}}.output(ctx)
	if err != nil {
		return nil, false
	}
	for _, entry := range splitNUL(out) {
		_, spec, _ := strings.Cut(entry, "\n")
		if _, to, _ := strings.Cut(spec, ":"); strings.HasPrefix(to, git.RefsPrefix) && strings.HasSuffix(to, "*") {
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

// RecordOf returns the directory where git keeps its data on the worktree at path, or "" if there
// is none. The worktree itself may be gone.
func (r *Repo) RecordOf(path string) string {
	records, _ := filepath.Glob(filepath.Join(EscapeGlob(r.common), "worktrees", "*"))
	for _, dir := range records {
		if linkBack(dir) == filepath.Join(path, ".git") {
			return dir
		}
	}
	return ""
}
