package dispatch

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
)

// makers are the commands' constructors, in the order in which Add was called.
var makers []func() *call.Command

// Add adds a command to the table of commands. Each command's file calls it, so that no list names
// them all. Inlined in a hundred places, it would be 12 KB of the program.
//
//go:noinline
func Add(maker func() *call.Command) struct{} {
	makers = append(makers, maker)
	return struct{}{}
}

// home answers a command line without a command.
var home func(context.Context, *call.Call) error

// SetHome sets the answer to a command line without a command.
func SetHome(run func(context.Context, *call.Call) error) struct{} {
	home = run
	return struct{}{}
}

// Commands is the table of commands, in the order of help: first firstShown, then operations in the
// order of a task's life, then the others by name. It is built for each use, because a command's
// flags are its own variables.
func Commands() []*call.Command { return sorted(made()) }

// described are the commands for help, which runs none of them.
var described = sync.OnceValue(made)

// sorted puts commands into the order of help.
func sorted(all []*call.Command) []*call.Command {
	order := make(map[*call.Command][2]int, len(all))
	ops := board.Ops()
	for _, c := range all {
		order[c] = [2]int{slices.Index(Groups, c.Group), rank(c, ops)}
	}
	slices.SortFunc(all, func(a, b *call.Command) int {
		x, y := order[a], order[b]
		return cmp.Or(slices.Compare(x[:], y[:]), cmp.Compare(a.Name, b.Name))
	})
	return all
}

// made returns the commands in no useful order.
func made() []*call.Command {
	all := make([]*call.Command, len(makers))
	for i, maker := range makers {
		all[i] = maker()
	}
	return all
}

// rank is a command's place in its group.
func rank(c *call.Command, ops []string) int {
	if i := slices.Index(firstShown, c.Name); i >= 0 {
		return i - len(firstShown)
	}
	if i := slices.Index(ops, strings.ReplaceAll(c.Name, " ", "-")); i >= 0 {
		return i
	}
	return len(ops)
}

// firstShown are the reading commands that people look for first in their group.
var firstShown = []string{"agent", "team", "status", "show", "log", "diff", "prime", "review"}
