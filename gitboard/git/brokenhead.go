package git

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
)

// brokenHead wraps the error of a git that does not work in a directory, if the HEAD of its git
// directory names no branch and no commit: git itself takes such a directory for no repository.
func brokenHead(dir string, given gitenv.List, err error) error {
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
