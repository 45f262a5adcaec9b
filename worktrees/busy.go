package worktrees

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// atWork refuses to take a task from a coder without a supervisor that goes on working although its
// lease has expired: its worktree in this clone changed within the time of a lease.
func (s *Project) atWork(ctx context.Context, v *gitboard.View, t *board.Task, taker string) error {
	holder := v.State.Agent(t.AssignedTo)
	if t.Status != board.Claimed || t.HandoffPending || t.AssignedTo == taker || holder == nil || !holder.ByHand() {
		return v.State.Err()
	}
	st, err := s.status(ctx, v, t)
	if err != nil || !st.Exists {
		return err
	}
	now, last := s.b.Now(), time.Time{}
	seen := func(at time.Time) {
		if at.After(last) && !at.After(now) {
			last = at
		}
	}
	if st.Head != plumbing.OID(t.BaseCommit) {
		o, err := s.repo.Object(ctx, string(st.Head))
		if err != nil {
			return err
		}
		c, err := plumbing.DecodeCommit(o)
		if err != nil {
			return err
		}
		seen(c.Committer.When)
	}
	for _, file := range st.Dirty {
		if info, err := os.Lstat(filepath.Join(st.Path, file)); err == nil { // deleted otherwise
			seen(info.ModTime())
		}
	}
	idle := now.Sub(last)
	if idle >= time.Duration(v.State.Config().LeaseDuration)*time.Second {
		return nil
	}
	return about(board.CodeLease, t.ID, "%s's lease has expired, but its worktree changed %s ago: %s seems to work on it", t.AssignedTo, board.Span(idle), t.AssignedTo).
		Advise("wait for it or for another task: %s; a human that knows better: %s", board.ActOn("prime").With("wait", ""), board.ActOn("recover-task", t.ID))
}

// Busy returns the tasks of coders that go on working in this clone although their leases have
// expired, so that the taker can't claim them.
func Busy(ctx context.Context, b *gitboard.Board, v *gitboard.View, leases map[string]board.Lease, taker string) (map[string]bool, error) {
	s, err := Open(ctx, b)
	if err != nil {
		return nil, err
	}
	busy := map[string]bool{}
	for _, t := range v.State.ForRules().Tasks() {
		task := v.State.Task(t.ID)
		if task == nil || t.Status != board.Claimed || leases[t.AssignedTo].Expires > board.At(b.Now()) {
			continue
		}
		err := s.atWork(ctx, v, task, taker)
		if busy[t.ID] = errors.As(err, new(*board.Refusal)); err != nil && !busy[t.ID] {
			return nil, err
		}
	}
	return busy, nil
}
