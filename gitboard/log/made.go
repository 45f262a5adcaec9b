package log

import (
	"context"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Made returns what the rules need to know about commits.
func Made(commits []plumbing.Commit) []board.Made {
	made := make([]board.Made, len(commits))
	for i, c := range commits {
		made[i] = board.Made{ID: string(c.OID), At: board.At(c.Committer.When)}
		for _, p := range c.Parents {
			made[i].Parents = append(made[i].Parents, string(p))
		}
	}
	return made
}

// People returns the addresses of the humans who made commits, sorted.
// A commit that names the agent that made it is the agent's; merges are git's.
func People(commits []plumbing.Commit) []string {
	var people []string
	for _, c := range commits {
		if _, agent := board.MadeFor(c.Message); agent != "" || len(c.Parents) > 1 {
			continue
		}
		for _, address := range []string{c.Author.Email, c.Committer.Email} {
			address = strings.ToLower(address)
			if address != "" && !board.AgentAddress(address) && !slices.Contains(people, address) {
				people = append(people, address)
			}
		}
	}
	slices.Sort(people)
	return people
}

// Lacking lists the places of a rejection's blockers that a submission lacks.
func Lacking(ctx context.Context, repo *git.Repo, commit, base plumbing.OID, r *board.Rejection) ([]string, error) {
	var names []string
	r.Lacking(func(file string) int {
		names = append(names, string(commit)+":"+file, string(base)+":"+file)
		return -1
	})
	files, err := repo.Objects(ctx, names)
	if err != nil {
		return nil, err
	}
	return r.Lacking(func(string) int {
		was, now := files[1], files[0]
		files = files[2:]
		if now.Type != plumbing.BlobObject {
			now = was
		}
		if now.Type != plumbing.BlobObject {
			return -1
		}
		return max(1, plumbing.CountLines(now.Data))
	}), nil
}
