package merge

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/worktrees"
)

// away reports whether a checkout is missing: its disk is not mounted, or it was deleted and git
// still knows of it.
func away(w git.WorktreeInfo) bool {
	_, err := os.Lstat(filepath.Join(w.Path, ".git")) // the mount point of a disk may be there
	return !w.Main && (w.Prunable || err != nil)
}

// following lists the checkouts of integration that must follow a move. It refuses a move that local
// changes there are in the way of, and any while a rebase or bisection of integration is
// unfinished. A checkout that a crash has left behind follows first. With a shared board the branch
// here may be at another commit than old: then it and its checkouts follow later.
func following(ctx context.Context, b *gitboard.Board, v *gitboard.View, old, new plumbing.OID) (tops []string, err error) {
	if at, err := b.Repo().Ref(ctx, v.IntegrationRef()); err != nil || at != old {
		return nil, err
	}
	if top, command := b.Repo().Records().InUse(v.IntegrationRef()); command != "" {
		end := "git " + command + " --continue"
		if command == "bisect" {
			end = "git bisect reset"
		}
		return nil, board.Refuse(board.CodeCheckedOut, fmt.Sprintf("git %s is not finished in %s, and would set %s back at its end", command, top, plumbing.BranchName(v.IntegrationRef())),
			"finish it there ("+end+"), then try again")
	}
	if _, err := catchUp(ctx, b, v); err != nil {
		return nil, err
	}
	all, err := b.Repo().CheckedOut(ctx, v.IntegrationRef())
	if err != nil {
		return nil, err
	}
	for _, w := range all {
		if !away(w) { // otherwise it follows once it is mounted
			err = mayAdvance(ctx, b, w.Path, old, new)
		}
		if err != nil {
			return nil, err
		}
		tops = append(tops, w.Path)
	}
	return tops, nil
}

// mayAdvance refuses a move of integration that local changes in a checkout are in the way of.
func mayAdvance(ctx context.Context, b *gitboard.Board, top string, old, new plumbing.OID) error {
	overlap, err := b.Repo().Worktree(top).CanAdvance(ctx, old, new)
	if err != nil {
		return fmt.Errorf("bring %s forward: %w", top, err)
	}
	if len(overlap) > 0 {
		return board.Refuse(board.CodeOverlap, fmt.Sprintf("integration is checked out in %s, and changes there are in the way: %s", top, worktrees.Listed(overlap)), "commit them there, or move them elsewhere, then try again")
	}
	return nil
}
