package worktrees

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
)

// Entry is a worktree below .worktrees, or a task of this clone that should have one.
type Entry struct {
	Task       string       `json:"task"` // "" if it belongs to no task
	Status     board.Status `json:"status,omitempty"`
	AssignedTo string       `json:"assigned_to,omitempty"`
	Path       string       `json:"path"` // absolute
	Exists     bool         `json:"exists"`
	Branch     string       `json:"branch,omitempty"`
	Head       plumbing.OID `json:"head,omitempty"`
}

// List lists the tasks' worktrees of this clone: those that exist, and those that the board
// requires.
func List(ctx context.Context, b *gitboard.Board) ([]Entry, error) {
	s, err := Open(ctx, b)
	if err != nil {
		return nil, err
	}
	v, err := b.View(ctx)
	if err != nil {
		return nil, err
	}
	all, err := s.repo.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	var list []Entry
	listed := map[string]bool{}
	for _, w := range all {
		name, is := s.InFolder(w.Path)
		if !is || strings.HasPrefix(name, ".") {
			continue
		}
		e := Entry{Path: w.Path, Exists: !w.Prunable, Branch: plumbing.BranchName(w.Branch), Head: w.Head}
		if t := v.State.Task(name); t != nil {
			e.Task, e.Status, e.AssignedTo = t.ID, t.Status, t.AssignedTo
			listed[t.ID] = true
		}
		list = append(list, e)
	}
	for _, brief := range v.State.Tasks() {
		if listed[brief.ID] || !Live(brief.Status) {
			continue
		}
		if t := v.State.Task(brief.ID); t != nil && t.Clone == s.Clone {
			list = append(list, Entry{Task: t.ID, Status: t.Status, AssignedTo: t.AssignedTo, Path: s.Path(t.ID)})
		}
	}
	return list, v.State.Err()
}

// Live reports whether a task of that status is being worked on or reviewed.
func Live(s board.Status) bool { return s == board.Claimed || s == board.ReadyForReview }

// Entries returns the paths in .worktrees.
func (s *Project) Entries() (paths []string) {
	entries, _ := os.ReadDir(s.Folder()) // without it there are none
	for _, e := range entries {
		paths = append(paths, filepath.Join(s.Folder(), e.Name()))
	}
	return paths
}

// MovedTo returns the path in .worktrees to which a process that then died has moved a worktree, given
// the path in git's record; "" for none.
func (s *Project) MovedTo(path string) string {
	record := s.repo.Records().Of(path)
	if record == "" {
		return ""
	}
	if at := records.WorktreeOf(record, s.Entries()); at != path {
		return at
	}
	return ""
}

// InFolder returns the name of a worktree directly below .worktrees.
func (s *Project) InFolder(path string) (string, bool) {
	dir, name := filepath.Split(path)
	return name, SamePath(filepath.Clean(dir), s.Folder())
}

// ofTask reports whether git's record describes a worktree in .worktrees, even from before the
// project was moved.
func (s *Project) ofTask(w git.WorktreeInfo) bool {
	dir, _ := filepath.Split(w.Path)
	return !s.Bare && !w.Main && strings.HasSuffix(filepath.Base(dir), board.WorktreesDir)
}

// MovedAlong reports whether a worktree moved with the project: it is in .worktrees, and its .git still
// names the former place of the record, which has the same name.
func (s *Project) MovedAlong(w git.WorktreeInfo) bool {
	record := s.repo.Records().Of(w.Path)
	linked := records.LinkedDir(filepath.Join(s.Folder(), filepath.Base(w.Path)))
	return s.ofTask(w) && record != "" && filepath.Base(linked) == filepath.Base(record) && linked != record && !present(linked)
}

// Forgettable reports whether git may forget a worktree once it no longer exists.
func (s *Project) Forgettable(w git.WorktreeInfo) bool {
	return s.ofTask(w) && theirs(s.repo.Records().Of(w.Path), "", "") == ""
}

// removeEmpty removes only an empty directory.
func removeEmpty(path string) {
	if isDir(path) {
		_ = os.Remove(path)
	}
}

func isDir(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// present reports whether something exists at a path.
func present(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
