package gitboard

import (
	"os"
	"path"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
)

// agentDir holds what a clone keeps of its agents, a directory each.
const agentDir = "agents"

// gaveUpFile says since when an agent's supervisor has stopped by itself, and why.
func gaveUpFile(agent string) string { return path.Join(agentDir, agent, "gave-up") }

// GiveUp keeps in this clone that an agent's supervisor has stopped, and why.
func (b *Board) GiveUp(agent, reason string) error {
	return b.Keep(gaveUpFile(agent), string(board.At(b.Now()))+" "+strings.ReplaceAll(reason, "\n", " "))
}

// DropGaveUp forgets that an agent gave up: it was started again, or a human has dealt with it.
func (b *Board) DropGaveUp(agent string) error { return b.Discard(gaveUpFile(agent)) }

// GaveUp lists the agents of this clone that gave up and were not started again.
func (b *Board) GaveUp() map[string]report.GaveUp {
	entries, _ := os.ReadDir(b.own(agentDir)) // none, where no supervisor has run
	var all map[string]report.GaveUp
	for _, e := range entries {
		text, err := b.Kept(gaveUpFile(e.Name()))
		at, reason, said := strings.Cut(text, " ")
		if err != nil || !said {
			continue
		}
		if all == nil {
			all = map[string]report.GaveUp{}
		}
		all[e.Name()] = report.GaveUp{Since: board.Time(at), Reason: reason}
	}
	return all
}
