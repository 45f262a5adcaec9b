package supervisor

import (
	"context"
	"fmt"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/oplog"
	"github.com/git-liza/git-liza/roles"
)

// learn draws the conclusions from the end of a run.
func (s *supervisor) learn(ctx context.Context, step Step, tip gitio.OID, exit int, ours bool, last string) error {
	v, err := s.Board.View(ctx)
	if err != nil {
		return err
	}
	now := s.Board.Now()
	o := Outcome{At: now, Role: s.Role, Exit: exit, Ours: ours, Wake: step.Wake, Limit: s.CLI.Name}
	if o.Changed, err = s.acted(ctx, tip, v.Commit); err != nil {
		return err
	}
	t := v.State.Task(step.Task)
	if err := v.State.Err(); err != nil {
		return err
	}
	if s.Role == roles.CodeReviewer && t != nil && t.Status == board.ReadyForReview && t.ReviewingBy == "" {
		o.Declined = t
	}
	if !ours && exit != graceful && !(exit == 0 && o.Changed) {
		o.Until, o.Limited = s.CLI.Limited(last, now.Local())
	}
	s.memory.Learn(o)
	if err := s.files.keepMemory(s.memory); err != nil {
		return err
	}
	s.say(Event{Event: Ended, Task: step.Task, Text: s.ending(o), Exit: &exit})
	if o.Limited {
		s.tell(Limited, step.Task, s.memory.Why)
	}
	return s.afterwards(ctx, v.State)
}

func (s *supervisor) ending(o Outcome) string {
	text := fmt.Sprintf("exit %d", o.Exit)
	switch {
	case o.Ours:
		text += ", ended by its supervisor"
	case s.memory.Why != "" && !s.Once && s.memory.Broken(o.At) == "": // else it is not started again
		text += "; " + s.memory.Why
	}
	return text
}

// afterwards brings the agent's record in line with the end of its process.
func (s *supervisor) afterwards(ctx context.Context, state *board.State) error {
	a := state.Agent(s.actor.ID)
	if a == nil || a.Session != s.actor.Session {
		return nil // the next heartbeat says what that means
	}
	if a.Status == board.HandedOff {
		if err := s.status(ctx, board.Starting, ""); err != nil {
			return err
		}
		return s.status(ctx, board.Idle, "")
	}
	if s.memory.Limits > 0 && a.WaitingFor != s.memory.Why {
		return s.status(ctx, a.Status, s.memory.Why)
	}
	return nil
}

// unlimited takes from the agent's record what it waited for.
func (s *supervisor) unlimited(ctx context.Context, l Look) error {
	if a := l.State.Agent(s.actor.ID); a != nil && a.WaitingFor != "" {
		return s.status(ctx, a.Status, "")
	}
	return nil
}

// acted reports whether the agent has done anything on the board between two of its commits.
func (s *supervisor) acted(ctx context.Context, from, to gitio.OID) (bool, error) {
	if from == to {
		return false, nil
	}
	commits, err := s.Board.Repo().Log(ctx, from, to)
	if err != nil {
		return false, err
	}
	name, _ := oplog.Author(s.actor)
	for _, c := range commits {
		if c.Author.Name == name {
			return true, nil
		}
	}
	return false, nil
}
