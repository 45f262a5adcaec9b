package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// CheckoutDetached makes the worktree match commit exactly, with HEAD
// detached. All files are there, even if the worktree was a sparse one. Local changes and untracked
// files are lost, repositories among them, and an open merge is abandoned. Ignored files, such as
// build caches, stay. Hooks do not run. It returns ErrBusy if another process keeps the worktree
// locked.
func (w *Worktree) CheckoutDetached(ctx context.Context, commit plumbing.OID) error {
	if err := checkOIDs(commit); err != nil {
		return err
	}
	if err := w.repo.promised(ctx, commit); err != nil {
		return err
	}
	if err := w.free(ctx); err != nil {
		return err
	}
	if sparse, err := w.sparse(ctx); err != nil {
		return err
	} else if sparse != "" {
		if err := disk.Replace(sparse, []byte(allFiles)); err != nil {
			return disk.NewStorageError(sparse, err)
		}
	}
	checkout := slices.Concat(workers, durable, []string{"-c", "index.sparse=false", "checkout", "--quiet", "--detach", "--force", string(commit), "--"})
	return child.RunAll(ctx,
		w.in("checkout", checkout...),
		w.in("clean", "clean", "--quiet", "--force", "--force", "-d"), // once more for repositories
	)
}

// allFiles is the content of a file info/sparse-checkout that leaves nothing out
// (git-sparse-checkout).
const allFiles = "/*\n"

// Sparse reports whether a worktree may lack files of its commit, because it was made from a sparse
// one (git worktree add copies that) or because somebody made it sparse.
func (w *Worktree) Sparse(ctx context.Context) (bool, error) {
	file, err := w.sparse(ctx)
	return file != "", err
}

// sparse returns the file that lists the files left out of a worktree, "" if none are.
func (w *Worktree) sparse(ctx context.Context) (string, error) {
	dir, err := w.gitDir(ctx)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "info", "sparse-checkout")
	patterns, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist), string(patterns) == allFiles:
		return "", nil
	case err != nil:
		return "", disk.NewStorageError(file, err)
	}
	return file, nil
}
