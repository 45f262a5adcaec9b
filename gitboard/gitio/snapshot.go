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

// Snapshot commits everything in the worktree whose top is given, untracked
// files included, ignored ones not, on top of its HEAD, and returns that
// commit; HEAD's own when nothing differs. It works in the middle of a
// conflict, whose markers go in as they stand. Neither index nor HEAD nor any
// file is touched, and no ref holds the commit yet. who is author and
// committer; a zero time is the present.
func (r *Repo) Snapshot(ctx context.Context, worktree, message string, who git.Signature) (git.OID, error) {
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
	add := flags(durable, []string{"-c", "core.safecrlf=false", "add", "--all"})
	if err := r.in(worktree, "add", add...).with(env).run(ctx); err != nil {
		return "", err
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

// copyIndex copies a worktree's index beside itself and returns the copy's
// path. The copy keeps git from reading every file again, and keeps paths
// that are tracked although ignored.
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
		// No index is an empty one, and an empty file is none at all.
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

// copyAged copies a file with its modification time. Git compares that of the
// index with those of files to know which it must read although they look
// unchanged (git's technical/racy-git); a younger copy would hide edits.
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
