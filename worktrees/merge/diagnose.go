package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/worktrees/doctor"
)

// The kinds of problem that merges leave.
const (
	HalfMerge      = "half-merge"
	BehindCheckout = "behind-checkout"
)

// Diagnose looks for merges that a crash interrupted halfway, and for checkouts of integration that
// were not updated. actor is the one who would finish them. It changes nothing.
func Diagnose(ctx context.Context, b *gitboard.Board, actor board.Actor) ([]doctor.Problem, error) {
	v, err := b.View(ctx)
	if err != nil {
		return nil, err
	}
	var found []doctor.Problem
	for _, t := range v.State.Tasks() {
		if t.Status != board.Approved {
			continue
		}
		p, _, err := half(ctx, b, v, t.ID)
		if refusedAs(err, board.CodeNoIntegration) {
			break // the same for each task: behindCheckouts reports it once
		}
		if refused := (*board.Refusal)(nil); errors.As(err, &refused) {
			found = append(found, doctor.Problem{Kind: HalfMerge, Task: t.ID, Text: refused.Message, Hint: cmdline.Hint(refused.Hint)})
			continue
		}
		if err == nil {
			found = append(found, doctor.Problem{
				Kind: HalfMerge, Task: t.ID, Text: fmt.Sprintf("%s is APPROVED, and integration has its commit already, since %.10s", t.ID, p.MergeCommit),
				Fix: func(ctx context.Context) error {
					_, err := finish(ctx, b, gitboard.Request{Actor: actor}, t.ID)
					return err
				},
			})
		} else if !errors.Is(err, errWhole) {
			return nil, err
		}
	}
	left, err := behindCheckouts(ctx, b, v)
	return append(found, left...), cmp.Or(err, v.State.Err())
}

func behindCheckouts(ctx context.Context, b *gitboard.Board, v *gitboard.View) ([]doctor.Problem, error) {
	if _, err := v.Integration(ctx); err != nil {
		return nil, err
	}
	behind, err := left(ctx, b, v)
	if damaged := (*git.DamagedRecordError)(nil); errors.As(err, &damaged) {
		return nil, nil // doctor.Diagnose reports the record, and checkouts can't be read before it is repaired
	}
	if err != nil {
		return nil, err
	}
	var found []doctor.Problem
	for _, f := range behind {
		if !f.process.Ended() && b.Now().Sub(f.at.Std()).Abs() < time.Minute {
			continue // it is about to follow
		}
		found = append(found, doctor.Problem{
			Kind: BehindCheckout, Path: f.top, Text: f.String(),
			Fix: func(ctx context.Context) error { _, err := catchUp(ctx, b, v); return err },
		})
	}
	return found, nil
}
