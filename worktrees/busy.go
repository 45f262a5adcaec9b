package worktrees

import (
	"context"
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
		Advise("take another task; a human that knows better: %s", board.ActOn("recover-task", t.ID))
}
