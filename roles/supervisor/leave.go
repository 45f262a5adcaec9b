package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

// leaveWithin bounds the time for a supervisor's last operations on the board.
const leaveWithin = time.Minute

// leave ends the agent's part on the board. It gives back a review, and a claim without any work in
// its worktree. For a claim with work it only ends the lease, so that the agent can be restarted
// and continue in the same worktree at once. It does nothing if the lease has been taken.
func (s *supervisor) leave(ctx context.Context, cause error) error {
	ctx, cancel := context.WithTimeout(ctx, leaveWithin)
	defer cancel()
	text, err := s.giveBack(ctx)
	if err != nil && !taken(err) { // a signal from the terminal also ends this process's git
		text, err = s.giveBack(ctx)
	}
	if taken(err) {
		err = lost(s.actor.ID, err)
		s.report(Stopped, "", err.Error())
		return err
	}
	if err == nil {
		s.files.dropProcess(supervisorFile, os.Getpid())
	} else {
		text = "it is left to its lease: " + err.Error()
	}
	s.report(Stopped, "", text)
	if errors.Is(cause, context.Canceled) {
		return nil // it was asked to end
	}
	return cause
}

func (s *supervisor) giveBack(ctx context.Context) (string, error) {
	v, err := s.Board.View(ctx)
	if err != nil {
		return "", err
	}
	a := v.State.Agent(s.actor.ID)
	if err := v.State.Err(); err != nil {
		return "", err
	}
	if a == nil || a.Session != s.actor.Session {
		return "it is registered no more", nil
	}
	if s.pulse != nil {
		if err := s.pulse.beat(ctx); taken(err) {
			return "", err
		}
	}
	said := ""
	task := Look{State: v.State, Agent: s.actor.ID}.held()
	if err := v.State.Err(); err != nil {
		return "", err
	}
	if task != "" {
		if said, err = s.giveUp(ctx, v.State.Task(task)); err != nil || said == "" {
			return fmt.Sprintf("%s has work in it, and its lease ends now: %s continues it if it starts again before another coder takes it", task, s.actor.ID), err
		}
		said += ", "
	}
	_, err = s.Board.Do(ctx, gitboard.Request{Actor: s.actor}, gitboard.Just(&board.Deregister{}))
	if err != nil {
		return "", err
	}
	return said + "deregistered", s.Board.Sessions().Drop(s.actor.ID)
}

// giveUp gives a claim back and returns what it did; "" if the claim is left to its lease.
func (s *supervisor) giveUp(ctx context.Context, t *board.Task) (string, error) {
	if t.Status == board.Claimed {
		worked, err := s.Executor.Worked(ctx, t.ID)
		if err != nil {
			return "", err
		}
		if worked {
			return "", s.Board.Sessions().EndLease(ctx, s.actor, "its supervisor has ended")
		}
	}
	if err := s.Executor.Release(ctx, s.actor, t.ID, "its supervisor has ended"); err != nil {
		return "", err
	}
	if t.Status == board.Claimed {
		return t.ID + " was claimed and not worked on: released", nil
	}
	return "the review of " + t.ID + " is released", nil
}
