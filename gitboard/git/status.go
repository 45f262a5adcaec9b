package git

import (
	"context"
	"errors"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// StatusEntry is plumbing.StatusEntry, and Checkout is plumbing.Checkout.
type (
	StatusEntry = plumbing.StatusEntry
	Checkout    = plumbing.Checkout
)

// Checkout returns the HEAD of the worktree and what differs from it.
// Untracked files are listed one by one, without ignored ones. A submodule is listed if its commit
// or anything in it differs. A moved file is listed under both paths. It takes no lock, so it does
// not disturb anyone who works there. It returns a BrokenRefError if the branch is broken: git then
// sees every file as new, or fails. It returns a FilterError if a filter keeps it from comparing.
func (w *Worktree) Checkout(ctx context.Context) (Checkout, error) {
	ask := w.in("status", "status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind",
		"--untracked-files=all", "--ignore-submodules=none", "--no-renames").With("GIT_OPTIONAL_LOCKS=0")
	out, err := ask.Output(ctx)
	c := Checkout{Head: plumbing.ZeroOID}
	if err == nil {
		c = plumbing.ParseStatus(child.Fields(out))
	}
	if c.Head.IsZero() && ctx.Err() == nil {
		if broken := w.brokenBranch(ctx); broken != nil {
			return Checkout{}, broken
		}
	}
	if err != nil {
		return Checkout{}, w.repo.filtered(ctx, w.path, ask, w.damagedIndex(err))
	}
	return c, nil
}

// brokenBranch returns a BrokenRefError if the branch that a linked worktree has checked out is
// broken. It reads HEAD's file, since git names no branch then.
func (w *Worktree) brokenBranch(ctx context.Context) error {
	line, _ := w.headFile() // names nothing if it can't be read
	branch, symbolic := strings.CutPrefix(line, plumbing.SymbolicMark)
	if !symbolic {
		return nil
	}
	_, err := w.repo.Ref(ctx, branch)
	if errors.As(err, new(*BrokenRefError)) {
		return err
	}
	return nil
}

// Status returns the Dirty part of Checkout.
func (w *Worktree) Status(ctx context.Context) ([]StatusEntry, error) {
	c, err := w.Checkout(ctx)
	return c.Dirty, err
}
