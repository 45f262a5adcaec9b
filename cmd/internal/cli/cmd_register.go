package cli

import (
	"context"
	"fmt"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(registerCommand)

func registerCommand() *edge.Command {
	return &edge.Command{
		Name: "register", Group: "any agent", Args: "[ID]", Max: 1, Writes: true,
		Short:   "register an agent, with a new session",
		Long:    "The id is LIZA_AGENT_ID, or the argument. It must be free, or its lease must have expired.",
		Example: `git liza register coder-1`,
		Run: func(ctx context.Context, c *edge.Call) error {
			b := c.Board
			id := edge.First(c.Args)
			if id == "" {
				id = c.AgentID()
			}
			if id == "" {
				return edge.Usage(c.Cmd, "no id is given: name one, like coder-1, or set LIZA_AGENT_ID")
			}
			if _, err := b.RoleOf(ctx, id); err != nil {
				return err
			}
			if c.Supervised() {
				return board.Refuse(board.CodePermission, id+" is supervised: its supervisor has registered it", "git liza prime")
			}
			if err := c.OwnName(id); err != nil {
				return err
			}
			done, actor, err := b.Register(ctx, id, c.Request, c.Process())
			if err != nil {
				return err
			}
			return c.Report(done, map[string]any{"session": actor.Session}, fmt.Sprintf("next: eval \"$(git liza env %s)\"", id))
		},
	}
}
