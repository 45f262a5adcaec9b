package worktrees

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// unmoved finds the worktree of a fresh claim whose process died before the worktree could replace
// the former holder's. The old worktree still exists, on the branch that is now the claim's. nil
// for none.
func (s *Project) unmoved(t *board.Task) *candidate {
	entries, err := os.ReadDir(s.claimsDir())
	if err != nil || t.Status != board.Claimed {
		return nil
	}
	which := identity(s.Path(t.ID))
	for _, e := range entries {
		c := &candidate{s: s, token: e.Name(), path: filepath.Join(s.Folder(), claimMark+e.Name()), base: plumbing.OID(t.BaseCommit), ready: true}
		r, unread := s.readRecord(c.token)
		if unread != nil || r == nil || r.Task != t.ID || r.Replaces == nil || r.Replaces.Worktree != which || which == "" {
			continue
		}
		if !r.Unready && present(c.path) && !s.inUse(r) && r.Replaces.succeeded(t) {
			return c
		}
	}
	return nil
}

// succeeded reports whether the claim that was to replace a worktree is committed, and no fresh
// claim came after it.
func (r *replaced) succeeded(t *board.Task) bool {
	fresh := func(e board.Event) bool {
		return slices.Contains([]string{board.EventClaimed, board.EventReassignedAfterReject, board.EventReclaimedAfterExpiry}, e.Event)
	}
	if len(t.History) <= r.Events {
		return false
	}
	claim := t.History[r.Events]
	return fresh(claim) && claim.Agent == r.Agent && !slices.ContainsFunc(t.History[r.Events+1:], fresh)
}

// Unfinished reports whether the former holder's worktree is still in place of the worktree of a
// claim, whose process died.
func (s *Project) Unfinished(t *board.Task) bool { return s.unmoved(t) != nil }

// FinishClaim completes a claim whose process died: it keeps the content of the former holder's
// worktree, removes it, and puts the claim's in its place. It can be repeated.
func (s *Project) FinishClaim(ctx context.Context, v *gitboard.View, t *board.Task, actor board.Actor) error {
	c := s.unmoved(t)
	if c == nil {
		return nil
	}
	return s.finishClaim(ctx, v, t, c, actor)
}

func (s *Project) finishClaim(ctx context.Context, v *gitboard.View, t *board.Task, c *candidate, actor board.Actor) error {
	if err := s.makeRoom(ctx, v, t.ID, actor, nil); err != nil {
		return err
	}
	if err := s.resetBranch(ctx, v, t.ID, c.base); err != nil {
		return err
	}
	return c.place(ctx, v, t.ID)
}

// HalfMoved reports whether the worktree at path was moved there by a process that died before
// git's record named the new path.
func (s *Project) HalfMoved(path string) bool {
	from := filepath.Base(s.repo.Records().HalfMoved(path))
	for _, mark := range []string{claimMark, goneMark} {
		if token, is := strings.CutPrefix(from, mark); is {
			r, err := s.readRecord(token)
			return err == nil && (r == nil || !s.inUse(r))
		}
	}
	return false
}
