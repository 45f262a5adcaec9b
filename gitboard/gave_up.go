package gitboard

import (
	"os"
	"path"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
)

// agentDir is a clone's directory of agents' files, with one directory for each.
const agentDir = "agents"

// gaveUpFile is the file that records when and why an agent's supervisor stopped by itself.
func gaveUpFile(agent string) string { return path.Join(agentDir, agent, "gave-up") }

// GiveUp records in this clone that an agent's supervisor has stopped, and why.
func (c Clone) GiveUp(agent, reason string) error {
	return c.Keep(gaveUpFile(agent), string(board.At(c.board.Now()))+" "+strings.ReplaceAll(reason, "\n", " "))
}

// DropGaveUp removes that record: the agent was started again, or a human has dealt with it.
func (c Clone) DropGaveUp(agent string) error { return c.Discard(gaveUpFile(agent)) }

// GaveUp returns the agents of this clone that gave up and were not started again.
func (c Clone) GaveUp() map[string]report.GaveUp {
	entries, _ := os.ReadDir(c.own(agentDir)) // empty if no supervisor has run
	var all map[string]report.GaveUp
	for _, e := range entries {
		text, err := c.Kept(gaveUpFile(e.Name()))
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
