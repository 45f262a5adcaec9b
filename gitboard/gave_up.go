package gitboard

import (
	"encoding/json"
	"maps"
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

// Handled returns, by goal and trigger, the marks of what planners of this clone have looked at.
func (c Clone) Handled() map[string]string {
	entries, _ := os.ReadDir(c.own(agentDir))
	all := map[string]string{}
	for _, e := range entries {
		text, _ := c.Kept(path.Join(agentDir, e.Name(), MemoryFile))
		var m struct{ Seen map[string]string }
		_ = json.Unmarshal([]byte(text), &m) // unknown: its planner is woken, and decides
		maps.Copy(all, m.Seen)
	}
	return all
}

// MemoryFile is the file of an agent in which its supervisor keeps what a planner has handled.
const MemoryFile = "memory.json"
