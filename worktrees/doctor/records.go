package doctor

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/records"
	"github.com/git-liza/git-liza/gitboard/text"
)

// damagedRecords looks for git's records of worktrees that git can't use, or is about to forget.
// listed means that git can list the worktrees all the same: then new records are those that are
// being written.
func (d *diagnosis) damagedRecords(listed bool) {
	here := d.Entries()
	damaged := d.repo.Records().Damaged()
	for _, record := range d.repo.Records().Nameless() {
		if !slices.Contains(damaged, record) && records.WorktreeOf(record, here) != "" { // another one may be repaired from where it is
			damaged = append(damaged, record)
		}
	}
	for _, record := range damaged {
		held := (*git.HeldError)(nil)
		inUse := errors.As(d.repo.Locks().Left(record, git.LockAge), &held)
		if inUse && held.Young && listed {
			continue
		}
		p := Problem{Kind: DamagedRecord, Path: record}
		path := records.WorktreeOf(record, here)
		switch {
		case path != "":
			p.Text = fmt.Sprintf("git's record of the worktree %s, %s, no longer names its repository and worktree", path, record)
			p.Fix = func(context.Context) error { return records.Complete(record, path) }
		case inUse:
			p.Text = fmt.Sprintf("git's record of a worktree, %s, is not finished", record)
			p.Hint = "wait until no git process works in this repository, then: git liza doctor --fix"
		default:
			p.Text = fmt.Sprintf("git's record of a worktree, %s, belongs to none", record)
			if records.OnlyBegun(record) {
				p.Fix = func(context.Context) error { return records.Drop(record) }
			} else {
				p.Hint = "a human moves it out of that directory: the index and the HEAD of a worktree are in it"
			}
		}
		d.add(p)
	}
	for _, record := range d.repo.Records().Unfinished() {
		head, held := filepath.Join(record, "HEAD"), (*git.HeldError)(nil)
		if errors.As(d.repo.Locks().Left(head, git.LockAge), &held) && held.Young {
			continue
		}
		p := Problem{Kind: DamagedRecord, Path: record, Text: fmt.Sprintf("git's record of a worktree, %s, is not finished, and while it is so git neither fetches nor packs", record)}
		if held == nil && records.OnlyBegun(record) {
			p.Fix = func(context.Context) error { return records.Drop(record) }
		} else {
			p.Hint = fmt.Sprintf("make sure that no git process runs in this repository, then: git rev-parse HEAD >%s", text.Quote(head))
		}
		d.add(p)
	}
}
