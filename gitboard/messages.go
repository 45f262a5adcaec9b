package gitboard

import (
	"path"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// shownFile holds the ids of the notes that this clone has shown to an agent. The agent's next
// operation records them.
func shownFile(agent string) string { return path.Join("agents", agent, "shown") }

// Unread lists the notes for an agent and its task that were not shown to it, oldest first.
func (v *View) Unread(agent string) ([]*board.Note, error) {
	unread, shown, err := v.notes(agent, "")
	return slices.DeleteFunc(unread, func(n *board.Note) bool { return slices.Contains(shown, n.ID) }), err
}

// notes lists the notes that the board does not record as read by an agent, and the ids of those
// that this clone has shown to it. A task of "" is the agent's own.
func (v *View) notes(agent, task string) (unread []*board.Note, shown []string, err error) {
	s := v.State.ForRules()
	if t := report.TaskOf(s, agent); task == "" && t != nil {
		task = t.ID
	}
	text, err := v.board.Clone().Kept(shownFile(agent))
	if err != nil {
		return nil, nil, err
	}
	unread = board.Unread(s, agent, task)
	return unread, strings.Fields(text), s.Err()
}

// Show keeps in this clone that notes were shown to an agent.
func (v *View) Show(agent string, ids ...string) error {
	unread, shown, err := v.notes(agent, "")
	if err != nil {
		return err
	}
	for _, n := range unread {
		if slices.Contains(shown, n.ID) {
			ids = append(ids, n.ID)
		}
	}
	return v.board.Clone().Keep(shownFile(agent), strings.Join(ids, "\n"))
}

// read lists the notes that an operation of an actor records as shown to it.
func (v *View) read(a board.Actor, task string) (ids []string, err error) {
	if a.Role == roles.Human || v.board.Repo() == nil {
		return nil, nil
	}
	if kept, err := v.board.Clone().Kept(shownFile(a.ID)); err != nil || kept == "" {
		return nil, err
	}
	unread, shown, err := v.notes(a.ID, task)
	for _, n := range unread {
		if slices.Contains(shown, n.ID) {
			ids = append(ids, n.ID)
		}
	}
	return ids, err
}
