package git

import (
	"context"
	"errors"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// StatusEntry is a path in a worktree that differs from HEAD.
type StatusEntry struct {
	Code string // two letters, index and file, as in git-status: " M", "??", "UU"
	Path string // ends in a slash for an untracked directory that is a repository
}

// Untracked reports whether git does not track the path.
func (e StatusEntry) Untracked() bool { return e.Code == "??" }

// StagedAlone reports whether content of the path is staged that its file does not have (any more).
func (e StatusEntry) StagedAlone() bool {
	return strings.Contains("AMTRC", e.Code[:1]) && strings.Contains("MTD", e.Code[1:])
}

// Unmerged reports whether the path has a conflict.
func (e StatusEntry) Unmerged() bool {
	return strings.Contains(e.Code, "U") || e.Code == "AA" || e.Code == "DD"
}

// Checkout is the state of a worktree at one moment.
type Checkout struct {
	Head   plumbing.OID // ZeroOID before the first commit, or if the branch is missing
	Branch string       // full ref that HEAD is attached to; "" if detached
	Dirty  []StatusEntry
}

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
		c = parseStatus(child.Fields(out))
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

// parseStatus parses git-status's "Porcelain Format Version 2".
func parseStatus(lines []string) Checkout {
	c := Checkout{Head: plumbing.ZeroOID}
	for _, line := range lines {
		kind, rest, _ := strings.Cut(line, " ")
		switch kind {
		case "#":
			key, value, _ := strings.Cut(rest, " ")
			switch {
			case key == "branch.oid" && plumbing.OID(value).Valid():
				c.Head = plumbing.OID(value)
			case key == "branch.head" && value != "(detached)":
				c.Branch = plumbing.HeadsPrefix + value
			}
		case "1", "u":
			fields := 8 // code, submodule, modes and ids, then the path
			if kind == "u" {
				fields = 10
			}
			if parts := strings.SplitN(rest, " ", fields); len(parts) == fields {
				c.Dirty = append(c.Dirty, StatusEntry{Code: strings.ReplaceAll(parts[0], ".", " "), Path: parts[fields-1]})
			}
		case "?":
			c.Dirty = append(c.Dirty, StatusEntry{Code: "??", Path: rest})
		}
	}
	return c
}
