package supervisor

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// A failed claim is followed by a random pause, to separate agents that compete for the same tasks
// (protocol: agents). It ends when the board has moved, since then the next choice is another one.
const (
	shortestPause = time.Second
	longestPause  = 5 * time.Second
)

// claim claims a task for a coder.
func (s *supervisor) claim(ctx context.Context, l Look, step Step) error {
	task := step.Task
	got, err := s.Executor.Claim(ctx, s.actor, task)
	if err != nil && got.Text == "" {
		return s.claimFailed(ctx, l, step, err)
	}
	s.pulse.claimed(leaseOf(l, task))
	s.fresh, s.warnings = task, got.Warnings
	if err := s.Board.Clone().DropGaveUp(s.actor.ID); err != nil {
		return err
	}
	s.report(Claimed, task, got.Text)
	for _, w := range got.Warnings {
		s.report(Trouble, task, w)
	}
	return err
}

// leaseOf is how long a lease for a task lasts.
func leaseOf(l Look, task string) time.Duration {
	return l.State.Config().LeaseLasts(false, l.State.Task(task))
}

// claimReview claims a submission for a reviewer.
func (s *supervisor) claimReview(ctx context.Context, l Look, step Step) error {
	task := step.Task
	done, err := s.Board.Do(ctx, gitboard.Request{Actor: s.actor}, gitboard.Just(&board.ClaimReview{About: board.About{Task: task}}))
	if err != nil {
		return s.claimFailed(ctx, l, step, err)
	}
	s.pulse.claimed(leaseOf(l, task))
	s.fresh = task
	s.report(Claimed, task, done.Subject)
	return nil
}

// claimFailed records a failed claim and pauses. An error of the board, the lease or the whole
// clone is not a failed claim.
func (s *supervisor) claimFailed(ctx context.Context, l Look, step Step, err error) error {
	task, refusal := step.Task, (*board.Refusal)(nil)
	switch {
	case ctx.Err() != nil, taken(err), inconsistent(err), hopeless(err):
		return err
	case errors.As(err, &refusal) && step.Early:
		return nil // the work is yet to come
	case errors.As(err, &refusal) && refusal.Code == board.CodeMode:
		return nil // stopped meanwhile, as the next look will report
	case errors.As(err, &refusal) && refusal.Code == board.CodeLimit:
		s.report(ClaimFailed, task, err.Error())
		return nil // it is BLOCKED now
	}
	t := l.State.Task(task)
	if t == nil {
		return l.State.Err()
	}
	s.memory.ClaimFailed(t, settingsOf(l.State), refusal != nil, s.Board.Now())
	s.report(ClaimFailed, task, err.Error())
	s.repaired(task, s.unlock(ctx, err))
	if s.memory.Claims[task].Times == claimTries {
		s.report(Alarm, task, fmt.Sprintf("%s gives up claiming %s for now, after %d tries: %s", s.actor.ID, task, claimTries, err))
		if refusal == nil { // a human may have to mend this machine or the settings
			if err := s.Board.Clone().GiveUp(s.actor.ID, fmt.Sprintf("it can't claim %s: %s", task, err)); err != nil {
				return err
			}
		}
	}
	s.memory.pause(s.Board.Now().Add(shortestPause+rand.N(longestPause-shortestPause)), "a claim failed", string(l.Commit))
	return nil
}

// giveUpOn ends a claim or review whose runs hand nothing over. A coder's task is blocked, so that
// a planner or a human looks at it; a review is left to another reviewer.
func (s *supervisor) giveUpOn(ctx context.Context, l Look, task string) error {
	f := s.memory.Stalled[task]
	delete(s.memory.Stalled, task)
	why := fmt.Sprintf("%d runs of %s by %s ended without a hand-over", f.Times, s.actor.ID, s.CLI.Name)
	if s.memory.Said != "" {
		why += "; the last one said: " + quotable(s.memory.Said)
	}
	var err error
	if s.Role == roles.CodeReviewer {
		if t := l.State.Task(task); t != nil {
			s.memory.decline(t)
		}
		err = s.Executor.Release(ctx, s.actor, task, why)
	} else {
		_, err = s.Board.Do(ctx, gitboard.Request{Actor: s.actor}, gitboard.Just(&board.Block{
			About: board.About{Task: task}, Reason: why, Questions: []string{"What keeps " + s.actor.ID + " from submitting? git liza logs " + s.actor.ID},
		}))
	}
	if err == nil {
		s.report(Alarm, task, why)
	}
	return err
}

// plain carries out an operation that needs no preparation. A refusal usually means that the board
// moved.
func (s *supervisor) plain(ctx context.Context, event string, intent gitboard.Intent) error {
	done, err := s.Board.Do(ctx, gitboard.Request{Actor: s.actor}, intent)
	refusal := (*board.Refusal)(nil)
	if errors.As(err, &refusal) && !taken(err) {
		s.report(Trouble, "", err.Error())
		s.memory.pause(s.Board.Now().Add(troubleDelay), err.Error(), string(s.proved))
		s.memory.Assessed = nil
		return nil
	}
	if err == nil {
		s.report(event, "", done.Subject)
	}
	return err
}
