package setup

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/hooks/install"
	"github.com/git-liza/git-liza/roles/supervisor"
	"github.com/git-liza/git-liza/worktrees"
	"github.com/git-liza/git-liza/worktrees/merge"
)

// Left is what Leave left of git liza in a repository.
type Left struct {
	Branches []string `json:"branches"` // of unmerged work, and integration
	Files    []string `json:"files"`    // directories with files of removed worktrees that no ref can hold
}

// Leave removes git liza from a clone: tasks' worktrees and branches, refs, hooks, settings and
// files. Unmerged work is refused, or with keep becomes branches; sure is asked before anything
// changes. A repetition continues after an interruption.
func Leave(ctx context.Context, c *call.Call, keep bool, sure func(what string) error) (*Left, error) {
	b, repo := c.Board, c.Board.Repo()
	if repo.Bare() {
		return nil, board.Refuse(board.CodeBare, "a shared bare repository has the board of others", "git liza hooks uninstall --server removes the hooks")
	}
	actor, err := c.Caller(ctx)
	if err != nil {
		return nil, err
	}
	tip, err := repo.Ref(ctx, plumbing.BoardRef)
	if err != nil {
		return nil, err
	}
	left := &Left{}
	if !tip.IsZero() { // otherwise the refs are gone already, or there never was a board
		if err := mayLeave(ctx, c, actor, keep); err != nil {
			return nil, err
		}
		v, err := b.View(ctx)
		if err != nil {
			return nil, err
		}
		if err := sure("the board, its history (git liza export --log FILE keeps a copy) and the worktrees of its tasks are removed from this repository"); err != nil {
			return nil, err
		}
		left.Branches = append(left.Branches, v.State.Config().IntegrationBranch)
		kept, err := worktrees.Leave(ctx, b, actor)
		if err != nil {
			return nil, err
		}
		_ = b.TakeMentions() // of the attic, which is gone
		left.Branches = append(left.Branches, kept...)
	}
	if err := cmp.Or(merge.DropTests(ctx, b), install.Uninstall(ctx, repo)); err != nil {
		return nil, err
	}
	if err := dropSettings(ctx, c); err != nil {
		return nil, err
	}
	if left.Files, err = dropFiles(ctx, c); err != nil {
		return left, err
	}
	root, err := b.Root(ctx)
	if err != nil {
		return left, err
	}
	return left, DropAgentsFiles(root)
}

// mayLeave refuses to leave a board while agents work on it here, or while something would be lost.
func mayLeave(ctx context.Context, c *call.Call, actor board.Actor, keep bool) error {
	v, err := c.Board.View(ctx)
	if err != nil {
		return err
	}
	runs, err := supervisor.RunsHere(ctx, c.Board, v.State)
	if err != nil {
		return err
	}
	if runs {
		return board.Refuse(board.CodeWrongState, "agents run in this clone", "end them first: Ctrl-C in their terminals, or git liza abort")
	}
	if n, err := v.Lacking(ctx); n > 0 || err != nil {
		return cmp.Or(err, error(board.Refuse(board.CodeWrongState, "the remote lacks operations of this clone", "git liza sync")))
	}
	tasks, err := worktrees.Unmerged(ctx, c.Board, actor)
	if err != nil || len(tasks) == 0 || keep {
		return err
	}
	return board.Refuse(board.CodeWrongState, "work is not merged: "+strings.Join(tasks, ", "), "to keep it in branches like "+worktrees.KeptPrefix+tasks[0]+"/1: git liza uninstall --keep")
}

// dropSettings removes git liza's settings and refspecs.
func dropSettings(ctx context.Context, c *call.Call) error {
	s := c.Board.Repo().Settings()
	remotes, err := s.Remotes(ctx)
	if err != nil {
		return err
	}
	for _, name := range remotes {
		key := "remote." + name + ".fetch"
		specs, err := s.All(ctx, key)
		if err != nil {
			return err
		}
		for _, spec := range specs {
			// The others are an integration branch that only git liza fetches.
			if ref, negative := strings.CutPrefix(spec, "^"); negative && slices.Contains(specs, "^"+plumbing.BoardPrefix+"*") && strings.HasPrefix(ref, plumbing.HeadsPrefix) {
				if err := s.Remove(ctx, key, spec); err != nil {
					return err
				}
			}
		}
	}
	return cmp.Or(s.RemoveSection(ctx, "liza"), s.Include("/"+board.WorktreesDir+"/", "/"+board.WorktreesDir, "/.liza/"))
}

// dropFiles removes git liza's files, except those of removed worktrees that no ref can hold. It
// returns their directories.
func dropFiles(ctx context.Context, c *call.Call) (kept []string, err error) {
	root, err := c.Board.Root(ctx)
	if err != nil {
		return nil, err
	}
	_ = os.Remove(c.Board.WorktreesFolder(root))           // empty, unless a person put something there
	_ = os.Remove(filepath.Join(root, board.WorktreesDir)) // the same, or a link to it
	dir := c.Board.Dir()
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		if held, _ := os.ReadDir(path); len(held) > 0 && slices.Contains([]string{"large", "modules"}, e.Name()) {
			kept = append(kept, path)
			continue
		}
		err = cmp.Or(err, disk.NewStorageError(dir, os.RemoveAll(path)))
	}
	_ = os.Remove(dir)
	return kept, cmp.Or(err, disk.NewStorageError(root, os.RemoveAll(filepath.Join(root, ".liza"))))
}
