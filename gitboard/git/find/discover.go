package find

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
	"github.com/git-liza/git-liza/gitboard/git/settings"
)

// Place is where a repository is.
type Place struct {
	Common string // the git directory shared by all worktrees
	GitDir string // that of the worktree
	Top    string // top of the worktree; "" if there is none
	Bare   bool
}

// Discover finds the repository of a directory as git does in the usual cases: dir is in a worktree
// of a repository of the same user and file system, with the first format and no settings that move
// its worktree, or GIT_DIR names a bare repository, as in a server's hooks. It returns nil for any
// other case, and for anything that git might see otherwise: then the caller asks git. It saves every
// command a child that everything else waits for.
func Discover(ctx context.Context, dir string, given gitenv.List) *Place {
	if ctx.Err() != nil || slices.ContainsFunc(given, steersDiscovery) {
		return nil
	}
	if at, set := given.Lookup("GIT_DIR"); set {
		if at == "" {
			return nil
		}
		return discoverBare(records.PathIn(dir, at))
	}
	start, err := realPath(dir)
	if err != nil {
		return nil
	}
	top, gitDir := worktreeAbove(start)
	if top == "" {
		return nil
	}
	if gitDir, err = realPath(gitDir); err != nil {
		return nil
	}
	r := &Place{Top: top, GitDir: gitDir, Common: gitDir}
	if to, err := os.ReadFile(filepath.Join(r.GitDir, "commondir")); err == nil {
		if r.Common, err = realPath(records.PathIn(r.GitDir, string(to))); err != nil {
			return nil
		}
	}
	if !r.isUsual() || !ours(start, top, filepath.Join(top, ".git"), r.GitDir) {
		return nil
	}
	return r
}

// discoverBare returns the bare repository that git is set to use, of any owner.
func discoverBare(dir string) *Place {
	gitDir, err := realPath(dir)
	if err != nil {
		return nil
	}
	r := &Place{GitDir: gitDir, Common: gitDir, Bare: true}
	if _, err := os.Lstat(filepath.Join(gitDir, "commondir")); err == nil || !r.isUsual() {
		return nil
	}
	if settings.ReadOwn(r.Common).Values("core", "bare") == nil {
		return nil // then git takes the current directory for its worktree
	}
	return r
}

// steersDiscovery reports whether a variable other than GIT_DIR may determine where git finds a
// repository, or whether git trusts it.
func steersDiscovery(entry string) bool {
	key, _, _ := strings.Cut(entry, "=")
	switch key {
	case "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_IMPLICIT_WORK_TREE", "GIT_OBJECT_DIRECTORY",
		"GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_QUARANTINE_PATH",
		"GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT":
		return true
	}
	return strings.HasPrefix(key, "GIT_TEST_")
}

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

// isUsual reports whether git would certainly accept these directories, and find the worktree where
// it was found.
func (r *Place) isUsual() bool {
	head, err := os.ReadFile(filepath.Join(r.GitDir, "HEAD"))
	if err != nil || !isSoundHead(string(head)) || strings.ContainsAny(r.Top+r.GitDir+r.Common, "\n\r") {
		return false
	}
	if !hasStores(r.Common) {
		return false
	}
	// Git reads these settings from this file alone, and ignores what it includes.
	own := settings.ReadOwn(r.Common)
	if !own.Read() || own.Has("extensions") {
		return false
	}
	return usually(own, "repositoryformatversion", "0") && usually(own, "bare", strconv.FormatBool(r.Bare)) && usually(own, "worktree")
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

// usually reports whether a setting of core is missing or has a value that is known.
func usually(own settings.Own, name string, known ...string) bool {
	for _, value := range own.Values("core", name) {
		if !slices.Contains(known, value) {
			return false
		}
	}
	return true
}

// Meant reports whether dir has a repository, even one that git can't use: GIT_DIR is set, or dir
// or a parent that git would search contains something named .git.
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
		if _, err := os.Lstat(filepath.Join(path, ".git")); err == nil {
			return true
		}
		above := filepath.Dir(path)
		if above == path || isCeiling(e, above) {
			return false
		}
		path = above
	}
}

// isCeiling reports whether git stops its upward search below dir (GIT_CEILING_DIRECTORIES).
func isCeiling(e gitenv.List, dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(filepath.SplitList(e.Get("GIT_CEILING_DIRECTORIES")), func(ceiling string) bool {
		at, err := filepath.EvalSymlinks(ceiling)
		return err == nil && at == real
	})
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
