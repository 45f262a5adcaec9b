package cli

import (
	"context"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/gitboard/board"
)

var _ = add(answerCommand)

func answerCommand() *edge.Command {
	var afresh bool
	var file string
	return &edge.Command{
		Name: "answer", Group: "human", Args: `ID ["TEXT"]`, Min: 1, Max: 2, Writes: true,
		Short: "answer the questions of a BLOCKED task, which then continues, or a planner's note",
		Long: `Question and answer are recorded together, and shown to the agent that continues. ID is a task, or a note that is
for you (note-3): its planner reads the answer.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&afresh, "afresh", false, "the next coder starts over; the work so far is kept aside")
			f.StringVar(&file, "text-file", "", "a `FILE` that holds the text")
		},
		Example: `git liza answer login "Eight characters at least"`,
		Run: func(ctx context.Context, c *edge.Call) error {
			text, err := c.Text("text", strings.Join(c.Args[1:], ""), file)
			if err != nil {
				return err
			}
			v, err := c.View(ctx)
			if err != nil {
				return err
			}
			p := &board.Answer{About: board.About{Task: c.Args[0]}, Text: text, Afresh: afresh}
			if v.State.Task(p.Task) == nil && strings.HasPrefix(p.Task, "note-") {
				p.Note, p.Task = p.Task, ""
				return c.Just(ctx, p)
			}
			actor, err := c.Actor(ctx, "answer")
			if err != nil {
				return err
			}
			return c.End(ctx, actor, p, screen.Becomes)
		},
	}
}
