package gitboard

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// cloneFile is the file that holds the id of this clone.
const cloneFile = "clone"

// isCloneID reports whether a text has the form of a clone's id: that of a Token.
func isCloneID(text string) bool {
	return len(text) == tokenSize*2 && strings.Trim(text, "0123456789abcdef") == ""
}

// ID returns the random id of this clone, which is created on first use. If it was lost or damaged, and
// all tasks with worktrees in this clone name the same id, it is that one; otherwise the clone gets
// another id.
func (c Clone) ID(ctx context.Context) (string, error) {
	id, damaged, err := c.kept()
	if err != nil || id != "" {
		return id, err
	}
	if id, err = c.former(ctx); err != nil || id != "" && !c.board.writes {
		return id, err
	}
	if id == "" {
		if id, err = c.board.Token(); err != nil {
			return "", err
		}
	}
	path, err := c.writable(cloneFile)
	if err != nil {
		return "", err
	}
	if damaged {
		return id, disk.Replace(path, []byte(id+"\n"))
	}
	if err := createSmall(path, id, readable); err != nil {
		return "", err
	}
	id, _, err = c.kept() // another process may have been first
	return id, err
}

// FreeID returns the lowest free id of a coder that no file of a directory of this clone holds.
func (c Clone) FreeID(v *View, dir string) (string, error) {
	taken := map[string]bool{}
	entries, _ := os.ReadDir(c.own(dir)) // there may be none yet
	for _, e := range entries {
		id, err := c.Kept(dir + "/" + e.Name())
		if err != nil {
			return "", err
		}
		taken[id] = true
	}
	for n := 1; ; n++ {
		if id := roles.IDOf(roles.Coder.Prefix(), n); !taken[id] && v.State.Agent(id) == nil {
			return id, v.State.Err()
		}
	}
}

// kept returns the id of this clone, or "" and whether its file exists without an id.
func (c Clone) kept() (id string, damaged bool, err error) {
	id, err = c.Kept(cloneFile)
	if err != nil || isCloneID(id) {
		return id, false, err
	}
	_, missing := os.Lstat(c.own(cloneFile))
	return "", missing == nil, nil
}

// former returns the clone that claimed the unfinished tasks whose worktrees exist in this
// directory and are on their branches: a reviewer's are detached. It returns "" if there are no
// such tasks, or if they do not agree.
func (c Clone) former(ctx context.Context) (string, error) {
	root, err := c.board.Root(ctx)
	if err != nil || root == "" {
		return "", err
	}
	here := map[string]string{} // task → worktree
	folder := c.board.WorktreesFolder(root)
	entries, _ := os.ReadDir(folder) // there may be none yet
	for _, e := range entries {
		if path := filepath.Join(folder, e.Name()); board.ValidTaskID(e.Name()) && c.board.Repo().Records().Owns(path) {
			here[e.Name()] = path
		}
	}
	if len(here) == 0 {
		return "", nil
	}
	v, err := c.board.View(ctx)
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
		_, branch, err := c.board.Repo().Worktree(path).Head(ctx)
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
