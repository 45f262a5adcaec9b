package recovery

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/doctor"
)

// Recovered is the result of recovering a task.
type Recovered struct {
	OK          bool         `json:"ok"`
	Task        string       `json:"task"`
	Status      board.Status `json:"status"`
	Problems    []Finding    `json:"problems"`
	Freed       string       `json:"freed,omitempty"` // who held it or its review
	Review      bool         `json:"review,omitempty"`
	Worktree    string       `json:"worktree,omitempty"`    // where the next coder continues
	Uncommitted []string     `json:"uncommitted,omitempty"` // files in the worktree

	left int
}

// OnlyHuman returns the human as the actor, and refuses agents.
func OnlyHuman(ctx context.Context, c *call.Call) (board.Actor, error) {
	if id := c.AgentID(); id != "" {
		return board.Actor{}, board.Refuse(board.CodePermission, fmt.Sprintf("%s is for a human, and LIZA_AGENT_ID is %s", c.Cmd.Name, text.Line(id, 40)), "a human runs it in a terminal of their own")
	}
	return c.Human(ctx, "release")
}

func RecoverTask(ctx context.Context, c *call.Call, human board.Actor, id string, force bool) (*Recovered, error) {
	v, err := c.View(ctx)
	if err != nil {
		return nil, err
	}
	t, err := v.State.FindTask(id)
	if err != nil {
		return nil, err
	}
	r := &Recovered{Task: t.ID}
	holder := HolderOf(t)
	live := holder != "" && !v.Takeable(ctx, holder, 0)
	if live && !force {
		return nil, stillHeld(c, t, holder)
	}
	clone, err := c.Board.Clone().ID(ctx)
	if err != nil {
		return nil, err
	}
	if t.Status == board.Claimed && t.Clone != clone {
		by := ""
		if live {
			by = " --force"
		}
		return nil, board.Refuse(board.CodeElsewhere, fmt.Sprintf("the worktree of %s is in another clone", t.ID),
			fmt.Sprintf("recover it there; if that clone is lost: git liza release %s --role coder%s --reason TEXT", t.ID, by))
	}
	concerns, err := doctor.Concerning(ctx, c.Board, t.ID)
	if err != nil {
		return nil, err
	}
	if r.Problems, r.left, err = Repair(ctx, c, true, human, concerns); err != nil {
		return nil, err
	}
	if r.OK = r.left == 0; r.OK && holder != "" {
		if err := freeTask(ctx, c, human, r, t, live); err != nil {
			return nil, err
		}
	}
	return r, describe(ctx, c, r)
}

// HolderOf is the agent whose claim on a task can be ended, "" for none.
func HolderOf(t *board.Task) string {
	switch {
	case t.Status == board.Claimed && !t.HandoffPending:
		return t.AssignedTo
	case t.Status == board.ReadyForReview:
		return t.ReviewingBy
	}
	return ""
}

func stillHeld(c *call.Call, t *board.Task, holder string) error {
	what := "works on"
	if t.Status == board.ReadyForReview {
		what = "reviews"
	}
	return board.Refuse(board.CodeLease, fmt.Sprintf("%s %s %s, and its lease is live", holder, what, t.ID),
		fmt.Sprintf("wait for the lease to expire, or, if you know that its process is gone: git liza %s %s --force", c.Cmd.Name, c.Args[0]))
}

// freeTask ends the claim on a task.
func freeTask(ctx context.Context, c *call.Call, human board.Actor, r *Recovered, t *board.Task, live bool) error {
	r.Freed, r.Review = HolderOf(t), t.Status == board.ReadyForReview
	_, err := worktrees.End(ctx, c.Board, gitboard.Request{Actor: human}, &board.Release{About: board.About{Task: t.ID}, Reason: "recovered, its agent was gone", Force: live, KeepWork: !r.Review})
	if refusal := (*board.Refusal)(nil); errors.As(err, &refusal) && refusal.Code == board.CodeLease {
		return stillHeld(c, t, r.Freed) // its holder came back
	}
	return err
}

// describe fills in the present state of the task.
func describe(ctx context.Context, c *call.Call, r *Recovered) error {
	v, err := c.View(ctx)
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
	root, err := c.Board.Root(ctx)
	if err != nil {
		return err
	}
	dirty, err := c.Board.Repo().Worktree(filepath.Join(root, filepath.FromSlash(t.Worktree))).Status(ctx)
	for _, e := range dirty {
		r.Uncommitted = append(r.Uncommitted, e.Path)
	}
	return err
}

// Lines describe what was done.
func (r *Recovered) Lines() []string {
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
			with = text.Plural(n, "uncommitted file")
		}
		lines = append(lines, fmt.Sprintf("%s: freed from %s; the next coder continues in %s, which holds its commits and %s", r.Task, r.Freed, r.Worktree, with))
	case len(r.Problems) == 0:
		lines = append(lines, fmt.Sprintf("%s is %s, and there is nothing to recover", r.Task, r.Status))
	}
	return lines
}

// Unfinished is an error if anything is left to a human.
func (r *Recovered) Unfinished() error {
	if r.left == 0 {
		return nil
	}
	return &call.Outcome{Exit: 1, Code: call.CodeProblems, Message: fmt.Sprintf("%s of %s left; it was not freed", text.Plural(r.left, "problem"), r.Task), Hint: ""}
}
