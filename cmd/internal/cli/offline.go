package cli

import (
	"fmt"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/roles"
)

// queue keeps an operation for the next sync; nobody is registered for it now.
func (c *call) queue(p board.Payload) error {
	b, err := c.board()
	if err != nil {
		return err
	}
	var actor board.Actor
	if id := c.agentID(); id == "" {
		actor, err = c.human(b, p.Op())
	} else {
		actor.ID = id
		if actor.Role, err = roles.Of(id); err == nil && !roles.May(actor.Role, p.Op()) {
			err = board.Refuse("permission", fmt.Sprintf("%s is a %s, and %s is not for a %s", id, actor.Role, c.cmd.name, actor.Role), "it takes "+roleList(p.Op()))
		}
	}
	if err != nil {
		return err
	}
	q, err := b.Queue(actor, c.request, c.allowSecret, p)
	if err != nil {
		return err
	}
	return c.answer(map[string]any{"queued": true, "op": q.Op, "request": q.Request}, q.Op+": kept for the next git liza sync")
}
