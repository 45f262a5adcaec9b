package worktrees

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/text"
)

// damagedRecords looks for git's records of worktrees that git can't use, or is about to forget.
// listed means that git can list the worktrees all the same: then new records are those that are
// being written.
func (s *site) damagedRecords(listed bool) []Problem {
	here := s.entries()
	var found []Problem
	damaged := s.repo.Records().Damaged()
	for _, record := range s.repo.Records().Nameless() {
		if !slices.Contains(damaged, record) && s.repo.Records().WorktreeOf(record, here) != "" { // another one may be repaired from where it is
			damaged = append(damaged, record)
		}
	}
	for _, record := range damaged {
		held := (*git.HeldError)(nil)
		inUse := errors.As(s.repo.Locks().Left(record, git.LockAge), &held)
		if inUse && held.Young && listed {
			continue
		}
		p := Problem{Kind: DamagedRecord, Path: record}
		path := s.repo.Records().WorktreeOf(record, here)
		switch {
		case path != "":
			p.Text = fmt.Sprintf("git's record of the worktree %s, %s, no longer names its repository and worktree", path, record)
			p.Fix = func(context.Context) error { return s.repo.Records().Complete(record, path) }
		case inUse:
			p.Text = fmt.Sprintf("git's record of a worktree, %s, is not finished", record)
			p.Hint = "wait until no git process works in this repository, then: git liza doctor --fix"
		default:
			p.Text = fmt.Sprintf("git's record of a worktree, %s, belongs to none", record)
			if git.OnlyBegun(record) {
				p.Fix = func(context.Context) error { return s.repo.Records().Drop(record) }
			} else {
				p.Hint = "a human moves it out of that directory: the index and the HEAD of a worktree are in it"
			}
		}
		found = append(found, p)
	}
	for _, record := range s.repo.Records().Unfinished() {
		head, held := filepath.Join(record, "HEAD"), (*git.HeldError)(nil)
		if errors.As(s.repo.Locks().Left(head, git.LockAge), &held) && held.Young {
			continue
		}
		p := Problem{Kind: DamagedRecord, Path: record, Text: fmt.Sprintf("git's record of a worktree, %s, is not finished, and while it is so git neither fetches nor packs", record)}
		if held == nil {
			p.Fix = func(ctx context.Context) error { return s.repo.Records().Finish(ctx, record) }
		} else {
			p.Hint = fmt.Sprintf("%s; make sure that no git process runs in this repository, then: git rev-parse HEAD >%s", held, text.Quote(head))
		}
		found = append(found, p)
	}
	return found
}

// damagedClone reports that the file with this clone's id is damaged. s.clone is what CloneID has
// made of it.
func (s *site) damagedClone() Problem {
	file, still := s.b.Clone().File()
	p := Problem{
		Kind: DamagedClone, Path: file, Text: fmt.Sprintf("%s, which names this clone, was damaged, and no task could name it: it is %s from now on", file, s.clone),
		Fix: func(context.Context) error { return s.b.Clone().KeepID(s.clone) },
	}
	if still {
		p.Text = fmt.Sprintf("%s, which names this clone, is damaged; it is %s by the tasks that have worktrees in this clone", file, s.clone)
	}
	return p
}

// entries returns the paths in .worktrees.
func (s *site) entries() (paths []string) {
	entries, _ := os.ReadDir(filepath.Join(s.root, ".worktrees")) // without entries it is empty
	for _, e := range entries {
		paths = append(paths, filepath.Join(s.root, ".worktrees", e.Name()))
	}
	return paths
}

// free returns the first unused path of <dir>/1, <dir>/2 and so on.
func free(dir string) string {
	for n := 1; ; n++ {
		if path := filepath.Join(dir, strconv.Itoa(n)); !present(path) {
			return path
		}
	}
}

// keepRecorded puts into the attic what only the record of a worktree names: the commit that was
// checked out, and others.
func (s *site) keepRecorded(ctx context.Context, task string, head plumbing.OID, others ...plumbing.OID) error {
	for _, commit := range append([]plumbing.OID{head}, others...) {
		if err := s.keepCommit(ctx, task, commit); err != nil {
			return err
		}
	}
	return nil
}

// forgetGone makes git forget a task's worktree without its directory. The attic holds the commits
// that only git's record of it names. A claim may put another worktree at the path in the meantime,
// after it has done the same.
func (s *site) forgetGone(ctx context.Context, path string, head plumbing.OID) error {
	task, record := filepath.Base(path), s.repo.Worktree(path).Record()
	if record == "" {
		return s.keepRecorded(ctx, task, head)
	}
	others, err := s.repo.Records().Commits(ctx, record)
	if err == nil {
		err = s.keepRecorded(ctx, task, head, others...)
	}
	switch {
	case !present(record):
		return nil // another process has kept all that
	case err != nil || git.LinkedDir(path) == record: // it is back
		return err
	}
	return s.repo.Records().Forget(ctx, record, s.modulesDir(task))
}

// forgetMissing is forgetGone for the worktree of a task that is about to get another one. Git
// would drop the record of the old one without a look at it.
func (s *site) forgetMissing(ctx context.Context, task string) error {
	path := s.path(task)
	record := s.repo.Worktree(path).Record()
	if record == "" || present(path) {
		return nil
	}
	if theirs(record, "", "") != "" {
		return fmt.Errorf("%s: %w", path, fs.ErrExist)
	}
	head, err := git.RecordedHead(record)
	if err != nil {
		return err
	}
	return s.forgetGone(ctx, path, head)
}

// keepCommit puts a commit that git's record of a worktree names into the attic, unless a ref holds
// it: the one that was checked out, or one of changes that were put aside. The record, which holds
// it until now, is about to go.
func (s *site) keepCommit(ctx context.Context, task string, commit plumbing.OID) error {
	if commit.IsZero() {
		return nil
	}
	return s.b.Try(ctx, "keeping the commit of a worktree", func(ctx context.Context) (bool, error) {
		unheld, err := s.repo.History().Unheld(ctx, commit)
		if err != nil || !unheld {
			return true, err
		}
		attic, err := s.attic(ctx, task)
		if err != nil {
			return false, err
		}
		return s.moved(ctx, []plumbing.RefUpdate{{Ref: plumbing.AtticRef(task, attic.next), Old: plumbing.ZeroOID, New: commit}})
	})
}

// unsound looks for what keeps git from using a worktree that it knows; nil for nothing.
func (d *diagnosis) unsound(ctx context.Context, task string, l layout) (*Problem, error) {
	p := &Problem{Kind: DamagedWorktree, Task: task, Path: l.path}
	switch {
	case d.halfMoved(l.path):
		p.Text = fmt.Sprintf("the worktree of %s was moved to its place by a process that died before git knew", task)
		p.Fix = func(ctx context.Context) error { return d.repo.Worktree(l.path).FinishMove(ctx) }
	case l.crossed != "":
		p.Text = fmt.Sprintf("%s leads to git's record of another worktree, %s", filepath.Join(l.path, ".git"), l.crossed)
		p.Fix = func(ctx context.Context) error { return Repair(ctx, d.b) }
	case l.ours && d.repo.Worktree(l.path).LostHead():
		line, err := d.lostHead(ctx, task, l.path)
		if err != nil {
			return nil, err
		}
		p.Text = fmt.Sprintf("the worktree of %s has lost its HEAD", task)
		p.Hint = fmt.Sprintf("a human writes it again: echo '%s' >%s", line, text.Quote(filepath.Join(git.LinkedDir(l.path), "HEAD")))
	case l.ours:
		damaged, err := d.repo.Worktree(l.path).DamagedIndex()
		if !damaged {
			return nil, err
		}
		p.Text = fmt.Sprintf("the index of the worktree of %s is damaged", task)
		p.Hint = readAgain(l.path)
	default:
		return nil, nil
	}
	return p, nil
}

// readAgain is the hint for a damaged index: git makes another one from HEAD, and leaves all files
// as they are.
func readAgain(path string) string {
	return fmt.Sprintf("git -C %s read-tree HEAD makes another one; all files stay, and nothing is staged then", text.Quote(path))
}

// lostHead returns the line that belongs into the HEAD of a worktree that has lost it: its task's
// branch, or the commit that it was at if the branch does not have that, or in the middle of a
// rebase.
func (d *diagnosis) lostHead(ctx context.Context, task, path string) (string, error) {
	last, err := d.repo.Worktree(path).LastHead(ctx)
	if err != nil && !errors.Is(err, git.ErrNotFound) {
		return "", err
	}
	tip, err := d.repo.Ref(ctx, d.v.TaskRef(task))
	if err != nil {
		return "", err
	}
	held, err := d.heldBy(ctx, cmp.Or(last, plumbing.ZeroOID), []plumbing.OID{tip})
	if err != nil {
		return "", err
	}
	if last != "" && (!held || midst(path) == "rebase") {
		return string(last), nil
	}
	return "ref: " + d.v.TaskRef(task), nil
}
