package git

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/records"
	"github.com/git-liza/git-liza/gitboard/git/settings"
)

// namesNoProgram reports whether the repository's own settings name no program, as far as that can
// be seen without git.
func (r *Repo) namesNoProgram() bool {
	text, err := os.ReadFile(filepath.Join(r.common, "config"))
	if _, elsewhere := os.Lstat(filepath.Join(r.common, "commondir")); err != nil || elsewhere == nil {
		return false
	}
	whole := settings.WithoutHooks(string(text))
	for _, name := range []string{"gitconfig", "gitconfig-pushes"} {
		if strings.Contains(string(text), "liza/hooks/"+name+"\n") {
			text, _ := os.ReadFile(filepath.Join(r.common, settings.HooksIncludes, name)) // git ignores a missing one
			whole += string(text)
		}
	}
	return !child.NamesProgram(whole)
}

// door returns the door of a child that works with a git directory of this repository, or of
// another one.
func (r *Repo) door(gitDir string) *child.Door {
	return &child.Door{Where: []string{"--git-dir=" + gitDir}, Harmless: func() bool { return r.shares(gitDir) && r.namesNoProgram() }}
}

// shares reports whether a git directory has the settings of this repository.
func (r *Repo) shares(gitDir string) bool {
	if gitDir == r.common {
		return true
	}
	text, err := os.ReadFile(filepath.Join(gitDir, "commondir"))
	return err == nil && records.PathIn(gitDir, string(text)) == r.common
}

// doorOf is door for a child that runs in a worktree, or in another repository there.
func (r *Repo) doorOf(worktree, op string, where, env []string) *child.Door {
	gitDir := records.LinkedDir(worktree)
	if gitDir == "" {
		gitDir = filepath.Join(worktree, ".git")
	}
	d := r.door(gitDir)
	d.Where, d.Env = where, env
	if slices.Contains(descending, op) {
		d.Modules = func(ctx context.Context) ([]string, error) { return r.allModules(ctx, worktree) }
	}
	return d
}

// descending are the operations for which git starts children in submodules.
var descending = []string{"status", "add", "checkout", "diff", "diff-files", "diff-index", "merge", "read-tree", "reset", "submodule update", "submodule foreach"}

// allModules lists the repositories at the gitlinks of a worktree's index, with those inside them.
func (r *Repo) allModules(ctx context.Context, worktree string) (all []string, err error) {
	paths, err := r.Worktree(worktree).modulesAt(ctx)
	for _, path := range paths {
		module := filepath.Join(worktree, filepath.FromSlash(path))
		if disk.IsLink(module) {
			continue
		}
		inside, failed := r.allModules(ctx, module)
		all, err = append(append(all, module), inside...), cmp.Or(err, failed)
	}
	return all, err
}

// Programs lists the settings by which the repository itself would make git run a program, and that
// git liza does not follow: agents can write them.
func (of Settings) Programs(ctx context.Context) (keys []string, err error) {
	if of.repo.namesNoProgram() {
		return nil, nil
	}
	return child.Programs(ctx, of.repo.common)
}
