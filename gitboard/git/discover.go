package git

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
)

// discover finds the repository of a directory as git does in the usual cases: dir is in a worktree
// of a repository of the same user and file system, with the first format and no settings that move
// its worktree, or GIT_DIR names a bare repository, as in a server's hooks. It returns nil for any
// other case, and for anything that git might see otherwise: then find asks git. It saves every
// command a child that everything else waits for.
func discover(ctx context.Context, dir string, given gitenv.List) *Repo {
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
	r := &Repo{top: top, gitDir: gitDir, common: gitDir}
	if to, err := os.ReadFile(filepath.Join(r.gitDir, "commondir")); err == nil {
		if r.common, err = realPath(records.PathIn(r.gitDir, string(to))); err != nil {
			return nil
		}
	}
	if !r.isUsual() || !ours(start, top, filepath.Join(top, ".git"), r.gitDir) {
		return nil
	}
	return r
}

// discoverBare returns the bare repository that git is set to use, of any owner.
func discoverBare(dir string) *Repo {
	gitDir, err := realPath(dir)
	if err != nil {
		return nil
	}
	r := &Repo{gitDir: gitDir, common: gitDir, bare: true}
	if _, err := os.Lstat(filepath.Join(gitDir, "commondir")); err == nil || !r.isUsual() {
		return nil
	}
	if r.ownSettings().values("core", "bare") == nil {
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
func (r *Repo) isUsual() bool {
	head, err := os.ReadFile(filepath.Join(r.gitDir, "HEAD"))
	if err != nil || !isSoundHead(string(head)) || strings.ContainsAny(r.top+r.gitDir+r.common, "\n\r") {
		return false
	}
	if !hasStores(r.common) {
		return false
	}
	// Git reads these settings from this file alone, and ignores what it includes.
	own := r.ownSettings()
	if !own.read || own.has("extensions", func(setting) bool { return true }) {
		return false
	}
	return usually(own, "repositoryformatversion", "0") && usually(own, "bare", strconv.FormatBool(r.bare)) && usually(own, "worktree")
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
func usually(own ownSettings, name string, known ...string) bool {
	for _, value := range own.values("core", name) {
		if !slices.Contains(known, value) {
			return false
		}
	}
	return true
}
