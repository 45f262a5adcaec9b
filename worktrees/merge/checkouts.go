package merge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
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

// following lists the checkouts of integration that must follow a move from the given commit. With
// a shared board the branch here may be at another commit: then it and its checkouts follow later.
func following(ctx context.Context, b *gitboard.Board, v *gitboard.View, from git.OID) ([]string, error) {
	if here, err := b.Repo().Ref(ctx, v.IntegrationRef()); err != nil || here != from {
		return nil, err
	}
	return checkouts(ctx, b, v.IntegrationRef())
}

// mayAdvance refuses to move integration if that would conflict with local changes in a checkout.
func mayAdvance(ctx context.Context, b *gitboard.Board, tops []string, old, new git.OID) error {
	for _, top := range tops {
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

// advance updates checkouts after integration has moved. The warnings report those that could not
// be updated.
func advance(ctx context.Context, b *gitboard.Board, tops []string, old, new git.OID) (done, warnings []string) {
	for _, top := range tops {
		if err := b.Repo().Advance(ctx, top, old, new); err != nil {
			warnings = append(warnings, fmt.Sprintf("%s could not be brought forward (git liza doctor looks at it): %v", top, err))
			continue
		}
		done = append(done, top)
	}
	return done, warnings
}

// lookBack is how many commits of integration are tried as the one a checkout was left at.
const lookBack = 100

// behind finds the commit at which a checkout of integration was left when integration moved
// without it: the commit that explains the most of what is staged there. Zero for none.
func behind(ctx context.Context, b *gitboard.Board, top string, tip git.OID) (git.OID, error) {
	dirty, err := b.Repo().Status(ctx, top)
	if err != nil {
		return "", err
	}
	var staged []string
	for _, e := range dirty {
		if e.Code[0] != ' ' && e.Code[0] != '?' {
			staged = append(staged, e.Path)
		}
	}
	if len(staged) == 0 {
		return git.ZeroOID, nil
	}
	chain, err := b.Repo().FirstParents(ctx, tip, lookBack)
	if err != nil || len(chain) < 2 {
		return git.ZeroOID, err
	}
	best, most := git.ZeroOID, 0
	for _, old := range chain[1:] {
		changed, err := b.Repo().ChangedFiles(ctx, old, tip)
		if err != nil {
			return "", err
		}
		if len(changed) <= most || slices.ContainsFunc(changed, func(f string) bool { return !slices.Contains(staged, f) }) {
			continue
		}
		overlap, err := b.Repo().CanAdvance(ctx, top, old, tip)
		if gitio.Unfinished(err) {
			return "", err
		}
		if err == nil && len(overlap) == 0 {
			best, most = old, len(changed)
		}
	}
	return best, nil
}

// catchUp updates the checkouts of integration that a crash left behind.
func catchUp(ctx context.Context, b *gitboard.Board, v *gitboard.View) ([]string, error) {
	ref := v.IntegrationRef()
	if _, err := b.Integration(ctx, v); err != nil {
		return nil, err
	}
	tip, err := b.Repo().Ref(ctx, ref)
	if err != nil {
		return nil, err
	}
	tops, err := checkouts(ctx, b, ref)
	if err != nil {
		return nil, err
	}
	var done []string
	for _, top := range tops {
		old, err := behind(ctx, b, top, tip)
		if err != nil {
			return done, err
		}
		if old.IsZero() {
			continue
		}
		if err := b.Repo().Advance(ctx, top, old, tip); err != nil {
			return done, err
		}
		done = append(done, top)
	}
	return done, nil
}
