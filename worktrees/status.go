package worktrees

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Status is the state of a task's work, and the distance to integration.
type Status struct {
	Task   string       `json:"task"`
	Path   string       `json:"path"` // absolute
	Exists bool         `json:"exists"`
	Branch string       `json:"branch"` // the checked-out branch; the task's own without a worktree
	Head   plumbing.OID `json:"head"`
	Dirty  []string     `json:"dirty,omitempty"` // not committed
	Ahead  int          `json:"ahead"`           // commits beyond the base commit
	Behind int          `json:"behind"`          // commits of integration that the work lacks

	NewerSpec     string   `json:"newer_spec,omitempty"`     // what integration changed in its spec that the work lacks
	WouldConflict []string `json:"would_conflict,omitempty"` // if integration were merged in
	BothTouched   []string `json:"both_touched,omitempty"`   // uncommitted files included
	Advice        string   `json:"advice"`                   // in StatusHere only if git is in the midst of a command there
}

// StatusOf returns the state of a task's worktree. It changes nothing.
func StatusOf(ctx context.Context, b *gitboard.Board, task string) (*Status, error) {
	s, err := Open(ctx, b)
	if err != nil {
		return nil, err
	}
	v, err := b.View(ctx)
	if err != nil {
		return nil, err
	}
	t, err := v.State.FindTask(task)
	if err != nil {
		return nil, err
	}
	st, err := s.status(ctx, v, t)
	if err != nil {
		return nil, err
	}
	if st.Head.IsZero() {
		st.Advice = fmt.Sprintf("%s is %s: there is no work here", t.ID, t.Status)
		return st, nil
	}
	return st, s.compare(ctx, v, t, st)
}

// StatusHere returns the state of a task's work in this clone: the worktree, the branch and
// uncommitted changes. It doesn't compare with integration, which takes longer.
func StatusHere(ctx context.Context, b *gitboard.Board, t *board.Task) (*Status, error) {
	s, err := Open(ctx, b)
	if err != nil {
		return nil, err
	}
	v, err := b.View(ctx)
	if err != nil {
		return nil, err
	}
	return s.status(ctx, v, t)
}

// status returns the state of a task's work in this clone.
func (s *Project) status(ctx context.Context, v *gitboard.View, t *board.Task) (*Status, error) {
	st := &Status{Task: t.ID, Path: s.Path(t.ID), Branch: v.TaskBranch(t.ID)}
	l, err := s.look(ctx, v, t.ID)
	if err != nil {
		return nil, err
	}
	st.Exists = l.Ours
	if !l.Ours {
		st.Head, err = s.repo.Ref(ctx, v.TaskRef(t.ID))
		return st, err
	}
	head, branch, err := s.repo.Worktree(l.Path).Head(ctx)
	if err != nil {
		return nil, err
	}
	st.Head, st.Branch = head, orDetached(branch)
	if open := Midst(l.Path); open != "" {
		st.Advice = fmt.Sprintf("git %s is not finished in the worktree: %s; then test it, and git liza submit %s", open, finishing(open), t.ID)
	}
	dirty, err := s.repo.Worktree(l.Path).Status(ctx)
	st.Dirty = paths(dirty)
	return st, err
}

// compare compares the work with integration.
func (s *Project) compare(ctx context.Context, v *gitboard.View, t *board.Task, st *Status) error {
	tip, err := s.integration(ctx, v)
	if err != nil {
		return err
	}
	base, err := s.repo.History().MergeBase(ctx, tip, st.Head)
	if errors.Is(err, git.ErrNotFound) {
		st.Advice = "it has no commit in common with integration"
		return nil
	}
	if err != nil {
		return err
	}
	from := base
	if has, err := s.Has(ctx, t.BaseCommit); err != nil {
		return err
	} else if has {
		from = plumbing.OID(t.BaseCommit)
	}
	if st.Ahead, err = s.repo.History().CountCommits(ctx, from, st.Head); err != nil {
		return err
	}
	if st.Behind, err = s.repo.History().CountCommits(ctx, st.Head, tip); err != nil {
		return err
	}
	if st.NewerSpec, err = v.NewerSpec(ctx, t); err != nil {
		return err
	}
	if _, st.WouldConflict, err = s.repo.History().TryMerge(ctx, st.Head, tip); err != nil {
		return err
	}
	theirs, err := s.repo.History().ChangedFiles(ctx, base, tip)
	if err != nil {
		return err
	}
	ours, err := s.repo.History().ChangedFiles(ctx, base, st.Head)
	if err != nil {
		return err
	}
	for _, file := range theirs {
		if slices.Contains(ours, file) || slices.Contains(st.Dirty, file) {
			st.BothTouched = append(st.BothTouched, file)
		}
	}
	switch {
	case st.Advice != "":
		return nil
	case t.IntegrationFix && st.Behind > 0:
		st.Advice = fmt.Sprintf("this work is to have all of integration: git merge %s in the worktree, then test it, and git liza submit %s", plumbing.BranchName(v.IntegrationRef()), t.ID)
		return nil
	}
	st.Advice = advice(t.ID, st, len(theirs))
	return nil
}

// bringInAtMost is how many files integration may have changed for advice to a coder to merge it
// in.
const bringInAtMost = 2

// advice implements the protocol's rule on stale work.
func advice(task string, st *Status, files int) string {
	switch {
	case st.Behind == 0:
		return "it has all of integration"
	case len(st.WouldConflict) > 0 || len(st.BothTouched) > 0:
		return fmt.Sprintf("integration overlaps with this work: if that matters to it, git liza block %s and say what overlaps", task)
	case files > bringInAtMost:
		return fmt.Sprintf("integration changed %d files and none of this work's: go on; if the work needs them, git liza block %s", files, task)
	}
	return "integration changed little, and nothing of this work: bring it in if the work needs it, with git merge in the worktree"
}
