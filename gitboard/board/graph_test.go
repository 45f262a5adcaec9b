package board_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
)

// drawn lists each node in order as its id and level, with "*" if it is on the critical path.
func drawn(g report.Graph) string {
	var parts []string
	for _, n := range g.Nodes {
		mark := ""
		if n.Critical {
			mark = "*"
		}
		parts = append(parts, fmt.Sprintf("%s %d%s", n.ID, n.Level, mark))
	}
	return strings.Join(parts, ", ")
}

func TestGraph(t *testing.T) {
	task := func(id string, s board.Status, depends ...string) board.Brief {
		return board.Brief{ID: id, Status: s, DependsOn: depends}
	}
	const todo, over = board.Unclaimed, board.Merged
	for _, c := range []struct {
		name     string
		tasks    []board.Brief
		nodes    string
		critical string
	}{
		{"nothing", nil, "", ""},
		{"one", []board.Brief{task("a", todo)}, "a 0*", "a"},
		{"all over", []board.Brief{task("a", over), task("b", over, "a")}, "a 0, b 0", ""},
		{"a chain, in no order", []board.Brief{task("c", todo, "b"), task("a", todo), task("b", todo, "a")}, "a 0*, b 1*, c 2*", "a b c"},
		{"a finished task holds nothing up", []board.Brief{task("a", over), task("b", todo, "a"), task("c", todo)}, "a 0, b 0*, c 0", "b"},
		{"the longer way counts", []board.Brief{task("a", todo), task("b", todo, "a"), task("c", todo, "b"), task("d", todo, "a", "c")}, "a 0*, b 1*, c 2*, d 3*", "a b c d"},
		{"of equals the first", []board.Brief{task("x", todo), task("a", todo), task("y", todo, "x"), task("b", todo, "a")}, "x 0*, a 0, y 1*, b 1", "x y"},
		{"an unknown dependency", []board.Brief{task("a", todo, "nobody")}, "a 0*", "a"},
		{"a circle", []board.Brief{task("a", todo, "b"), task("b", todo, "a"), task("c", todo, "a")}, "b 0*, a 1*, c 2*", "b a c"},
		{"itself", []board.Brief{task("a", todo, "a")}, "a 0*", "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := report.GraphOf(c.tasks)
			equal(t, "nodes", drawn(g), c.nodes)
			equal(t, "critical path", strings.Join(g.Critical, " "), c.critical)
		})
	}
}
