package report

import (
	"slices"

	"github.com/git-liza/git-liza/gitboard/board"
)

// Graph is the tasks in order of their dependencies.
type Graph struct {
	Nodes    []Node   `json:"tasks"`
	Critical []string `json:"critical_path"` // the longest chain of unfinished tasks, each waiting for the one before
}

// Node is a task in the graph.
type Node struct {
	board.Brief
	Level    int    `json:"level"`            // length of the longest unfinished chain before it
	Behind   int    `json:"behind,omitempty"` // length of the longest unfinished chain that waits for it
	Critical bool   `json:"critical,omitempty"`
	Review   string `json:"review,omitempty"` // see ReviewOf
}

// GraphOn is the graph of tasks of a board, with their stages and approvals as views show them.
// Within a level they are in the order of claims.
func GraphOn(s *board.State, tasks []board.Brief) Graph {
	order := slices.Clone(tasks)
	slices.SortStableFunc(order, board.ClaimOrder(order))
	g, behind := GraphOf(order), board.Chains(order)
	for i := range g.Nodes {
		n := &g.Nodes[i]
		n.Behind = behind(n.ID)
		n.Stage, n.Review = StageOf(s, n.Brief), ReviewOf(s, n.Brief)
	}
	return g
}

// GraphOf orders tasks: finished ones first, then by level, and within a level as given. Among
// several longest chains it picks the one whose tasks come first. It ignores dependencies that do
// not exist, and cycles in a damaged board.
func GraphOf(tasks []board.Brief) Graph {
	g := Graph{Nodes: make([]Node, 0, len(tasks)), Critical: []string{}}
	at := make(map[string]int, len(tasks))
	for i, b := range tasks {
		at[b.ID] = i
	}
	w := walk{tasks: tasks, at: at, level: make([]int, len(tasks)), before: make([]int, len(tasks)), state: make([]byte, len(tasks))}
	last := -1
	for i, b := range tasks {
		if !b.Status.Terminal() && (last < 0 || w.levelOf(i) > w.level[last]) {
			w.levelOf(i)
			last = i
		}
	}
	critical := map[int]bool{}
	for i := last; i >= 0; i = w.before[i] {
		critical[i] = true
		g.Critical = append(g.Critical, tasks[i].ID)
	}
	slices.Reverse(g.Critical)
	for i, b := range tasks {
		g.Nodes = append(g.Nodes, Node{Brief: b, Level: w.levelOf(i), Critical: critical[i]})
	}
	slices.SortStableFunc(g.Nodes, func(a, b Node) int {
		if a.Status.Terminal() != b.Status.Terminal() {
			if a.Status.Terminal() {
				return -1
			}
			return 1
		}
		return a.Level - b.Level
	})
	return g
}

// walk computes levels, depth first.
type walk struct {
	tasks  []board.Brief
	at     map[string]int
	level  []int
	before []int // by task: the one before it on its longest chain, -1 for none
	state  []byte
}

const (
	unseen byte = iota
	underway
	known
)

func (w *walk) levelOf(i int) int {
	if w.state[i] != unseen {
		return w.level[i]
	}
	w.state[i], w.before[i] = underway, -1
	if !w.tasks[i].Status.Terminal() {
		for _, id := range w.tasks[i].DependsOn {
			j, exists := w.at[id]
			if !exists || w.state[j] == underway || w.tasks[j].Status.Terminal() {
				continue
			}
			if l := w.levelOf(j) + 1; l > w.level[i] {
				w.level[i], w.before[i] = l, j
			}
		}
	}
	w.state[i] = known
	return w.level[i]
}
