package merge

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/records"
	"github.com/git-liza/git-liza/worktrees"
)

// dirName is the name of TestDir in a folder of caches.
func dirName(b *gitboard.Board) string {
	return filepath.Join(worktrees.CacheName, fmt.Sprintf("%x", sha256.Sum256([]byte(b.Repo().CommonDir())))[:16])
}

// TestDir returns the directory with this clone's kept worktrees for tests, and creates it. It is
// in the user's folder of caches: inside the project, tools would look upwards and find files of the
// main worktree that git ignores, and that a fresh clone lacks. Where there is no such folder, as for
// a service without a home, it is in the git directory.
func TestDir(b *gitboard.Board) (string, error) {
	caches, err := os.UserCacheDir()
	dir := filepath.Join(caches, dirName(b))
	if err != nil || os.MkdirAll(dir, 0o700) != nil {
		dir = filepath.Join(b.Dir(), dirName(b))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", fmt.Errorf("this clone's own files can't be written: %w", err)
		}
	}
	return filepath.EvalSymlinks(dir) // as git names its worktrees
}

// DropTests removes all worktrees in which merges were tested.
func DropTests(ctx context.Context, b *gitboard.Board) error { return clearPlaces(ctx, b, "") }

// clearPlaces removes a kept worktree, "" for all, and those that this repository had before it was
// moved. Anything that git does not know stays: a person made it.
func clearPlaces(ctx context.Context, b *gitboard.Board, place string) error {
	repo := b.Repo()
	all, err := repo.Worktrees(ctx)
	if err != nil {
		return err
	}
	for _, w := range all {
		is := w.Path == place || worktrees.ForTests(w) && (place == "" || !strings.HasSuffix(filepath.Dir(w.Path), dirName(b)))
		record := repo.Records().Of(w.Path)
		if !is || w.Main || !records.Made(record) && !records.Initializing(record) {
			continue
		}
		linked := records.LinkedDir(w.Path)
		if _, err := os.Stat(linked); err == nil && linked != record {
			// The worktree is of the repository that this one is a copy of.
			if err := records.Drop(record); err != nil {
				return err
			}
			continue
		}
		_ = os.Remove(readyFile(w.Path)) // without the worktree it has no effect
		if err := repo.Worktree(w.Path).Discard(ctx); err != nil {
			return err
		}
		if w.Path != place {
			_ = os.Remove(filepath.Dir(w.Path)) // if it is empty
		}
	}
	return nil
}

// dropForgotten removes the kept worktree of a deleted repository that was in the place of this one.
func dropForgotten(repo *git.Repo, place string) error {
	linked := records.LinkedDir(place)
	if !strings.HasPrefix(linked, repo.CommonDir()+string(filepath.Separator)) || repo.Records().Of(place) != "" {
		return nil
	}
	if _, err := os.Stat(linked); !os.IsNotExist(err) {
		return nil
	}
	return os.RemoveAll(place)
}

// readyFile marks a kept worktree as ready. It holds how the worktree was set up.
func readyFile(place string) string { return place + "-ready" }
