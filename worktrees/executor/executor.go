// Package executor does for supervisors what the commands do for people: it claims a task, lands
// it, and repairs the clone around it.
//
// It may import gitboard, gitboard/board, gitboard/roles, roles/supervisor, worktrees,
// worktrees/doctor and worktrees/merge.
package executor

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/roles/supervisor"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/doctor"
	"github.com/git-liza/git-liza/worktrees/merge"
)

// Executor is a supervisor.Executor on a board.
type Executor struct{ Board *gitboard.Board }

var _ supervisor.Executor = Executor{}

// Claim implements supervisor.Executor.
func (e Executor) Claim(ctx context.Context, actor board.Actor, task string) (supervisor.Taken, error) {
	got, err := worktrees.Claim(ctx, e.Board, worktrees.ClaimRequest{Request: gitboard.Request{Actor: actor}, Task: task})
	if failed := (*worktrees.FailedError)(nil); errors.As(err, &failed) && failed.Name == "worktree_setup" {
		err = fmt.Errorf("%w; a human changes the setting: git liza config set worktree_setup COMMAND", err)
	}
	if got == nil {
		return supervisor.Taken{}, err
	}
	warnings := got.Warnings
	for _, path := range got.Conflicts {
		warnings = append(warnings, "a conflict with integration is left open in "+path)
	}
	return supervisor.Taken{Text: got.Done.Subject, Warnings: warnings}, err
}

// Merge implements supervisor.Executor.
func (e Executor) Merge(ctx context.Context, actor board.Actor, tasks []string, out io.Writer) ([]supervisor.Landed, error) {
	results, err := merge.Train(ctx, e.Board, merge.TrainRequest{Request: gitboard.Request{Actor: actor}, Tasks: tasks, Out: out})
	var landed []supervisor.Landed
	for _, got := range results {
		text := got.Done.Subject
		if !got.Merged {
			text = got.Reason()
		}
		for _, w := range got.Warnings {
			text += "; " + w
		}
		landed = append(landed, supervisor.Landed{Task: got.Task, Merged: got.Merged, Text: text})
	}
	return landed, err
}

// Follow implements supervisor.Executor.
func (e Executor) Follow(ctx context.Context, actor board.Actor) (warnings []string, err error) {
	f, err := merge.Follow(ctx, e.Board, gitboard.Moment{})
	if err != nil || e.Board.Remote() == "" {
		return nil, err
	}
	_, err = worktrees.TidyAll(ctx, e.Board, actor)
	return f.Warnings, err
}

// ForReview implements supervisor.Executor.
func (e Executor) ForReview(ctx context.Context, task string) error {
	v, err := e.Board.View(ctx)
	if err != nil {
		return err
	}
	t, err := v.State.FindTask(task)
	if err != nil {
		return err
	}
	_, err = worktrees.ForReview(ctx, e.Board, v, t)
	return err
}

// Release implements supervisor.Executor.
func (e Executor) Release(ctx context.Context, actor board.Actor, task, reason string) error {
	_, err := worktrees.End(ctx, e.Board, gitboard.Request{Actor: actor}, &board.Release{About: board.About{Task: task}, Reason: reason})
	return err
}

// Worked implements supervisor.Executor. If the worktree is missing, its branch decides.
func (e Executor) Worked(ctx context.Context, task string) (bool, error) {
	v, err := e.Board.View(ctx)
	if err != nil {
		return false, err
	}
	t, err := v.State.FindTask(task)
	if err != nil {
		return false, err
	}
	s, err := worktrees.StatusOf(ctx, e.Board, task)
	if err != nil {
		return false, err
	}
	return s.Ahead > 0 || len(s.Dirty) > 0 || t.CheckpointOfIteration() != nil || t.Iteration > 1, nil
}

// Unlock implements supervisor.Executor.
func (e Executor) Unlock(ctx context.Context, task string) ([]string, error) {
	if task != "" {
		return worktrees.Unlock(ctx, e.Board, task)
	}
	return e.fix(ctx, func(p doctor.Problem) bool {
		return p.Kind == doctor.StaleLock || p.Kind == doctor.DamagedRecord
	})
}

// fix repairs the problems that Diagnose finds and wanted selects, if they can be repaired.
func (e Executor) fix(ctx context.Context, wanted func(doctor.Problem) bool) (did []string, err error) {
	problems, err := doctor.Diagnose(ctx, e.Board)
	if err != nil {
		return nil, err
	}
	for _, p := range problems {
		if !wanted(p) || p.Fix == nil {
			continue
		}
		if err := p.Fix(ctx); err != nil {
			return did, err
		}
		did = append(did, "repaired: "+p.Text)
	}
	return did, nil
}

// Repair implements supervisor.Executor.
func (e Executor) Repair(ctx context.Context, actor board.Actor, task string) (did []string, err error) {
	finished, err := merge.Finish(ctx, e.Board, actor)
	for _, f := range finished {
		did = append(did, fmt.Sprintf("the merge of %s, cut in half by a crash, is finished", f.Task))
	}
	if err != nil {
		return did, err
	}
	if actor.Role == roles.CodeReviewer {
		swept, err := worktrees.Sweep(ctx, e.Board, actor, roles.CodeReviewer)
		for _, s := range swept {
			did = append(did, s.String())
		}
		if err != nil {
			return did, err
		}
	}
	if task == "" {
		return did, nil
	}
	repaired, err := e.fix(ctx, func(p doctor.Problem) bool { return p.Task == task })
	return append(did, repaired...), err
}
