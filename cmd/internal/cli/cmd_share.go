package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/setup"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/plain"
	"github.com/git-liza/git-liza/gitboard/remote"
)

var _ = add(shareCommand)

func shareCommand() *edge.Command {
	return &edge.Command{
		Name: "share", Group: "setting up", Args: "REMOTE", Min: 1, Max: 1,
		Short: "share the board with other clones, by a remote",
		Long: `Board and integration are pushed together, and from then on the remote is the judge: an operation counts when
the remote has taken it. Other clones join with git liza init, or with this where several remotes have a board. A
plain fetch leaves the board, the branches of tasks (liza/task/ID there) and integration alone from now on; git liza
brings them itself.`,
		Example: `git liza share origin`,
		Run: func(ctx context.Context, c *edge.Call) error {
			if err := setup.HumanOnly(ctx, c); err != nil {
				return err
			}
			b := c.Board
			tip, err := b.Repo().Ref(ctx, git.BoardRef)
			if err != nil {
				return err
			}
			home, err := b.Repo().Ref(ctx, git.HomeRef)
			if err != nil {
				return err
			}
			joins := tip.IsZero() || home.IsZero() && b.Remote() == ""
			share, warning := func() error { return b.Share(ctx, c.Args[0]) }, ""
			if joins {
				warning, err = setup.Guarded(ctx, c, share)
			} else {
				err = share()
			}
			again := "git liza share " + plain.Line(c.Args[0], 60)
			if unclear := (*remote.UnclearError)(nil); errors.As(err, &unclear) {
				return &edge.Outcome{Exit: 3, Code: edge.CodeNetwork, Message: err.Error(), Hint: "when it can be reached: " + again + "; until then nothing is written here"}
			}
			if errors.As(err, new(*gitio.NetworkError)) && !errors.Is(err, gitio.ErrRejected) && b.Remote() == "" {
				return &edge.Outcome{Exit: 3, Code: edge.CodeNetwork, Message: err.Error() + "; nothing was shared", Hint: "when it can be reached: " + again}
			}
			if err != nil {
				return err
			}
			if joins {
				return setup.Joined(ctx, c, warning)
			}
			v, err := b.View(ctx)
			if err != nil {
				return err
			}
			return c.Answer(map[string]any{"remote": b.Remote(), "commit": v.Commit},
				fmt.Sprintf("the board is shared by %s\nother clones join it: git liza init", plain.Line(b.Remote(), 60)))
		},
	}
}
