package worktrees

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/records"
)

// LeftoverKind is the kind of a Leftover.
type LeftoverKind int

const (
	LeftCandidate LeftoverKind = iota // a worktree that was made for a claim
	LeftRemoval                       // a worktree that was about to be removed
	LeftRecord                        // a record of a process, without a worktree
)

// Leftover is the remains of a process that died while it made, moved or removed a worktree.
type Leftover struct {
	Kind  LeftoverKind
	Task  string // "" if unknown
	Path  string
	Known bool // git liza made it, so that Clear may remove it
	token string
}

// Leftovers finds the remains of processes that died.
func (s *Project) Leftovers(v *gitboard.View) ([]Leftover, error) {
	found, err := s.leftWorktrees(v)
	if err != nil {
		return nil, err
	}
	remains, err := s.leftRecords()
	return append(found, remains...), err
}

// leftWorktrees finds temporary worktrees. It leaves out those that FinishClaim moves into place.
func (s *Project) leftWorktrees(v *gitboard.View) (found []Leftover, err error) {
	entries, err := os.ReadDir(s.Folder())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		l := Leftover{Kind: LeftCandidate, Path: filepath.Join(s.Folder(), e.Name())}
		token, is := strings.CutPrefix(e.Name(), claimMark)
		if !is {
			l.Kind = LeftRemoval
			if token, is = strings.CutPrefix(e.Name(), goneMark); !is {
				continue
			}
		}
		r := s.leftBy(token, l.Path)
		if r == nil {
			continue
		}
		if t := v.State.Task(r.Task); t != nil && l.Kind == LeftCandidate {
			if late := s.unmoved(t); late != nil && late.token == token {
				continue
			}
		}
		l.token, l.Task = token, r.Task
		l.Known = board.ValidTaskID(r.Task) || l.Kind == LeftCandidate && records.Made(records.LinkedDir(l.Path))
		found = append(found, l)
	}
	return found, nil
}

// leftRecords finds records without worktrees.
func (s *Project) leftRecords() (found []Leftover, err error) {
	entries, err := os.ReadDir(s.claimsDir())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		token, path := e.Name(), filepath.Join(s.claimsDir(), e.Name())
		if present(filepath.Join(s.Folder(), claimMark+token)) || present(filepath.Join(s.Folder(), goneMark+token)) {
			continue
		}
		r := s.leftBy(token, path)
		if info, err := e.Info(); err == nil && strings.HasPrefix(token, ".") && s.b.Now().Sub(info.ModTime()) > time.Minute {
			r = &record{} // its writer would have completed it
		}
		if r != nil {
			found = append(found, Leftover{Kind: LeftRecord, Task: r.Task, Path: path, Known: true, token: token})
		}
	}
	return found, nil
}

// leftBy returns the record of the process that made a temporary worktree, nil if the process may
// still need it. Without a record, age decides.
func (s *Project) leftBy(token, path string) *record {
	r, err := s.readRecord(token)
	if err != nil || r != nil && s.inUse(r) {
		return nil
	}
	if r != nil {
		return r
	}
	info, err := os.Stat(path)
	if err != nil || s.b.Now().Sub(info.ModTime()) < abandonedAfter {
		return nil
	}
	return &record{}
}

// Clear removes a leftover. Work in it goes to the attic. It can be repeated.
func (s *Project) Clear(ctx context.Context, v *gitboard.View, l Leftover) error {
	switch l.Kind {
	case LeftCandidate:
		return s.removeCandidate(ctx, l.token)
	case LeftRecord:
		return forget(l.Path)
	}
	if identity(l.Path) == "" { // most of it was removed already
		if err := s.keepModules(ctx, l.Task, l.Path); err != nil {
			return err
		}
		if err := s.repo.Worktree(l.Path).Discard(ctx); err != nil {
			return err // the record names the owner
		}
		return forget(filepath.Join(s.claimsDir(), l.token))
	}
	// Git moves a worktree first and records that afterwards, and removes only what it has recorded.
	if err := s.repo.RepairWorktrees(ctx, l.Path); err != nil {
		return err
	}
	return s.finishGone(ctx, v, l.Task, l.token, l.Path, s.Self(ctx), nil)
}
