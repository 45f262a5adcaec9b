package dispatch

import (
	"cmp"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

// makers are the commands' constructors, in the order in which Add was called.
var makers []func() *edge.Command

// Add adds a command to the table of commands. Each command's file calls it, so that no list names
// them all.
func Add(maker func() *edge.Command) struct{} {
	makers = append(makers, maker)
	return struct{}{}
}

// Commands is the table of commands, in the order of help: first firstShown, then operations in the
// order of a task's life, then the others by name. It is built for each use, because a command's
// flags are its own variables.
func Commands() []*edge.Command {
	ops := board.Ops()
	all := make([]*edge.Command, len(makers))
	for i, maker := range makers {
		all[i] = maker()
	}
	rank := func(c *edge.Command) int {
		at := slices.Index(ops, strings.ReplaceAll(c.Name, " ", "-"))
		switch {
		case slices.Contains(firstShown, c.Name):
			return slices.Index(firstShown, c.Name) - len(firstShown)
		case at < 0:
			return len(ops)
		}
		return at
	}
	slices.SortFunc(all, func(a, b *edge.Command) int {
		return cmp.Or(cmp.Compare(slices.Index(Groups, a.Group), slices.Index(Groups, b.Group)), cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// firstShown are the reading commands that people look for first in their group.
var firstShown = []string{"agent", "team", "status", "show", "log", "diff", "prime", "review"}
