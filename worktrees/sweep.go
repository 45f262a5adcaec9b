package worktrees

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
)

// Swept is a claim whose lease has run out, and what became of it.
type Swept struct {
	Task    string         `json:"task"`
	Holder  string         `json:"holder"`
	Review  bool           `json:"review"`            // a review claim
	Skipped string         `json:"skipped,omitempty"` // why it was not released
	Done    *gitboard.Done `json:"-"`
}

// String is one line about it.
func (s Swept) String() string {
	what := "claim"
	if s.Review {
		what = "review claim"
	}
	if s.Skipped != "" {
		return fmt.Sprintf("%s: %s's %s was left: %s", s.Task, s.Holder, what, s.Skipped)
	}
	return fmt.Sprintf("%s: %s's %s released, its lease had run out", s.Task, s.Holder, what)
}

// Sweep releases every claim of others whose lease has run out, each by an operation of its own. Hand-offs
// are not claims that anyone holds. A claim that was renewed or taken meanwhile is skipped, with the
// reason.
func Sweep(ctx context.Context, b *gitboard.Board, actor board.Actor) ([]Swept, error) {
	return sweep(ctx, b, actor, func(board.Brief) bool { return true })
}

// SweepReviews releases the review claims alone: no coder's work is touched.
func SweepReviews(ctx context.Context, b *gitboard.Board, actor board.Actor) ([]Swept, error) {
	return sweep(ctx, b, actor, func(t board.Brief) bool { return t.Status == board.ReadyForReview })
}

func sweep(ctx context.Context, b *gitboard.Board, actor board.Actor, of func(board.Brief) bool) ([]Swept, error) {
	v, err := b.View(ctx)
	if err != nil {
		return nil, err
	}
	leases, err := v.Leases(ctx)
	if err != nil {
		return nil, err
	}
	var swept []Swept
	for _, t := range v.State.Tasks() {
		s := Swept{Task: t.ID}
		switch {
		case !of(t):
		case t.Status == board.Claimed && !t.HandoffPending:
			s.Holder = t.AssignedTo
		case t.Status == board.ReadyForReview:
			s.Holder, s.Review = t.ReviewingBy, true
		}
		held := leases[s.Holder]
		live := v.State.Agent(s.Holder) != nil && held != nil && b.Now().Before(held.Expires)
		if s.Holder == "" || s.Holder == actor.ID || live {
			continue
		}
		s.Done, err = End(ctx, b, gitboard.Request{Actor: actor}, &board.Release{About: board.About{Task: t.ID}, Reason: "its lease had run out"})
		if s.Done == nil {
			if ctx.Err() != nil || !passing(err) {
				return swept, err
			}
			s.Skipped = err.Error()
		}
		swept = append(swept, s)
	}
	return swept, v.State.Err()
}

// passing reports whether an error concerns one claim only.
func passing(err error) bool {
	refusal, lost := (*board.Refusal)(nil), (*gitboard.LostError)(nil)
	if errors.As(err, &refusal) {
		return refusal.Code != "session" && refusal.Code != "permission"
	}
	return errors.As(err, &lost)
}
