package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// Followed reports how this clone followed a shared board.
type Followed struct {
	Moved          bool // the integration branch
	BroughtForward []string
	Warnings       []string // why it could not follow
}

// Follow updates this clone's view of a shared board, and moves its integration branch, with its
// checkouts, to its place in other clones. If local changes or a person's own commits are in the
// way, the branch stays where it is, with a warning. If the board isn't shared, nothing happens. A
// view that was brought up to date since a moment serves; the zero moment is now.
func Follow(ctx context.Context, b *gitboard.Board, since gitboard.Moment) (f Followed, err error) {
	if err := b.Sharing().RefreshSince(ctx, since); err != nil || b.Remote() == "" {
		return f, err
	}
	v, err := b.View(ctx)
	if err != nil {
		return f, err
	}
	to, err := v.Integration(ctx)
	if err != nil {
		return f, err
	}
	done, err := catchUp(ctx, b, v)
	f.BroughtForward = done
	if refused := (*board.Refusal)(nil); errors.As(err, &refused) {
		f.Warnings = append(f.Warnings, refused.Error())
		return f, nil
	}
	ref := v.IntegrationRef()
	here, atRef := b.Repo().Ref(ctx, ref)
	if err = cmp.Or(err, atRef); err != nil || here == to {
		return f, err
	}
	if !here.IsZero() {
		forward, err := b.Repo().History().IsAncestor(ctx, here, to)
		if err != nil {
			return f, err
		}
		if !forward {
			name := v.State.Config().IntegrationBranch
			f.Warnings = append(f.Warnings, fmt.Sprintf("the branch %s has commits here that %s lacks: git merge %s there, then git liza land %s", name, b.Remote(), plumbing.TrackingRef(b.Remote(), "integration"), name))
			return f, nil
		}
	}
	if err := announced(ctx, b, v, here, to); err != nil {
		if errors.As(err, new(*board.Refusal)) {
			f.Warnings = append(f.Warnings, err.Error())
			err = nil
		}
		return f, err
	}
	err = b.Repo().UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: ref, Old: here, New: to}}, "git liza: follow "+b.Remote())
	if errors.Is(err, git.ErrRefMoved) || errors.Is(err, git.ErrBusy) {
		return f, withdraw(b, here, to) // another process moves it
	}
	if err != nil {
		return f, err
	}
	f.Moved = true
	done, f.Warnings = follow(ctx, b, v)
	f.BroughtForward = append(f.BroughtForward, done...)
	return f, nil
}
