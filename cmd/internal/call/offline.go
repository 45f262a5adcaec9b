package call

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

// Queue keeps an operation for the next sync, without registering anybody now.
func (c *Call) Queue(ctx context.Context, p board.Payload) error {
	b := c.Board
	var actor board.Actor
	var err error
	if id := c.AgentID(); id == "" {
		actor, err = c.Human(ctx, p.Op())
	} else {
		actor.ID = id
		if err := c.OwnName(id); err != nil {
			return err
		}
		if actor.Role, err = b.RoleOf(ctx, id); err == nil && !board.May(actor.Role, p.Op()) {
			err = board.Refuse(board.CodePermission, fmt.Sprintf("%s is a %s, and %s is not for a %s", id, actor.Role, c.Cmd.Name, actor.Role), "it takes "+roleList(p.Op()))
		}
	}
	if err != nil {
		return err
	}
	q, err := b.Queue(ctx, c.Asks(actor), p)
	if err != nil {
		return err
	}
	return c.Answer(map[string]any{"queued": true, "op": q.Op, "request": q.Request}, q.Op+": kept for the next git liza sync")
}

// Deferred reports an operation on a task that is deferred, with lines below it, or returns err.
func Deferred(c *Call, task string, q *gitboard.Queued, err error, fields map[string]any, lines []string) error {
	if err != nil {
		return err
	}
	fields["deferred"], fields["op"], fields["task"], fields["request"] = true, q.Op, task, q.Request
	line := q.Op + "(" + task + "): kept here; it goes to the remote with the next push, and before your first commit"
	return c.Answer(fields, strings.Join(append([]string{line}, lines...), "\n"))
}
