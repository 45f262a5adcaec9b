package log

import (
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
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
