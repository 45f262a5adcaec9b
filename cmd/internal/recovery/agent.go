package recovery

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// RecoverAgent recovers the work of an agent that has ended, and reports it.
func RecoverAgent(ctx context.Context, c *call.Call, id string, force bool) error {
	human, err := OnlyHuman(ctx, c)
	if err != nil {
		return err
	}
	if !roles.IsID(id) {
		return board.Refuse(board.CodeInvalid, roles.NotAnID(id).Error(), "git liza status")
	}
	v, err := c.View(ctx)
	if err != nil {
		return err
	}
	if _, gave := c.Board.Clone().GaveUp()[id]; gave && v.State.Agent(id) == nil {
		return errors.Join(c.Board.Clone().DropGaveUp(id), printRecovered(c, id, nil, false, true))
	}
	if v.State.Agent(id) == nil {
		unknown := board.Refuse(board.CodeUnknownAgent, id+" is not registered", "git liza status")
		unknown.Unknown = id
		return errors.Join(v.State.Err(), unknown)
	}
	held, err := v.Lease(ctx, id)
	if err != nil {
		return err
	}
	live := !v.Takeable(ctx, id, 0)
	if live && !force {
		return board.Refuse(board.CodeLease, fmt.Sprintf("the lease of %s is live, until %s", id, held.Expires),
			"wait until then, or, if you know that its process is gone: git liza recover-agent "+id+" --force")
	}
	tasks := []*Recovered{}
	var left error
	for _, brief := range v.State.Tasks() {
		t := v.State.Task(brief.ID)
		if t == nil || HolderOf(t) != id {
			continue
		}
		r, err := RecoverTask(ctx, c, human, t.ID, force)
		if err != nil {
			left = errors.Join(left, err)
			continue
		}
		tasks, left = append(tasks, r), errors.Join(left, r.Unfinished())
	}
	if left == nil && live {
		left = endLease(ctx, c, id, held)
	}
	if left == nil {
		left = c.Board.Clone().DropGaveUp(id)
	}
	if err := errors.Join(v.State.Err(), printRecovered(c, id, tasks, live, left == nil)); err != nil {
		return err
	}
	return left
}

// endLease ends a lease unless its holder renewed it in the meantime, or a release ended it.
func endLease(ctx context.Context, c *call.Call, id string, held *lease.Held) error {
	now, err := lease.Read(ctx, c.Board.Log().Store(), id)
	if err != nil || now == nil {
		return err
	}
	err = c.Board.Log().Store().UpdateRefs(ctx, []plumbing.RefUpdate{lease.Fence(id, held)}, "git liza: recover-agent")
	if errors.Is(err, git.ErrRefMoved) {
		return board.Refuse(board.CodeLease, id+" has renewed its lease just now: its process is alive", "end that process first")
	}
	return err
}

func printRecovered(c *call.Call, id string, tasks []*Recovered, live, ok bool) error {
	if c.JSON {
		return c.PrintJSON(map[string]any{"ok": ok, "agent": id, "tasks": tasks, "lease_ended": live && ok})
	}
	var lines []string
	for _, r := range tasks {
		lines = append(lines, r.Lines()...)
	}
	switch {
	case !ok:
	case live:
		lines = append(lines, id+": its lease is ended, and the id can be registered at once; should its process be alive after all, end it")
	case len(tasks) > 0:
		lines = append(lines, id+": the id can be registered")
	default:
		lines = append(lines, id+" holds nothing, and its lease has expired: there is nothing to recover")
	}
	if len(lines) == 0 {
		return nil
	}
	return c.Say(lines...)
}
