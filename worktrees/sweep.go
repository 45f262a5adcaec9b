package worktrees

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// Swept is a claim whose lease expired, and what happened to it.
type Swept struct {
	Task    string         `json:"task"`
	Holder  string         `json:"holder"`
	Review  bool           `json:"review"`            // a review claim
	Skipped string         `json:"skipped,omitempty"` // why it was not released
	Done    *gitboard.Done `json:"-"`
}

// String describes it in one line.
func (s Swept) String() string {
	what := "claim"
	if s.Review {
		what = "review claim"
	}
	if s.Skipped != "" {
		return fmt.Sprintf("%s: %s's %s was left: %s", s.Task, s.Holder, what, s.Skipped)
	}
	return fmt.Sprintf("%s: %s's %s released, its lease had expired", s.Task, s.Holder, what)
}

// Sweep releases other agents' claims whose lease has expired, each in a separate operation. role
// limits it to coders or reviewers; "" means both. A handed-off task has no holder, so it isn't
// affected. A claim that was renewed or taken in the meantime is skipped, with the reason.
func Sweep(ctx context.Context, b *gitboard.Board, actor board.Actor, role roles.Role) ([]Swept, error) {
	v, err := b.View(ctx)
	if err != nil {
		return nil, err
	}
	leases, err := v.Leases(ctx)
	if err != nil {
		return nil, err
	}
	project, err := Open(ctx, b)
	if err != nil {
		return nil, err
	}
	var swept []Swept
	for _, t := range v.State.Tasks() {
		s := Swept{Task: t.ID}
		switch {
		case t.Status == board.Claimed && !t.HandoffPending && role != roles.CodeReviewer:
			s.Holder = t.AssignedTo
		case t.Status == board.ReadyForReview && role != roles.Coder:
			s.Holder, s.Review = t.ReviewingBy, true
		}
		held := leases[s.Holder]
		live := v.State.Agent(s.Holder) != nil && held != nil && b.Now().Before(held.Expires.Std())
		if s.Holder == "" || s.Holder == roles.HumanID || s.Holder == actor.ID || live {
			continue
		}
		if task := v.State.Task(t.ID); task != nil && !s.Review {
			if err := project.atWork(ctx, v, task, actor.ID); err != nil {
				s.Skipped = err.Error()
				swept = append(swept, s)
				continue
			}
		}
		s.Done, err = End(ctx, b, gitboard.Request{Actor: actor}, &board.Release{About: board.About{Task: t.ID}, Reason: "its lease had expired"})
		if s.Done == nil {
			if !passing(err) {
				return swept, err
			}
			s.Skipped = err.Error()
		}
		swept = append(swept, s)
	}
	return swept, v.State.Err()
}

// passing reports whether an error concerns only one claim.
func passing(err error) bool {
	refusal, lost := (*board.Refusal)(nil), (*gitboard.LostError)(nil)
	if errors.As(err, &refusal) {
		return refusal.Code != board.CodeSession && refusal.Code != board.CodePermission
	}
	return errors.As(err, &lost)
}
