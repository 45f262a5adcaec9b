package cli

import (
	"cmp"
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/roles/prompt"
	"github.com/git-liza/git-liza/roles/supervisor"
	"github.com/git-liza/git-liza/worktrees"
)

var _ = add(func() *call.Command {
	var goal string
	return &call.Command{
		Name: "prompt", Group: "supervision", Args: "ROLE [ID]", Min: 1, Max: 2,
		Short: "print the prompt that a supervisor would give an agent",
		Long: "Without ID it is for the task that the agent has, or that it would get next. Without LIZA_AGENT_ID it is for\n" +
			"the agent that has the task, or the first of the role. Nothing is changed.",
		Flags:   func(f *pflag.FlagSet) { f.StringVar(&goal, "goal", "", "the `GOAL` that a planner is woken for") },
		Example: `git liza prompt coder login`,
		Run: func(ctx context.Context, c *call.Call) error {
			t, err := c.Team(ctx)
			if err != nil {
				return err
			}
			named, err := t.FindRole(c.Args[0])
			if err != nil {
				return err
			}
			role := named.Kind.Role()
			if role == roles.Planner && len(c.Args) > 1 {
				return call.Usage(c.Cmd, "a planner is woken by the board, not by a task")
			}
			if role != roles.Planner && goal != "" {
				return call.Usage(c.Cmd, "--goal is for a planner: a coder or a reviewer works for the goal of its task")
			}
			v, err := c.View(ctx)
			if err != nil {
				return err
			}
			if err := call.Narrowed(v.State, goal); err != nil {
				return err
			}
			in, err := promptInput(ctx, c, v, named, goal)
			if err != nil {
				return err
			}
			text, err := prompt.Build(in)
			if err != nil {
				return err
			}
			return call.Copy(c, map[string]any{"agent": in.Agent, "role": in.Role, "task": in.Task, "prompt": text}, text)
		},
	}
})

// promptInput gathers the input that a supervisor would use.
func promptInput(ctx context.Context, c *call.Call, v *gitboard.View, named *board.Role, goal string) (prompt.Input, error) {
	role := named.Kind.Role()
	root, err := c.Board.Root(ctx)
	if err != nil {
		return prompt.Input{}, err
	}
	in := prompt.Input{State: v.State, Agent: c.AgentID(), Role: role, Root: root}
	if roles.NameOf(in.Agent) != named.Name {
		in.Agent = named.ID(1)
	}
	plans := report.PlansToReview(v.State, in.Agent)
	if role == roles.Planner {
		plans = report.WakesOf(v.State, in.Agent)
	}
	if goal != "" {
		plans = report.Wakes(v.State, goal)
	}
	switch {
	case len(c.Args) > 1:
		in.Task = c.Args[1]
	case len(plans) > 0:
		in.Wake = &plans[0]
	case role != roles.Planner:
		if in.Task, err = workOf(ctx, v, in.Agent, role); err != nil {
			return in, err
		}
		if in.Task == "" {
			return in, board.Refuse(board.CodeNoWork, "there is nothing to hand to "+in.Agent, "git liza status; or name a task: git liza prompt "+c.Args[0]+" ID")
		}
	}
	if t := v.State.Task(in.Task); t != nil && c.AgentID() == "" {
		holder := t.AssignedTo
		if role == roles.CodeReviewer {
			holder = t.ReviewingBy
		}
		if roles.NameOf(holder) == named.Name {
			in.Agent = holder
		}
	}
	return in, cmp.Or(supervisor.Facts(ctx, c.Board, v, named, &in), v.State.Err())
}

// workOf is the task that an agent has or would get next, "" for none.
func workOf(ctx context.Context, v *gitboard.View, id string, role roles.Role) (string, error) {
	if t := report.TaskOf(v.State, id); t != nil && t.Status != board.Approved {
		return t.ID, nil
	}
	if role == roles.CodeReviewer {
		return board.NextReview(v.State, id, nil, func(holder string, _ board.Brief) bool { return v.Takeable(ctx, holder, 0) }), v.State.Err()
	}
	return worktrees.NextClaim(ctx, v, id)
}
