package cli

import (
	"io"
	"path/filepath"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/roles"
	"github.com/git-liza/git-liza/roles/prompt"
	"github.com/git-liza/git-liza/worktrees"
)

func promptCommand() *command {
	return &command{
		name: "prompt", group: "supervision", args: "ROLE [ID]", min: 1, max: 2,
		short: "print what a supervisor would hand to an agent",
		long: "Without ID it is for the task that the agent has, or that it would get next. Without LIZA_AGENT_ID it is for\n" +
			"whoever has the task, or the first of the role. Nothing is changed.",
		run: func(c *call) error {
			role, err := roles.Parse(c.args[0])
			if err != nil {
				return board.Refuse("invalid", err.Error(), "git liza prompt coder")
			}
			if role == roles.Planner && len(c.args) > 1 {
				return usage(c.cmd, "a planner is woken by the board, not by a task")
			}
			v, err := c.view()
			if err != nil {
				return err
			}
			in, err := c.promptInput(v, role)
			if err != nil {
				return err
			}
			text, err := prompt.Build(in)
			if err != nil {
				return err
			}
			if c.json {
				return c.printJSON(map[string]any{"agent": in.Agent, "role": in.Role, "task": in.Task, "prompt": text})
			}
			_, err = io.WriteString(c.app.Stdout, text)
			return err
		},
	}
}

// promptInput gathers what a supervisor would.
func (c *call) promptInput(v *gitboard.View, role roles.Role) (prompt.Input, error) {
	root, err := c.opened.Root(c.ctx)
	if err != nil {
		return prompt.Input{}, err
	}
	in := prompt.Input{State: v.State, Agent: c.agentID(), Role: role, Root: root}
	if r, err := roles.Of(in.Agent); err != nil || r != role {
		in.Agent = role.ID(1)
	}
	if role == roles.Planner {
		if wakes := board.Wakes(v.State); len(wakes) > 0 {
			in.Wake = &wakes[0]
		}
		return in, v.State.Err()
	}
	if len(c.args) > 1 {
		in.Task = c.args[1]
	} else if in.Task, err = c.workOf(v, in.Agent, role); err != nil {
		return in, err
	}
	if in.Task == "" {
		return in, board.Refuse("no-work", "there is nothing to hand to "+in.Agent, "git liza status; or name a task: git liza prompt "+c.args[0]+" ID")
	}
	t, err := v.State.FindTask(in.Task)
	if err != nil {
		return in, err
	}
	in.Worktree = filepath.Join(root, filepath.FromSlash(board.WorktreeOf(t.ID)))
	if role == roles.CodeReviewer {
		if c.agentID() == "" && t.ReviewingBy != "" {
			in.Agent = t.ReviewingBy
		}
		if t.ReviewCommit != "" {
			in.Review, err = c.opened.Submission(c.ctx, v, t)
		}
		return in, err
	}
	if holder, err := roles.Of(t.AssignedTo); c.agentID() == "" && err == nil && holder == role {
		in.Agent = t.AssignedTo
	}
	return in, nil
}

// workOf is the task that an agent has, or that it would get next; "" for none.
func (c *call) workOf(v *gitboard.View, id string, role roles.Role) (string, error) {
	if t := taskOf(v.State, id); t != nil && t.Status != board.Approved {
		return t.ID, nil
	}
	if role == roles.CodeReviewer {
		return board.NextReview(v.State, id, nil, func(holder string, _ board.Brief) bool { return v.Takeable(c.ctx, holder, 0) }), v.State.Err()
	}
	return worktrees.NextClaim(c.ctx, v, id)
}
