package git

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/disk"
)

// DamagedIndex reports whether the index of a linked worktree is not what git has written, so that
// it can't be read, or not trusted. Git itself checks its hash only in git-fsck.
func (w *Worktree) DamagedIndex() (bool, error) {
	dir, ours := w.record()
	if !ours {
		return false, nil
	}
	index, err := os.ReadFile(filepath.Join(dir, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // an empty one
	}
	if err != nil {
		return false, disk.NewStorageError(dir, err)
	}
	return !soundIndex(index), nil
}

// damagedIndex returns a DamagedIndexError in place of git's error if the index of a worktree is
// the reason for it.
func (w *Worktree) damagedIndex(err error) error {
	if damaged, _ := w.DamagedIndex(); child.ExitCode(err) > 0 && damaged {
		return &DamagedIndexError{Worktree: w.path, Err: err}
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
	own := sha1.Sum(rest)
	return bytes.Equal(own[:], hash) || bytes.Equal(make([]byte, sha1.Size), hash)
}
