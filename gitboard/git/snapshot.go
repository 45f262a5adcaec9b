package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
)

// Snapshot commits everything in the worktree, including untracked but not ignored files, except
// the paths in leaving, on top of its HEAD, and returns that commit, or HEAD itself if nothing
// differs. In a sparse checkout it also commits files outside of its cone that are there all the
// same; tracked ones that are not there are not deleted. It works in the middle of a conflict and
// commits the markers as they are. Index, HEAD and files are not touched, and no ref points to the
// commit yet. who is author and committer; a zero time means now. It returns a FilterError if a
// filter keeps it from reading a file.
func (w *Worktree) Snapshot(ctx context.Context, message string, who plumbing.Signature, leaving ...string) (plumbing.OID, error) {
	var pathspecs []byte
	for _, path := range leaving {
		pathspecs = append(pathspecs, ":(top,exclude,literal)"+path+"\x00"...)
	}
	add := slices.Concat(durable, []string{"-c", "core.safecrlf=false", "add", "--all", "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul"})
	return KeptWhole(func() (plumbing.OID, error) {
		return w.commitIndex(ctx, message, who, w.in("add", add...).Feed(pathspecs))
	})
}

// StagedSnapshot is Snapshot for staged content, whatever the files are by now. It fails in the
// middle of a conflict.
func (w *Worktree) StagedSnapshot(ctx context.Context, message string, who plumbing.Signature) (plumbing.OID, error) {
	return KeptWhole(func() (plumbing.OID, error) { return w.commitIndex(ctx, message, who) })
}

// commitIndex commits a copy of a worktree's index, as Snapshot does, after the given command has
// changed the copy; none leaves it as it is.
func (w *Worktree) commitIndex(ctx context.Context, message string, who plumbing.Signature, change ...command) (plumbing.OID, error) {
	head, _, err := w.Head(ctx)
	if err != nil {
		return "", err
	}
	index, err := w.copyIndex(ctx)
	if err != nil {
		return "", err
	}
	defer os.Remove(index)
	env := "GIT_INDEX_FILE=" + index
	for _, add := range change {
		add = add.With(env)
		if err := add.Run(ctx); err != nil {
			return "", w.repo.filtered(ctx, w.path, add, err)
		}
	}
	out, err := w.in("write-tree", slices.Concat(durable, []string{"write-tree"})...).With(env).Output(ctx)
	if err != nil {
		return "", err
	}
	tree := strings.TrimSpace(string(out))
	args := slices.Concat(durable, []string{"commit-tree", tree})
	var held []plumbing.OID
	if head.IsZero() {
		if plumbing.OID(tree) == plumbing.EmptyTree {
			return plumbing.ZeroOID, nil
		}
		held = w.lastTree(ctx)
	} else {
		commit, err := w.repo.Object(ctx, string(head)+"^{tree}")
		if err != nil {
			return "", err
		}
		if commit.OID == plumbing.OID(tree) {
			return head, nil
		}
		args = append(args, "-p", string(head))
	}
	return w.repo.commitTree(ctx, w.in("commit-tree", args...), message, who, held...)
}

// commitTree runs a prepared git commit-tree and keeps the commit, without the trees that something
// else holds.
func (r *Repo) commitTree(ctx context.Context, c command, message string, who plumbing.Signature, held ...plumbing.OID) (plumbing.OID, error) {
	out, err := c.With(authorEnv(who)...).Feed([]byte(message)).Output(ctx)
	if err != nil {
		return "", err
	}
	commit := plumbing.OID(strings.TrimSpace(string(out)))
	return commit, r.Upkeep().Keep(ctx, commit, held...)
}

// lastTree returns the tree of the last commit that was checked out in a worktree whose branch was
// dropped, where all files look new; none if its reflog names none, or if it is missing.
func (w *Worktree) lastTree(ctx context.Context) []plumbing.OID {
	dir, _ := w.gitDir(ctx)
	last, _ := records.LoggedHead(dir)
	tree, err := w.repo.Object(ctx, string(last)+"^{tree}")
	if err != nil {
		return nil
	}
	return []plumbing.OID{tree.OID}
}

// copyIndex copies a worktree's index to a file next to it and returns the copy's path. The copy
// saves git from reading every file again, and keeps paths that are tracked although ignored.
func (w *Worktree) copyIndex(ctx context.Context) (path string, err error) {
	dir, err := w.gitDir(ctx)
	if err != nil {
		return "", err
	}
	return copyIndexIn(dir)
}

// copyIndexIn is copyIndex for the git directory of a worktree.
func copyIndexIn(dir string) (path string, err error) {
	to, err := os.CreateTemp(dir, "liza-index-")
	if err != nil {
		return "", disk.NewStorageError(dir, err)
	}
	from, err := os.Open(filepath.Join(dir, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		// A missing index means an empty one, but an empty file is not a valid index.
		return to.Name(), disk.NewStorageError(dir, errors.Join(to.Close(), os.Remove(to.Name())))
	}
	if err == nil {
		defer from.Close()
		err = disk.CopyAged(to, from)
	}
	if err := errors.Join(err, to.Close()); err != nil {
		os.Remove(to.Name())
		return "", fmt.Errorf("copy the index in %s: %w", dir, disk.NewStorageError(dir, err))
	}
	return to.Name(), nil
}
