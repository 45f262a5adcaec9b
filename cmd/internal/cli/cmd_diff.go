package cli

import (
	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/records"
	"github.com/git-liza/git-liza/gitboard"
)

var _ = add(diffCommand)

func diffCommand() *edge.Command {
	return &edge.Command{
		Name: "diff", Group: "human", Args: "A [B]", Min: 1, Max: 2,
		Short:   "what changed on the board between two commits or times, field by field",
		Long:    "Without B it is the board as it is now.",
		Example: `git liza diff HEAD~1 2h`,
		Run: func(c *edge.Call) error {
			b, err := c.Board()
			if err != nil {
				return err
			}
			old, err := b.ViewAt(c.Ctx, c.Args[0])
			if err != nil {
				return err
			}
			var now *gitboard.View
			if len(c.Args) == 2 {
				now, err = b.ViewAt(c.Ctx, c.Args[1])
			} else {
				now, err = b.View(c.Ctx)
			}
			if err != nil {
				return err
			}
			all, err := records.CompareBoards(old.State, now.State)
			if err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(map[string]any{"from": old.Commit, "to": now.Commit, "changes": all})
			}
			if len(all) == 0 {
				return c.Say("no difference")
			}
			p := c.Page()
			lines := make([]string, len(all))
			for i, ch := range all {
				lines[i] = records.Coloured(p.Paint, p.Fitted(ch.String(), p.Width), ch)
			}
			return c.Print(lines)
		},
	}
}
