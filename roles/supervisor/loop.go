package supervisor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// loop looks, decides and acts until the work ends.
func (s *supervisor) loop(ctx context.Context) error {
	for {
		l, err := s.look(ctx)
		if err == nil {
			err = s.step(ctx, l)
		}
		var stop *StopError
		switch {
		case errors.As(err, &stop):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, errDone):
			return nil
		case err != nil:
			if err := s.survive(ctx, err); err != nil {
				return err
			}
		}
	}
}

// survive decides whether an error ends the loop, because the board is broken or the lease lost, or
// is retried later.
func (s *supervisor) survive(ctx context.Context, err error) error {
	switch {
	case taken(err):
		return lost(s.actor.ID, err)
	case inconsistent(err):
		return s.quarantine(err)
	case hopeless(err):
		return err
	}
	delay := min(troubleDelay<<min(s.troubles, 10), longestDelay)
	if s.troubles++; s.troubles == troubleAlarm {
		s.report(Alarm, "", fmt.Sprintf("%s has failed %d times in a row: %s", s.actor.ID, s.troubles, err))
	} else {
		s.report(Trouble, "", err.Error())
	}
	s.repaired("", s.unlock(ctx, err))
	until, why := s.Board.Now().Add(delay), "something went wrong: "+text.Line(err.Error(), 120)
	if until.After(s.memory.NotBefore) { // else a longer pause, as that of a limit, continues
		while := ""
		if s.troubles == 1 { // the next ones need not be due to the board
			while = string(s.proved)
		}
		s.memory.pause(until, why, while)
	}
	return s.wait(ctx, Step{Do: Wait, Until: until, Reason: why})
}

// unlock removes locks of a killed git that may have blocked the failed step, and returns a report.
// A refusal has other reasons.
func (s *supervisor) unlock(ctx context.Context, failed error) []string {
	if refusal := (*board.Refusal)(nil); failed == nil || ctx.Err() != nil || errors.As(failed, &refusal) {
		return nil
	}
	did, err := s.Executor.Unlock(ctx, "")
	if err != nil {
		return nil // most likely for the same reason
	}
	return did
}

func (s *supervisor) repaired(task string, did []string) {
	for _, text := range did {
		s.report(Repaired, task, text)
	}
}

// quarantine pauses the clone: the board is broken, and a human must look before anything
// continues.
func (s *supervisor) quarantine(cause error) error {
	reason := "the board is inconsistent: " + text.Line(cause.Error(), 300)
	if _, err := s.Board.Clone().Pause(context.Background(), reason); err != nil {
		reason += fmt.Sprintf(" (and .liza/PAUSE can't be written: %v)", err)
	}
	s.report(Alarm, "", reason)
	return &StopError{Exit: 4, Reason: reason, Hint: "this clone is paused by .liza/PAUSE; let a human look: git liza verify"}
}

// step decides and carries out the next step.
func (s *supervisor) step(ctx context.Context, l Look) error {
	_, err := s.merge(ctx, &l)
	if err != nil {
		return err
	}
	if err := s.comply(&l); err != nil {
		return err
	}
	var step Step
	if err := read(l.State, func() { step = Next(l, s.memory) }); err != nil {
		return err
	}
	if step.Do != Wait {
		s.reported = ""
	}
	if !step.Idle {
		s.memory.IdleSince = time.Time{}
	} else if s.memory.IdleSince.IsZero() {
		s.memory.IdleSince = l.Now
	}
	if step, err = s.early(ctx, l, step); err != nil {
		return err
	}
	switch step.Do {
	case Stop:
		return s.stop(step)
	case Wait:
		if !l.Now.Before(s.memory.NotBefore) { // else it waits for the next attempt
			s.troubles = 0
			if err := s.leaves(ctx, l); err != nil {
				return err
			}
		}
		if step.Idle { // a quiet moment; git reports a failure on its next run
			s.tidying.Go(func() { _, _ = s.Board.Maintain(ctx) })
		}
		return s.wait(ctx, step)
	}
	if err = s.act(ctx, l, step); err == nil {
		s.troubles = 0
	}
	return err
}

// early returns the step after a look if that is to wait: work is claimed while a remote has yet to
// take the submission or the merge that it follows from, and the claim travels with that.
func (s *supervisor) early(ctx context.Context, l Look, step Step) (Step, error) {
	if step.Do != Wait || s.Role == roles.Planner {
		return step, nil
	}
	v, err := s.Board.Ahead(ctx)
	if v == nil || err != nil {
		return step, err
	}
	l.State = v.State.ForRules()
	next := Step{}
	if err := read(l.State, func() { next = Next(l, s.memory) }); err != nil || next.Do != ClaimReview && next.Do != Claim {
		return step, err
	}
	next.Early = true
	return next, nil
}

// act carries out a decision, after making sure that the agent still owns its lease.
func (s *supervisor) act(ctx context.Context, l Look, step Step) error {
	if err := s.pulse.sure(ctx); err != nil {
		return err
	}
	switch step.Do {
	case Claim:
		return s.claim(ctx, l, step)
	case ClaimReview:
		return s.claimReview(ctx, l, step)
	case CompleteGoal:
		return s.plain(ctx, GoalCompleted, gitboard.Completing(&board.GoalComplete{Goal: step.Goal}))
	case Plan:
		return s.plain(ctx, Planning, gitboard.Just(&board.Plan{Goal: step.Goal}))
	case LetGo:
		return s.Executor.Release(ctx, s.actor, step.Task, "its goal is not worked on any more")
	case GiveUp:
		return s.giveUpOn(ctx, l, step.Task)
	case Deadline:
		return s.plain(ctx, DeadlineSet, gitboard.Just(&board.Deadline{}))
	}
	return s.start(ctx, l, step)
}

// stop ends the loop; a nonzero exit code is reported as an alarm.
func (s *supervisor) stop(step Step) error {
	if step.Exit == 0 {
		s.report(Stopped, "", step.Reason)
		return errDone
	}
	if step.Asked {
		return &StopError{asked: true, Exit: step.Exit, Reason: step.Reason, Hint: "git liza agent " + s.name() + " --id " + s.actor.ID + " continues its work"}
	}
	s.report(Alarm, "", s.actor.ID+" stops: "+step.Reason)
	if err := s.Board.Clone().GiveUp(s.actor.ID, step.Reason); err != nil {
		s.report(Trouble, "", "the inbox will not name it: "+err.Error())
	}
	if s.memory.Setup != "" {
		return &StopError{Exit: step.Exit, Reason: s.actor.ID + " stops: " + step.Reason, Hint: s.memory.Hint}
	}
	return &StopError{Exit: step.Exit, Reason: s.actor.ID + " stops: " + step.Reason, Hint: "look at what it did: git liza logs " + s.actor.ID}
}

// wait waits for a change or the step's time.
func (s *supervisor) wait(ctx context.Context, step Step) error {
	if step.Reason != s.reported {
		s.reported = step.Reason
		s.say(Event{Event: Waiting, Text: step.Reason, Idle: step.Idle})
	}
	var timer <-chan time.Time
	if !step.Until.IsZero() {
		timer = time.After(step.Until.Sub(s.Board.Now()))
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-s.pulse.lost:
		return lost(s.actor.ID, err)
	case m := <-s.lane.done:
		return s.merged(ctx, m)
	case <-s.follow:
	case <-s.deaths.died:
	case <-timer:
	}
	return nil
}
