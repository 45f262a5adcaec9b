package oplog

import (
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
)

// Made is what the rules need to know of commits.
func Made(commits []git.Commit) []board.Made {
	made := make([]board.Made, len(commits))
	for i, c := range commits {
		made[i] = board.Made{ID: string(c.OID), At: board.At(c.Committer.When)}
		for _, p := range c.Parents {
			made[i].Parents = append(made[i].Parents, string(p))
		}
	}
	return made
}
