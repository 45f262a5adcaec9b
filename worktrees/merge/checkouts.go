package merge

import (
	"context"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/plain"
)

// checkouts lists the top directories of the worktrees that have a branch checked out.
func checkouts(ctx context.Context, b *gitboard.Board, ref string) ([]string, error) {
	all, err := b.Repo().CheckedOut(ctx, ref)
	if err != nil {
		return nil, err
	}
	var tops []string
	for _, w := range all {
		if !w.Prunable {
			tops = append(tops, w.Path)
		}
	}
	return tops, nil
}

// following lists the checkouts of integration that must follow a move, and refuses one that local
// changes there are in the way of. What a crash has left behind follows first. With a shared board
// the branch here may be at another commit than old: then it and its checkouts follow later.
func following(ctx context.Context, b *gitboard.Board, v *gitboard.View, old, new git.OID) ([]string, error) {
	if at, err := b.Repo().Ref(ctx, v.IntegrationRef()); err != nil || at != old {
		return nil, err
	}
	if _, err := catchUp(ctx, b, v); err != nil {
		return nil, err
	}
	tops, err := checkouts(ctx, b, v.IntegrationRef())
	if err != nil {
		return nil, err
	}
	return tops, mayAdvance(ctx, b, tops, old, new)
}

// mayAdvance refuses a move of integration that local changes in a checkout are in the way of.
func mayAdvance(ctx context.Context, b *gitboard.Board, tops []string, old, new git.OID) error {
	for _, top := range tops {
		if !isHere(top) {
			continue // it follows once it is there
		}
		overlap, err := b.Repo().CanAdvance(ctx, top, old, new)
		if err != nil {
			return fmt.Errorf("bring %s forward: %w", top, err)
		}
		if len(overlap) > 0 {
			return board.Refuse(board.CodeOverlap, fmt.Sprintf("integration is checked out in %s, and changes there are in the way: %s", top, names(overlap)), "commit them there, or move them elsewhere, then try again")
		}
	}
	return nil
}

// names lists paths for a sentence.
func names(paths []string) string {
	const most = 10
	var shown []string
	for _, p := range paths[:min(most, len(paths))] {
		shown = append(shown, plain.Line(p, 120))
	}
	text := strings.Join(shown, ", ")
	if more := len(paths) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
