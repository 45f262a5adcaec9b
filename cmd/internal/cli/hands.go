package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/roles/supervisor"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/merge"
)

// hands carry out for supervisors what the commands do for people.
type hands struct{ b *gitboard.Board }

// Claim implements supervisor.Hands.
func (h hands) Claim(ctx context.Context, actor board.Actor, task string) (supervisor.Taken, error) {
	got, err := worktrees.Claim(ctx, h.b, worktrees.ClaimRequest{Request: gitboard.Request{Actor: actor}, Task: task})
	if got == nil {
		return supervisor.Taken{}, err
	}
	warnings := got.Warnings
	for _, path := range got.Conflicts {
		warnings = append(warnings, "a conflict with integration is left open in "+path)
	}
	return supervisor.Taken{Text: got.Done.Subject, Warnings: warnings}, err
}

// Merge implements supervisor.Hands.
func (h hands) Merge(ctx context.Context, actor board.Actor, task string, out io.Writer) (bool, string, error) {
	got, err := merge.Merge(ctx, h.b, merge.Request{Request: gitboard.Request{Actor: actor}, Task: task, Out: out})
	if got == nil {
		return false, "", err
	}
	text := got.Done.Subject
	for _, w := range got.Warnings {
		text += "; " + w
	}
	if !got.Merged {
		text = failureOf(got)
	}
	return got.Merged, text, err
}

// Follow implements supervisor.Hands.
func (h hands) Follow(ctx context.Context, actor board.Actor) (warnings []string, err error) {
	f, err := merge.Follow(ctx, h.b)
	if err != nil || h.b.Remote() == "" {
		return nil, err
	}
	_, err = worktrees.TidyAll(ctx, h.b, actor)
	return f.Warnings, err
}

// ForReview implements supervisor.Hands.
func (h hands) ForReview(ctx context.Context, task string) error {
	v, err := h.b.View(ctx)
	if err != nil {
		return err
	}
	t, err := v.State.FindTask(task)
	if err != nil {
		return err
	}
	_, err = worktrees.ForReview(ctx, h.b, v, t)
	return err
}

// Release implements supervisor.Hands.
func (h hands) Release(ctx context.Context, actor board.Actor, task, reason string) error {
	_, err := worktrees.End(ctx, h.b, gitboard.Request{Actor: actor}, &board.Release{About: board.About{Task: task}, Reason: reason})
	return err
}

// Worked implements supervisor.Hands. Where the worktree is missing its branch tells.
func (h hands) Worked(ctx context.Context, task string) (bool, error) {
	v, err := h.b.View(ctx)
	if err != nil {
		return false, err
	}
	t, err := v.State.FindTask(task)
	if err != nil {
		return false, err
	}
	s, err := worktrees.StatusOf(ctx, h.b, task)
	if err != nil {
		return false, err
	}
	return s.Ahead > 0 || len(s.Dirty) > 0 || t.CheckpointOfIteration() != nil || t.Iteration > 1, nil
}

// Unlock implements supervisor.Hands.
func (h hands) Unlock(ctx context.Context, task string) ([]string, error) {
	if task != "" {
		return worktrees.Unlock(ctx, h.b, task)
	}
	return h.fix(ctx, func(p worktrees.Problem) bool {
		return p.Kind == worktrees.StaleLock || p.Kind == worktrees.DamagedRecord
	})
}

// fix mends of what Diagnose finds what is wanted and can be mended.
func (h hands) fix(ctx context.Context, wanted func(worktrees.Problem) bool) (did []string, err error) {
	problems, err := worktrees.Diagnose(ctx, h.b)
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
		did = append(did, "mended: "+p.Text)
	}
	return did, nil
}

// Mend implements supervisor.Hands.
func (h hands) Mend(ctx context.Context, actor board.Actor, task string) (did []string, err error) {
	finished, err := merge.Finish(ctx, h.b, actor)
	for _, f := range finished {
		did = append(did, fmt.Sprintf("the merge of %s, cut in half by a crash, is finished", f.Task))
	}
	if err != nil {
		return did, err
	}
	if actor.Role == roles.CodeReviewer {
		swept, err := worktrees.Sweep(ctx, h.b, actor, roles.CodeReviewer)
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
	mended, err := h.fix(ctx, func(p worktrees.Problem) bool { return p.Task == task })
	return append(did, mended...), err
}
