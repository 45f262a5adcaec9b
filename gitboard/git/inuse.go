package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// InUse returns the worktree in which an unfinished rebase or bisection holds a branch, given by its
// full name, and the name of that command; "" for none. HEAD does not name the branch then, but git
// counts it as checked out (find_shared_symref and `rebase --update-refs`): at its end the command
// sets the branch from where it was.
func (r *Repo) InUse(ref string) (top, command string) {
	records, _ := filepath.Glob(filepath.Join(disk.EscapeGlob(r.common), "worktrees", "*")) // the pattern is valid
	for _, dir := range append([]string{r.common}, records...) {
		switch {
		case slices.Contains(rebased(dir), ref):
			command = "rebase"
		case bisected(dir) == ref:
			command = "bisect"
		default:
			continue
		}
		if dir != r.common {
			return filepath.Dir(linkBack(dir)), command
		}
		var linked []string
		for _, record := range records {
			linked = append(linked, filepath.Dir(linkBack(record)))
		}
		if top = r.mainTop(linked); top == "" && filepath.Base(r.common) == ".git" {
			top = filepath.Dir(r.common)
		}
		return top, command
	}
	return "", ""
}

// rebased lists the branches that an unfinished rebase in a worktree's git directory holds.
func rebased(dir string) (refs []string) {
	for _, file := range []string{"rebase-merge", "rebase-apply"} {
		if name, known := plainFile(filepath.Join(dir, file, "head-name")); known {
			refs = append(refs, name)
		}
	}
	// Three lines for each branch that --update-refs moves: its name, its old and its new commit.
	text, _ := os.ReadFile(filepath.Join(dir, "rebase-merge", "update-refs")) // without it, none does
	for _, line := range strings.Split(string(text), "\n") {
		if strings.HasPrefix(line, plumbing.RefsPrefix) {
			refs = append(refs, line)
		}
	}
	return refs
}

// bisected returns the branch from which a bisection in a worktree's git directory began, "" for
// none.
func bisected(dir string) string {
	name, known := plainFile(filepath.Join(dir, "BISECT_START"))
	if !known || name == "" || plumbing.OID(name).Valid() {
		return ""
	}
	return plumbing.BranchRef(strings.TrimPrefix(name, plumbing.HeadsPrefix))
}
