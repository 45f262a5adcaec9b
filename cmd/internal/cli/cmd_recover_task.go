package cli

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/worktrees"
)

func recoverTaskCommand() *command {
	var force bool
	return &command{
		name: "recover-task", group: "supervision", args: "ID", min: 1, max: 1,
		short: "after a crash: mend a task, and free it with all its work from a holder that is gone",
		long: `For a human. What doctor would mend for this task is mended. If its holder's lease has run out, the claim is
released: the next coder goes on in the same worktree and branch, with everything that lies there; a submission
waits for the next reviewer.`,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&force, "force", false, "though the holder's lease is live: you know that its process is gone")
		},
		run: func(c *call) error {
			human, err := c.onlyHuman()
			if err != nil {
				return err
			}
			r, err := c.recoverTask(human, c.args[0], force)
			if err != nil {
				return err
			}
			if !c.json {
				err = c.say(r.lines()...)
			} else {
				err = c.printJSON(r)
			}
			return errors.Join(err, r.unfinished())
		},
	}
}

// recovered is a task that was looked after, and what was done.
type recovered struct {
	OK          bool         `json:"ok"`
	Task        string       `json:"task"`
	Status      board.Status `json:"status"`
	Problems    []finding    `json:"problems"`
	Freed       string       `json:"freed,omitempty"` // who held it, or its review
	Review      bool         `json:"review,omitempty"`
	Worktree    string       `json:"worktree,omitempty"`    // that the next coder goes on in
	Uncommitted []string     `json:"uncommitted,omitempty"` // files there

	left int
}

// onlyHuman is the human who acts, for what no agent may do.
func (c *call) onlyHuman() (board.Actor, error) {
	b, err := c.board()
	if err != nil {
		return board.Actor{}, err
	}
	if id := c.agentID(); id != "" {
		return board.Actor{}, board.Refuse("permission", fmt.Sprintf("%s is for a human, and LIZA_AGENT_ID is %s", c.cmd.name, board.Line(id, 40)), "a human runs it in a terminal of their own")
	}
	return c.human(b, "release")
}

func (c *call) recoverTask(human board.Actor, id string, force bool) (*recovered, error) {
	v, err := c.view()
	if err != nil {
		return nil, err
	}
	t, err := v.State.FindTask(id)
	if err != nil {
		return nil, err
	}
	r := &recovered{Task: t.ID}
	holder := holderOf(t)
	live := holder != "" && !v.Takeable(c.ctx, holder, 0)
	if live && !force {
		return nil, c.stillHeld(t, holder)
	}
	clone, err := c.opened.CloneID()
	if err != nil {
		return nil, err
	}
	if t.Status == board.Claimed && t.Clone != clone {
		return nil, board.Refuse("clone", fmt.Sprintf("the worktree of %s is in another clone", t.ID),
			fmt.Sprintf("recover it there; if that clone is lost: git liza release %s --force --reason TEXT", t.ID))
	}
	concerns, err := worktrees.Concerning(c.ctx, c.opened, t.ID)
	if err != nil {
		return nil, err
	}
	if r.Problems, r.left, err = c.mend(true, human, concerns); err != nil {
		return nil, err
	}
	if r.OK = r.left == 0; r.OK && holder != "" {
		if err := c.freeTask(human, r, t, live); err != nil {
			return nil, err
		}
	}
	return r, c.describe(r)
}

// holderOf is whoever has a claim on a task that can be ended, "" for nobody.
func holderOf(t *board.Task) string {
	switch {
	case t.Status == board.Claimed && !t.HandoffPending:
		return t.AssignedTo
	case t.Status == board.ReadyForReview:
		return t.ReviewingBy
	}
	return ""
}

func (c *call) stillHeld(t *board.Task, holder string) error {
	what := "works on"
	if t.Status == board.ReadyForReview {
		what = "reviews"
	}
	return board.Refuse("lease", fmt.Sprintf("%s %s %s, and its lease is live", holder, what, t.ID),
		fmt.Sprintf("wait for the lease to run out, or, if you know that its process is gone: git liza %s %s --force", c.cmd.name, c.args[0]))
}

// freeTask ends the claim on a task.
func (c *call) freeTask(human board.Actor, r *recovered, t *board.Task, live bool) error {
	r.Freed, r.Review = holderOf(t), t.Status == board.ReadyForReview
	_, err := worktrees.End(c.ctx, c.opened, gitboard.Request{Actor: human}, &board.Release{About: board.About{Task: t.ID}, Reason: "recovered, its agent was gone", Force: live, KeepWork: !r.Review})
	if refusal := (*board.Refusal)(nil); errors.As(err, &refusal) && refusal.Code == "lease" {
		return c.stillHeld(t, r.Freed) // it has come back
	}
	return err
}

// describe fills in how a task stands now.
func (c *call) describe(r *recovered) error {
	v, err := c.view()
	if err != nil {
		return err
	}
	t, err := v.State.FindTask(r.Task)
	if err != nil {
		return err
	}
	r.Status = t.Status
	if r.Freed == "" || r.Review {
		return nil
	}
	r.Worktree = t.Worktree
	root, err := c.opened.Root(c.ctx)
	if err != nil {
		return err
	}
	dirty, err := c.opened.Repo().Status(c.ctx, filepath.Join(root, filepath.FromSlash(t.Worktree)))
	for _, e := range dirty {
		r.Uncommitted = append(r.Uncommitted, e.Path)
	}
	return err
}

// lines tell a human what was done.
func (r *recovered) lines() []string {
	var lines []string
	for _, f := range r.Problems {
		lines = append(lines, f.String())
	}
	switch {
	case r.Review:
		lines = append(lines, fmt.Sprintf("%s: freed from %s; the submission waits for the next reviewer", r.Task, r.Freed))
	case r.Freed != "":
		with := "nothing uncommitted"
		if n := len(r.Uncommitted); n > 0 {
			with = plural(n, "uncommitted file")
		}
		lines = append(lines, fmt.Sprintf("%s: freed from %s; the next coder goes on in %s, which holds its commits and %s", r.Task, r.Freed, r.Worktree, with))
	case len(r.Problems) == 0:
		lines = append(lines, fmt.Sprintf("%s is %s, and there is nothing to recover", r.Task, r.Status))
	}
	return lines
}

// unfinished is the error when something is left to a human.
func (r *recovered) unfinished() error {
	if r.left == 0 {
		return nil
	}
	return &outcome{1, "problems", fmt.Sprintf("%s of %s left; it was not freed", plural(r.left, "problem"), r.Task), ""}
}
