package process

import (
	"os"
	"slices"

	"github.com/git-liza/git-liza/gitboard/proc"
)

// descendants returns the processes that a process has started, directly or not, in any session and
// group. It misses those whose parent ended.
func descendants(of int) []proc.ID {
	children := map[int][]int{}
	for _, p := range proc.Running.All() {
		children[p.Parent] = append(children[p.Parent], p.PID)
	}
	var all []proc.ID
	for next := children[of]; len(next) > 0; next = next[1:] {
		if id := proc.Of(next[0]); id != "" {
			all = append(all, id)
		}
		next = append(next, children[next[0]]...)
	}
	return all
}

// marked returns the processes that have an entry in their environment. Those of other users can't
// be read.
func marked(entry string) []proc.ID {
	var all []proc.ID
	for _, p := range proc.Running.All() {
		if p.PID == os.Getpid() || !slices.Contains(p.Environ(), entry) {
			continue
		}
		if id := proc.Of(p.PID); id != "" {
			all = append(all, id)
		}
	}
	return all
}
