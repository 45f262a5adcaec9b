package merge

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/proc"
	"github.com/git-liza/git-liza/worktrees"
)

// forward is a checkout of integration that follows a move of the branch. Its record is in this
// clone before the branch moves, and goes once the files have followed. Only the record
// distinguishes a crash's leftovers in a checkout from a human's changes.
type forward struct {
	top      string // the top directory of the checkout
	old, new plumbing.OID
	process  proc.ID    // see proc.This
	at       board.Time // when it was announced

	name string       // of the record
	tip  plumbing.OID // where integration is, after its move
}

// forwardDir is the directory of the records.
const forwardDir = "forward"

// forwardOver is the age at which the record of a move that has not happened counts as its ended
// process's, where processes can't be seen.
const forwardOver = time.Hour

// announced checks that the checkouts of integration can follow its move, and records that they are
// about to. That is all that is done before integration moves: if it does not, the records go with
// the next look at them.
func announced(ctx context.Context, b *gitboard.Board, v *gitboard.View, old, new plumbing.OID) error {
	tops, err := following(ctx, b, v, old, new)
	if err != nil {
		return err
	}
	all, err := announcements(b)
	if err != nil {
		return err
	}
	for _, f := range all { // the rest are missing checkouts
		moved, err := contains(ctx, b, old, f.new)
		if err != nil {
			return err
		}
		if moved { // it names already the commit that its checkout follows from
			tops = slices.DeleteFunc(tops, func(top string) bool { return top == f.top })
		}
	}
	return announce(b, tops, old, new)
}

// announce records that checkouts are about to follow integration from old to new.
func announce(b *gitboard.Board, tops []string, old, new plumbing.OID) error {
	for _, top := range tops {
		of := fnv.New32a()
		_, _ = of.Write([]byte(top))
		name := fmt.Sprintf("%s/%08x-%.12s-%d", forwardDir, of.Sum32(), new, os.Getpid())
		if err := b.Clone().KeepFlushed(name, fmt.Sprintf("%s %s\n%s\n%s\n%s", old, new, proc.This(), board.At(b.Now()), top)); err != nil {
			return err
		}
	}
	return nil
}

// withdraw removes the records of a move that this process has announced, and another process has
// made instead: that process's records name the checkouts that follow.
func withdraw(b *gitboard.Board, old, new plumbing.OID) error {
	all, err := announcements(b)
	for _, f := range all {
		if f.process == proc.This() && f.old == old && f.new == new {
			err = errors.Join(err, b.Clone().Discard(f.name))
		}
	}
	return err
}

// announcements reads the records.
func announcements(b *gitboard.Board) (all []forward, err error) {
	entries, err := os.ReadDir(filepath.Join(b.Dir(), forwardDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		name := forwardDir + "/" + e.Name()
		text, unread := b.Clone().Kept(name)
		lines := strings.SplitN(text, "\n", 4)
		if strings.HasPrefix(e.Name(), ".") || text == "" && unread == nil {
			continue // it is being written, or another process has removed it
		}
		if unread != nil {
			return nil, unread
		}
		f := forward{name: name}
		if len(lines) == 4 {
			old, new, _ := strings.Cut(lines[0], " ")
			f.old, f.new, f.process, f.top = plumbing.OID(old), plumbing.OID(new), proc.ID(lines[1]), lines[3]
			f.at, _ = board.ParseTime(lines[2]) // without it, it is old
		}
		all = append(all, f)
	}
	return all, nil
}

// left returns the checkouts here that have not followed integration yet, and removes the records
// of moves that did not happen. While a push is on its way to the remote, a move of an ended
// process may still happen.
func left(ctx context.Context, b *gitboard.Board, v *gitboard.View) (found []forward, err error) {
	all, err := announcements(b)
	if len(all) == 0 {
		return nil, err
	}
	pending, err := b.Sharing().Pending(ctx) // before the tip is read, which it may move
	if err != nil {
		return nil, err
	}
	tip, err := b.Repo().Ref(ctx, v.IntegrationRef())
	if err != nil {
		return nil, err
	}
	checkouts, err := b.Repo().CheckedOut(ctx, v.IntegrationRef())
	if err != nil {
		return nil, err
	}
	for _, f := range all {
		moved, err := contains(ctx, b, tip, f.new)
		if err != nil {
			return nil, err
		}
		over := f.process == proc.This() || f.process.Ended() || b.Now().Sub(f.at.Std()).Abs() > forwardOver
		at := slices.IndexFunc(checkouts, func(w git.WorktreeInfo) bool { return w.Path == f.top })
		switch {
		case moved && at >= 0 && away(checkouts[at]): // it follows once it is mounted
		case moved && at >= 0:
			f.tip = tip
			found = append(found, f)
		case moved || over && pending == 0: // no checkout follows any more
			if err := b.Clone().Discard(f.name); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// contains reports whether a commit has another one in its history.
func contains(ctx context.Context, b *gitboard.Board, commit, older plumbing.OID) (bool, error) {
	if commit.IsZero() || !older.Valid() {
		return false, nil
	}
	is, err := b.Repo().History().IsAncestor(ctx, older, commit)
	if err == nil {
		return is, nil
	}
	if _, missing := b.Repo().Object(ctx, string(older)); errors.Is(missing, git.ErrNotFound) {
		return false, nil
	}
	return false, err
}

// follow lets the checkouts that this process has announced follow the moved integration. The
// warnings report those that could not.
func follow(ctx context.Context, b *gitboard.Board, v *gitboard.View) (done, warnings []string) {
	all, err := left(ctx, b, v)
	if err != nil {
		return nil, []string{fmt.Sprintf("checkouts of integration could not be brought forward (git liza doctor looks at it): %v", err)}
	}
	for _, f := range all {
		if f.process != proc.This() {
			continue
		}
		err := b.Repo().Worktree(f.top).Advance(ctx, f.old, f.tip)
		if err == nil {
			err = b.Clone().Discard(f.name)
		}
		if err != nil {
			warnings = append(warnings, fmt.Sprintf("%s could not be brought forward (git liza doctor looks at it): %v", f.top, err))
			continue
		}
		done = append(done, f.top)
		if stray, err := b.Repo().Worktree(f.top).StrayModules(ctx); err == nil && len(stray) > 0 {
			warnings = append(warnings, fmt.Sprintf("submodules in %s are at other commits than integration's: %s; in that directory: git submodule update", f.top, worktrees.Listed(stray)))
		}
	}
	return done, warnings
}

// catchUp updates the checkouts of integration that a crash has left behind. A refusal names the
// obstacles.
func catchUp(ctx context.Context, b *gitboard.Board, v *gitboard.View) (done []string, err error) {
	if _, err := v.Integration(ctx); err != nil {
		return nil, err
	}
	all, err := left(ctx, b, v)
	if err != nil {
		return nil, err
	}
	for _, f := range all {
		overlap, err := b.Repo().Worktree(f.top).Resume(ctx, f.old, f.tip)
		if err != nil {
			return done, fmt.Errorf("bring %s forward: %w", f.top, err)
		}
		if len(overlap) > 0 {
			return done, board.Refusef(board.CodeOverlap, "%s, and changes there are in the way: %s", f, worktrees.Listed(overlap)).
				Advise("move them elsewhere, without a commit there, then %s", board.ActOn("doctor").With("fix", ""))
		}
		if err := b.Clone().Discard(f.name); err != nil {
			return done, err
		}
		done = append(done, f.top)
	}
	return done, nil
}

// catchUpNow is catchUp on the newest board.
func catchUpNow(ctx context.Context, b *gitboard.Board) (done []string, err error) {
	v, err := b.View(ctx)
	if err != nil {
		return nil, err
	}
	return catchUp(ctx, b, v)
}

// catchUp updates the checkouts of integration that a crash has left behind, after something that
// has landed. What is in the way there is a warning.
func (l *Landed) catchUp(ctx context.Context, b *gitboard.Board) error {
	done, err := catchUpNow(ctx, b)
	l.BroughtForward = append(l.BroughtForward, done...)
	if refused := (*board.Refusal)(nil); errors.As(err, &refused) {
		l.Warnings = append(l.Warnings, fmt.Sprintf("a checkout of integration could not be brought forward (git liza doctor looks at it): %v", err))
		return nil
	}
	return err
}

// String describes the remaining work.
func (f forward) String() string {
	return fmt.Sprintf("integration moved to %s, and the files in %s are still those of %s", f.tip.Short(), f.top, f.old.Short())
}
