package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/acts"
	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/recovery"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/worktrees"
)

var _ = add(func() *call.Command {
	var afresh bool
	var allow int
	var file string
	return &call.Command{
		Name: "answer", Group: "human", Args: `ID ["TEXT"]`, Min: 1, Max: 2, Writes: true,
		Short: "answer the questions of a BLOCKED task, which then continues, or a planner's note",
		Long: `Question and answer are recorded together, and shown to the agent that continues. ID is a task, or a note that is
for you (note-3): its planner reads the answer.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&afresh, "afresh", false, "the next coder starts over; the work so far is kept aside")
			f.IntVar(&allow, "allow", 0, allowUsage)
			f.StringVar(&file, "text-file", "", "a `FILE` that holds the text")
		},
		Example: `git liza answer login "Eight characters at least"`,
		Run: func(ctx context.Context, c *call.Call) error {
			text, err := c.Text("text", strings.Join(c.Args[1:], ""), file)
			if err != nil {
				return err
			}
			return c.Show(acts.Answer(ctx, c, &board.Answer{About: board.About{Task: c.Args[0]}, Text: text, Afresh: afresh, Allow: allow}))
		},
	}
})

// allowUsage describes --allow.
const allowUsage = "`N` more iterations and rejections than the limits; for a human"

var _ = add(func() *call.Command {
	var same, afresh bool
	var to, assessment string
	var budget, allow int
	return &call.Command{
		Name: "unblock", Group: "planner", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short: "let a BLOCKED task continue",
		Long: `The next coder continues with the work so far, in the same worktree and branch. With --afresh the next coder starts over, and the
work so far is kept in the attic. A task at its limit of iterations or rejections is allowed half as many again, by a
planner once, then by a human. After two failed attempts it must be amended in done_when, scope or spec first, or superseded.
git liza answer unblocks with an answer to the questions.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&same, "same-coder", false, "the same coder continues")
			f.BoolVar(&afresh, "afresh", false, "the next coder starts over; the work so far is kept aside")
			f.StringVar(&to, "to", "", "the one `CODER` who may continue with the work")
			f.IntVar(&budget, "budget", 0, "the `TOKENS` that the task may use from now on, in all its runs; for a human")
			f.IntVar(&allow, "allow", 0, allowUsage)
			f.StringVar(&assessment, "assessment", "", "your assessment; needed after a review deadlock")
		},
		Example: `git liza unblock login --to coder-1`,
		Run: func(ctx context.Context, c *call.Call) error {
			mode := board.UnblockKeepWork
			switch {
			case same && afresh:
				return call.Usage(c.Cmd, "--same-coder and --afresh exclude each other")
			case same:
				mode = board.UnblockSameCoder
			case afresh:
				mode = board.UnblockFresh
			}
			return c.Show(acts.Unblock(ctx, c, &board.Unblock{About: board.About{Task: c.Args[0]}, Mode: mode, To: to, Assessment: assessment, Budget: budget, Allow: allow}))
		},
	}
})

var _ = add(func() *call.Command {
	var reason string
	return &call.Command{
		Name: "reassign", Group: "planner", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short:   "free a REJECTED task for another coder",
		Flags:   func(f *pflag.FlagSet) { f.StringVar(&reason, "reason", "", "why") },
		Example: `git liza reassign login --reason "coder-2 is gone"`,
		Run: func(ctx context.Context, c *call.Call) error {
			return c.Just(ctx, &board.Reassign{About: board.About{Task: c.Args[0]}, Reason: reason})
		},
	}
})

var _ = add(func() *call.Command {
	var role, reason string
	var force bool
	return &call.Command{
		Name: "release", Group: "supervision", Args: "ID", Min: 1, Max: 1, Writes: true,
		Short: "end a coder's claim or a reviewer's; work is kept",
		Long:  "Its holder may, anyone once the holder's lease has expired, and a human by force.",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&role, "role", "both", "whose claim: coder, reviewer or both")
			f.BoolVar(&force, "force", false, "even if the lease is live (a human)")
			f.StringVar(&reason, "reason", "", "why")
		},
		Example: `git liza release login --role coder --reason "its process has ended"`,
		Run: func(ctx context.Context, c *call.Call) error {
			return c.Show(acts.Release(ctx, c, c.Args[0], role, reason, force))
		},
	}
})

var _ = add(func() *call.Command {
	var role string
	return &call.Command{
		Name: "sweep", Group: "supervision", Max: 0,
		Short: "release every claim whose lease has expired; work is kept",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&role, "role", "both", "whose claims: coder, reviewer or both")
		},
		Example: `git liza sweep --role reviewer`,
		Run: func(ctx context.Context, c *call.Call) error {
			actor, err := c.Actor(ctx, "release")
			if err != nil {
				return err
			}
			of, known := map[string]roles.Role{"coder": roles.Coder, "reviewer": roles.CodeReviewer, "both": ""}[role]
			if !known {
				return call.NoHolder(role)
			}
			swept, err := worktrees.Sweep(ctx, c.Board, actor, of)
			if err != nil {
				return err
			}
			lines := []string{"no claim has an expired lease"}
			if len(swept) > 0 {
				lines = nil
			}
			for _, s := range swept {
				lines = append(lines, s.String())
			}
			return c.Answer(map[string]any{"swept": call.Every(swept)}, strings.Join(lines, "\n"))
		},
	}
})

var _ = add(func() *call.Command {
	var force bool
	return &call.Command{
		Name: "recover-task", Group: "supervision", Args: "ID", Min: 1, Max: 1,
		Short: "after a crash, repair a task and free it, with all its work, from a holder that is gone",
		Long: `For a human. What doctor would repair for this task is repaired. If its holder's lease has expired, the claim is
released: the next coder continues in the same worktree and branch, with everything that lies there; a submission
waits for the next reviewer.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&force, "force", false, "even if the holder's lease is live: for when you know that its process is gone")
		},
		Example: `git liza recover-task login`,
		Run: func(ctx context.Context, c *call.Call) error {
			human, err := recovery.OnlyHuman(ctx, c)
			if err != nil {
				return err
			}
			r, err := recovery.RecoverTask(ctx, c, human, c.Args[0], force)
			if err != nil {
				return err
			}
			return errors.Join(call.Tell(c, r, r.Lines()...), r.Unfinished())
		},
	}
})
