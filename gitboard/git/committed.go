package git

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// CommittedIn maps commits to the directory of the linked worktree in which they were made, as far
// as the reflogs of the worktrees' HEADs show. Commits made without git commit or git cherry-pick
// are not recorded there.
func (r Records) CommittedIn() map[plumbing.OID]string {
	made := map[plumbing.OID]string{}
	// The pattern is valid, so Glob can't fail.
	logs, _ := filepath.Glob(filepath.Join(disk.EscapeGlob(r.repo.common), "worktrees", "*", "logs", "HEAD"))
	for _, file := range logs {
		link := linkBack(filepath.Dir(filepath.Dir(file)))
		if link == "" {
			continue // it is being removed
		}
		for _, m := range reflog(file) {
			if strings.HasPrefix(m.Said, "commit") || strings.HasPrefix(m.Said, "cherry-pick") {
				made[m.To] = filepath.Dir(link)
			}
		}
	}
	return made
}

func reflog(file string) []Moved {
	text, _ := os.ReadFile(file) // a missing log yields no moves
	return moves(string(text))
}
