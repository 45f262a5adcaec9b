package call

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/text"
)

// WriteFile writes a file at a path that the caller gave. An existing file is replaced only if ours
// recognizes its content as an earlier one of the same command; all others are refused, links and
// devices included. A nil ours recognizes none.
func WriteFile(path string, line []byte, ours func(old []byte) bool) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err == nil {
		_, err = file.Write(line)
		return errors.Join(err, file.Close())
	}
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if !replaceable(path, ours) {
		return board.Refuse(board.CodeInTheWay, text.Line(path, 200)+" exists, and stays as it is", "name a path that does not exist")
	}
	fresh, err := os.CreateTemp(filepath.Dir(path), ".liza-new-")
	if err != nil {
		return err
	}
	_, err = fresh.Write(line)
	if err = errors.Join(err, fresh.Chmod(0o644), fresh.Close()); err == nil {
		err = os.Rename(fresh.Name(), path)
	}
	if err != nil {
		os.Remove(fresh.Name())
	}
	return err
}

func replaceable(path string, ours func([]byte) bool) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || ours == nil {
		return false
	}
	old, err := os.ReadFile(path)
	return err == nil && ours(old)
}
