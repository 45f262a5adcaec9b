package gitio

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// DamagedIndex reports whether the index of a linked worktree is not what git has written, so that
// it can't be read, or not trusted. Git itself checks its hash only in git-fsck.
func (r *Repo) DamagedIndex(worktree string) (bool, error) {
	dir, ours := r.record(worktree)
	if !ours {
		return false, nil
	}
	index, err := os.ReadFile(filepath.Join(dir, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // an empty one
	}
	if err != nil {
		return false, storageError(dir, err)
	}
	return !soundIndex(index), nil
}

// damagedIndex returns a DamagedIndexError in place of git's error if the index of a worktree is
// the reason for it.
func (r *Repo) damagedIndex(worktree string, err error) error {
	if damaged, _ := r.DamagedIndex(worktree); exitCode(err) > 0 && damaged {
		return &DamagedIndexError{Worktree: worktree, Err: err}
	}
	return err
}

// soundIndex reports whether data is an index: a header, and at the end the hash of all that is
// before it, or zeroes with index.skipHash (gitformat-index).
func soundIndex(data []byte) bool {
	const header = 12
	if len(data) < header+sha1.Size || string(data[:4]) != "DIRC" {
		return false
	}
	if version := binary.BigEndian.Uint32(data[4:]); version < 2 || version > 4 {
		return false
	}
	rest, hash := data[:len(data)-sha1.Size], data[len(data)-sha1.Size:]
	if own := sha1.Sum(rest); bytes.Equal(own[:], hash) || bytes.Equal(make([]byte, sha1.Size), hash) {
		return true
	}
	rest, hash = data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	own := sha256.Sum256(rest)
	return bytes.Equal(own[:], hash)
}

// RebuildIndex makes the index of a linked worktree again from its HEAD, and keeps the old one
// beside it, as index.damaged. Files, HEAD and an open merge stay as they are. It returns ErrBusy
// if another process keeps the worktree locked.
func (r *Repo) RebuildIndex(ctx context.Context, worktree string) error {
	if err := r.freeWorktree(ctx, worktree); err != nil {
		return err
	}
	dir, err := r.worktreeGitDir(ctx, worktree)
	if err != nil {
		return err
	}
	head, _, err := r.Head(ctx, worktree)
	if err != nil {
		return err
	}
	index, made := filepath.Join(dir, "index"), filepath.Join(dir, "index.rebuilt")
	if err := RemoveFile(made); err != nil {
		return storageError(dir, err)
	}
	read := []string{"read-tree", "-m", string(head)}
	if head.IsZero() {
		read = []string{"read-tree", "--empty"}
	}
	env := "GIT_INDEX_FILE=" + made
	if err := r.in(worktree, "read-tree", flags(durable, read)...).with(env).run(ctx); err != nil {
		return err
	}
	// A positive exit code only means that files have changed.
	if err := r.in(worktree, "update-index", "update-index", "-q", "--refresh").with(env).run(ctx); exitCode(err) < 0 {
		return err
	}
	err = os.Link(index, vacant(filepath.Join(dir, "index.damaged")))
	if err == nil {
		err = os.Rename(made, index)
	}
	return storageError(dir, err)
}
