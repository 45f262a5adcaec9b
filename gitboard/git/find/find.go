package find

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
)

// realPath returns an absolute path without symbolic links, as git prints it.
func realPath(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(path)
}

// worktreeAbove returns the first directory from dir upwards that has a .git, and the git directory
// that this is or names, or "" if a bare repository may come first.
func worktreeAbove(dir string) (top, gitDir string) {
	for {
		gitDir = filepath.Join(dir, ".git")
		if found, err := os.Lstat(gitDir); err == nil {
			if found.Mode().IsRegular() {
				gitDir = records.LinkedDir(dir)
			} else if !found.IsDir() {
				gitDir = ""
			}
			if gitDir == "" {
				return "", ""
			}
			return dir, gitDir
		}
		if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err == nil || filepath.Dir(dir) == dir {
			return "", ""
		}
		dir = filepath.Dir(dir)
	}
}

// isSoundHead reports whether a text is a HEAD as git writes it.
func isSoundHead(text string) bool {
	id, isLine := strings.CutSuffix(text, "\n")
	return strings.HasPrefix(text, "ref: refs/") || isLine && plumbing.OID(id).Valid()
}

// hasStores reports whether a directory has those of a repository in which objects and refs are.
func hasStores(dir string) bool {
	for _, part := range []string{"objects", "refs"} {
		if found, err := os.Stat(filepath.Join(dir, part)); err != nil || !found.IsDir() {
			return false
		}
	}
	return true
}

// Meant reports whether dir has a repository, even one that git can't use: GIT_DIR is set, or dir
// or a parent contains something named .git. An empty directory counts for nothing: sandboxes of
// agents leave them, even in /tmp.
func Meant(e gitenv.List, dir string) bool {
	if e.Get("GIT_DIR") != "" {
		return true
	}
	path, err := filepath.Abs(dir)
	if err != nil {
		return false
	}
	if found, err := os.Stat(path); err != nil || !found.IsDir() {
		return false
	}
	for {
		named := filepath.Join(path, ".git")
		if _, err := os.Lstat(named); err == nil {
			if inside, err := os.ReadDir(named); err != nil || len(inside) > 0 {
				return true
			}
		}
		above := filepath.Dir(path)
		if above == path {
			return false
		}
		path = above
	}
}

// BrokenHead wraps the error of a git that does not work in a directory, if the HEAD of its git
// directory names no branch and no commit: git itself takes such a directory for no repository.
func BrokenHead(dir string, given gitenv.List, err error) error {
	gitDir := ""
	if at, set := given.Lookup("GIT_DIR"); set {
		gitDir = records.PathIn(dir, at)
	} else if start, unreal := realPath(dir); unreal == nil {
		if _, gitDir = worktreeAbove(start); gitDir == "" {
			gitDir = start // a bare repository
		}
	}
	_, linked := os.Lstat(filepath.Join(gitDir, "commondir"))
	path := filepath.Join(gitDir, "HEAD")
	text, unread := os.ReadFile(path)
	if unread == nil && isSoundHead(string(text)) || linked != nil && !hasStores(gitDir) {
		return nil
	}
	is := fmt.Sprintf("%.60q, names no branch and no commit", text)
	if strings.TrimSpace(string(text)) == "" {
		is = "is missing or empty"
	}
	return fmt.Errorf("git can't use this repository: %s %s; write into it what was checked out, as one line, ref: %s (%w)", path, is, plumbing.BranchRef("BRANCH"), err)
}
