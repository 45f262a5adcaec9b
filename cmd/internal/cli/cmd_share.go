package cli

import (
	"errors"
	"fmt"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/oplog"
)

func shareCommand() *command {
	return &command{
		name: "share", group: "setting up", args: "REMOTE", min: 1, max: 1,
		short: "share the board with other clones, by a remote",
		long: `Board and integration are pushed together, and from then on the remote is the judge: an operation stands when
the remote has taken it. Other clones join with git liza init, or with this where several remotes have a board. A
plain fetch leaves the board, the branches of tasks and integration alone from now on; git liza brings them itself.`,
		run: func(c *call) error {
			if err := c.humanOnly(); err != nil {
				return err
			}
			b, err := c.board()
			if err != nil {
				return err
			}
			tip, err := b.Repo().Ref(c.ctx, oplog.Ref)
			if err != nil {
				return err
			}
			err = b.Share(c.ctx, c.args[0])
			if errors.As(err, new(*gitio.NetworkError)) && !errors.Is(err, gitio.ErrRejected) && b.Remote() == "" {
				return &outcome{3, "network", err.Error() + "; nothing was shared", "when it can be reached: git liza share " + board.Line(c.args[0], 60)}
			}
			if err != nil {
				return err
			}
			if tip.IsZero() {
				return c.joined(b)
			}
			v, err := b.View(c.ctx)
			if err != nil {
				return err
			}
			return c.answer(map[string]any{"remote": b.Remote(), "commit": v.Commit},
				fmt.Sprintf("the board is shared by %s\nother clones join it: git liza init", board.Line(b.Remote(), 60)))
		},
	}
}

// humanOnly refuses an agent.
func (c *call) humanOnly() error {
	_, err := c.whoActs("init") // which is a human's, too
	return err
}
