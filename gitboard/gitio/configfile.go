package gitio

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// EditConfigFile replaces the text of the repository's own config file by what
// edit makes of it, in one step and under git's lock. Git's own writer would
// leave traces: it moves sections and line ends about. ErrBusy when another
// process holds the lock, a StorageError when the file cannot be written.
func (r *Repo) EditConfigFile(edit func(text []byte) ([]byte, error)) (err error) {
	// As git does: a link is followed, and the lock stands beside the file.
	path, err := filepath.EvalSymlinks(filepath.Join(r.common, "config"))
	if err != nil {
		return storageError(r.common, err)
	}
	lock := path + ".lock"
	info, err := os.Stat(path)
	if err != nil {
		return storageError(r.common, err)
	}
	file, err := os.OpenFile(lock, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: %s", ErrBusy, lock)
	}
	if err != nil {
		return storageError(filepath.Dir(path), err)
	}
	defer func() {
		if err != nil {
			file.Close()
			os.Remove(lock)
		}
	}()
	old, err := os.ReadFile(path)
	if err != nil {
		return storageError(r.common, err)
	}
	text, err := edit(old)
	if err != nil {
		return err
	}
	if bytes.Equal(text, old) {
		return errors.Join(file.Close(), os.Remove(lock))
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Chmod(info.Mode().Perm()), file.Sync(), file.Close()); err != nil {
		return storageError(filepath.Dir(path), err)
	}
	return storageError(filepath.Dir(path), os.Rename(lock, path))
}
