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

// RecoveredAgent is what became of an agent that has ended.
type RecoveredAgent struct {
	OK         bool         `json:"ok"`
	Agent      string       `json:"agent"`
	Tasks      []*Recovered `json:"tasks"`
	LeaseEnded bool         `json:"lease_ended"`

	live bool
}

// RecoverAgent recovers the work of an agent that has ended. With an error, the result is what was
// recovered before, nil for nothing.
func RecoverAgent(ctx context.Context, c *call.Call, id string, force bool) (*RecoveredAgent, error) {
	human, err := OnlyHuman(ctx, c)
	if err != nil {
		return nil, err
	}
	if !roles.IsID(id) {
		return nil, board.Refuse(board.CodeInvalid, roles.NotAnID(id).Error(), "git liza status")
	}
	v, err := c.View(ctx)
	if err != nil {
		return nil, err
	}
	if _, gave := c.Board.Clone().GaveUp()[id]; gave && v.State.Agent(id) == nil {
		return &RecoveredAgent{OK: true, Agent: id}, c.Board.Clone().DropGaveUp(id)
	}
	if v.State.Agent(id) == nil {
		unknown := board.Refuse(board.CodeUnknownAgent, id+" is not registered", "git liza status")
		unknown.Unknown = id
		return nil, errors.Join(v.State.Err(), unknown)
	}
	held, err := v.Lease(ctx, id)
	if err != nil {
		return nil, err
	}
	live := !v.Takeable(ctx, id, 0)
	if live && !force {
		return nil, board.Refuse(board.CodeLease, fmt.Sprintf("the lease of %s is live, until %s", id, held.Expires),
			"wait until then, or, if you know that its process is gone: git liza recover-agent "+id+" --force")
	}
	all := &RecoveredAgent{Agent: id, Tasks: []*Recovered{}, live: live}
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
		all.Tasks, left = append(all.Tasks, r), errors.Join(left, r.Unfinished())
	}
	if left == nil && live {
		left = endLease(ctx, c, id, held)
	}
	if left == nil {
		left = c.Board.Clone().DropGaveUp(id)
	}
	all.OK = left == nil
	all.LeaseEnded = live && all.OK
	return all, errors.Join(v.State.Err(), left)
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

// Lines describes it for a human.
func (r *RecoveredAgent) Lines() []string {
	if r == nil {
		return nil
	}
	var lines []string
	for _, t := range r.Tasks {
		lines = append(lines, t.Lines()...)
	}
	switch {
	case !r.OK:
	case r.live:
		lines = append(lines, r.Agent+": its lease is ended, and the id can be registered at once; should its process be alive after all, end it")
	case len(r.Tasks) > 0:
		lines = append(lines, r.Agent+": the id can be registered")
	default:
		lines = append(lines, r.Agent+" holds nothing, and its lease has expired: there is nothing to recover")
	}
	return lines
}

// Print prints it, and passes the error on.
func (r *RecoveredAgent) Print(c *call.Call, err error) error {
	switch lines := r.Lines(); {
	case r == nil:
		return err
	case c.JSON:
		err = errors.Join(c.PrintJSON(r), err)
	case len(lines) > 0:
		err = errors.Join(c.Say(lines...), err)
	}
	return err
}
