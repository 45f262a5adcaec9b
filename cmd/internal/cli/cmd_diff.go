package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/records"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/plain"
)

var _ = add(diffCommand)

func diffCommand() *edge.Command {
	var since bool
	return &edge.Command{
		Name: "diff", Group: "human", Args: "A [B]", Min: 1, Max: 2,
		Short: "show what changed on the board between two commits or times, field by field; or a task's submission",
		Long: `Without B it is the board as it is now. A task's id shows the patch of its last submission, as git liza review does with
--diff.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&since, "since-last", false, "of a task: what is new since the submission before")
		},
		Example: "git liza diff liza/state~1\ngit liza diff login --since-last",
		Run: func(ctx context.Context, c *edge.Call) error {
			b := c.Board
			v, err := b.View(ctx)
			if err != nil {
				return err
			}
			if t := v.State.Task(c.Args[0]); t != nil && len(c.Args) == 1 {
				return screen.ShowPatch(ctx, c, t, since)
			}
			if since {
				return edge.Usage(c.Cmd, "--since-last is for a task, and %s is not one", plain.Line(c.Args[0], 70))
			}
			old, err := b.ViewAt(ctx, c.Args[0])
			if err != nil {
				return err
			}
			var now *gitboard.View
			if len(c.Args) == 2 {
				now, err = b.ViewAt(ctx, c.Args[1])
			} else {
				now, err = b.View(ctx)
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
