package git

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// brokenHead returns a HeadError if the HEAD of the git directory that a directory belongs to is
// the reason why git does not work there.
func brokenHead(dir string, given environ) error {
	if at, set := given.lookup("GIT_DIR"); set {
		return checkHead(pathIn(dir, at))
	}
	start, err := realPath(dir)
	if err != nil {
		return nil
	}
	if _, gitDir := worktreeAbove(start); gitDir != "" {
		return checkHead(gitDir)
	}
	return checkHead(start) // a bare repository
}

// checkHead returns a HeadError for a git directory whose HEAD git doesn't accept.
func checkHead(gitDir string) error {
	path := filepath.Join(gitDir, "HEAD")
	text, err := os.ReadFile(path)
	_, linked := os.Lstat(path) // a link to a branch that has no commit yet leads nowhere
	if isHead(string(text)) || err != nil && linked == nil || !hasParts(gitDir) {
		return nil
	}
	return &HeadError{Path: path, Text: string(text), Branch: lastBranch(gitDir)}
}

// isHead reports whether git accepts a text as a HEAD, also one that git does not write itself: it
// skips blanks before the name of a ref, and reads no further than a commit's id.
func isHead(text string) bool {
	if ref, symbolic := strings.CutPrefix(text, "ref:"); symbolic {
		return strings.HasPrefix(strings.TrimLeft(ref, " \t\n\v\f\r"), plumbing.RefsPrefix)
	}
	return len(text) >= len(plumbing.ZeroOID) && plumbing.OID(text[:len(plumbing.ZeroOID)]).Valid()
}

// hasParts reports whether a directory has what a git directory has besides HEAD.
func hasParts(gitDir string) bool {
	_, err := os.Stat(filepath.Join(gitDir, "commondir"))
	return err == nil || hasStores(gitDir)
}

// lastBranch returns the branch that was checked out last in the worktree of a git directory, "" if
// its reflog names none.
func lastBranch(gitDir string) string {
	text, err := os.ReadFile(filepath.Join(gitDir, "logs", "HEAD"))
	if err != nil {
		return ""
	}
	for _, m := range moves(string(text)) {
		if move, is := strings.CutPrefix(m.Said, "checkout: moving from "); is {
			_, to, _ := strings.Cut(move, " to ")
			if to == "" || plumbing.OID(to).Valid() || plumbing.CheckRefName(plumbing.BranchRef(to)) != nil {
				return ""
			}
			return plumbing.BranchRef(to)
		}
	}
	return ""
}
