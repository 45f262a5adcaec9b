package gitio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git"
)

// Snapshot commits everything in the worktree with the given top directory, including untracked but
// not ignored files, on top of its HEAD, and returns that commit, or HEAD itself if nothing
// differs. In a sparse checkout it also commits files outside of its cone that are there all the
// same; tracked ones that are not there are not deleted. It works in the middle of a conflict and
// commits the markers as they are. Index, HEAD and files are not touched, and no ref points to the
// commit yet. who is author and committer; a zero time means now.
func (r *Repo) Snapshot(ctx context.Context, worktree, message string, who git.Signature) (git.OID, error) {
	return r.commitIndex(ctx, worktree, message, who, "add", "--all", "--sparse")
}

// StagedSnapshot is Snapshot for what is staged, whatever the files are by now. It fails in the
// middle of a conflict.
func (r *Repo) StagedSnapshot(ctx context.Context, worktree, message string, who git.Signature) (git.OID, error) {
	return r.commitIndex(ctx, worktree, message, who)
}

// commitIndex commits a copy of a worktree's index, as Snapshot does, after the given command has
// changed the copy; none leaves it as it is.
func (r *Repo) commitIndex(ctx context.Context, worktree, message string, who git.Signature, change ...string) (git.OID, error) {
	head, _, err := r.Head(ctx, worktree)
	if err != nil {
		return "", err
	}
	index, err := r.copyIndex(ctx, worktree)
	if err != nil {
		return "", err
	}
	defer os.Remove(index)
	env := "GIT_INDEX_FILE=" + index
	if len(change) > 0 {
		args := flags(durable, []string{"-c", "core.safecrlf=false"}, change)
		if err := r.in(worktree, change[0], args...).with(env).run(ctx); err != nil {
			return "", err
		}
	}
	out, err := r.in(worktree, "write-tree", flags(durable, []string{"write-tree"})...).with(env).output(ctx)
	if err != nil {
		return "", err
	}
	tree := strings.TrimSpace(string(out))
	args := flags(durable, []string{"commit-tree", tree})
	if head.IsZero() {
		if git.OID(tree) == git.EmptyTree {
			return git.ZeroOID, nil
		}
	} else {
		commit, err := r.Object(ctx, string(head)+"^{tree}")
		if err != nil {
			return "", err
		}
		if commit.OID == git.OID(tree) {
			return head, nil
		}
		args = append(args, "-p", string(head))
	}
	out, err = r.in(worktree, "commit-tree", args...).with(authorEnv(who)...).feed([]byte(message)).output(ctx)
	return git.OID(strings.TrimSpace(string(out))), err
}

// copyIndex copies a worktree's index to a file next to it and returns the copy's path. The copy
// saves git from reading every file again, and keeps paths that are tracked although ignored.
func (r *Repo) copyIndex(ctx context.Context, worktree string) (path string, err error) {
	dir, err := r.worktreeGitDir(ctx, worktree)
	if err != nil {
		return "", err
	}
	to, err := os.CreateTemp(dir, "liza-index-")
	if err != nil {
		return "", storageError(dir, err)
	}
	from, err := os.Open(filepath.Join(dir, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		// A missing index means an empty one, but an empty file is not a valid index.
		return to.Name(), storageError(dir, errors.Join(to.Close(), os.Remove(to.Name())))
	}
	if err == nil {
		defer from.Close()
		err = copyAged(to, from)
	}
	if err := errors.Join(err, to.Close()); err != nil {
		os.Remove(to.Name())
		return "", fmt.Errorf("copy the index of %s: %w", worktree, storageError(dir, err))
	}
	return to.Name(), nil
}

// copyAged copies a file with its modification time. Git compares the index's time with those of
// the files to decide which of them it must read although they look unchanged (git's
// technical/racy-git); a newer copy would hide edits.
func copyAged(to, from *os.File) error {
	if _, err := io.Copy(to, from); err != nil {
		return err
	}
	info, err := from.Stat()
	if err != nil {
		return err
	}
	return os.Chtimes(to.Name(), info.ModTime(), info.ModTime())
}
