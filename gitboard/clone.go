package gitboard

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/log"
)

// cloneFile is the file that holds the id of this clone.
const cloneFile = "clone"

// isCloneID reports whether a text has the form of a clone's id: that of a Token.
func isCloneID(text string) bool {
	return len(text) == tokenSize*2 && strings.Trim(text, "0123456789abcdef") == ""
}

// CloneID returns the random id of this clone, which is created on first use. If it was lost, and
// all tasks with worktrees in this clone name the same id, it is that one; otherwise the clone gets
// another id.
func (b *Board) CloneID(ctx context.Context) (string, error) {
	id, damaged, err := b.keptClone()
	if err != nil || id != "" {
		return id, err
	}
	if id, err = b.formerClone(ctx); err != nil || id != "" && !b.writes {
		return id, err
	}
	if id == "" {
		if id, err = b.Token(); err != nil {
			return "", err
		}
	}
	if damaged {
		return id, b.KeepCloneID(id)
	}
	path, err := b.place(cloneFile)
	if err != nil {
		return "", err
	}
	if err := createSmall(path, id, readable); err != nil {
		return "", err
	}
	id, _, err = b.keptClone() // another process may have been first
	return id, err
}

// KeepCloneID writes the id of this clone, as CloneID has returned it.
func (b *Board) KeepCloneID(id string) error {
	path, err := b.place(cloneFile)
	if err != nil {
		return err
	}
	return git.ReplaceFile(path, []byte(id+"\n"))
}

// CloneFile returns the path of the file that holds this clone's id, and whether the file is
// damaged.
func (b *Board) CloneFile() (path string, damaged bool) {
	_, damaged, _ = b.keptClone()
	return b.own(cloneFile), damaged
}

// keptClone returns the id of this clone, or "" and whether its file exists without an id.
func (b *Board) keptClone() (id string, damaged bool, err error) {
	id, err = b.Kept(cloneFile)
	if err != nil || isCloneID(id) {
		return id, false, err
	}
	_, missing := os.Lstat(b.own(cloneFile))
	return "", missing == nil, nil
}

// formerClone returns the clone that claimed the unfinished tasks whose worktrees exist in this
// directory and are on their branches: a reviewer's are detached. It returns "" if there are no
// such tasks, or if they do not agree.
func (b *Board) formerClone(ctx context.Context) (string, error) {
	root, err := b.Root(ctx)
	if err != nil || root == "" {
		return "", err
	}
	here := map[string]string{}                                 // task → worktree
	entries, _ := os.ReadDir(filepath.Join(root, ".worktrees")) // there may be none yet
	for _, e := range entries {
		if path := filepath.Join(root, ".worktrees", e.Name()); board.ValidTaskID(e.Name()) && b.Repo().Worktree(path).Owns() {
			here[e.Name()] = path
		}
	}
	if len(here) == 0 {
		return "", nil
	}
	v, err := b.View(ctx)
	if errors.Is(err, log.ErrNoBoard) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	former := ""
	for task, path := range here {
		t := v.State.Task(task)
		if t == nil || t.Status.Terminal() || !isCloneID(t.Clone) {
			continue
		}
		_, branch, err := b.Repo().Worktree(path).Head(ctx)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil || branch != v.TaskRef(task) {
			continue // damaged, or somebody else's work
		}
		if former != "" && former != t.Clone {
			return "", nil
		}
		former = t.Clone
	}
	return former, v.State.Err()
}
