package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/disk"
)

// configFile is the real path of the repository's settings: git follows a symlink and puts its lock
// next to the target.
func (r *Repo) configFile() (string, error) {
	path, err := filepath.EvalSymlinks(filepath.Join(r.common, "config"))
	return path, disk.NewStorageError(r.common, err)
}

// unlocked calls write, which writes a config file, and retries while another process holds the
// lock: git itself does not wait, and holds it for milliseconds. Only the lock file shows that,
// because git reports the reason in prose alone. A stale lock is removed in time for another
// attempt. It returns ErrBusy if the lock is not released in time.
func (r *Repo) unlocked(ctx context.Context, config string, write func() error) error {
	lock := config + ".lock"
	patience := r.patience.Watch + r.patience.Git
	for begun, waited := time.Now(), false; ; waited = true {
		err := write()
		if err == nil {
			return nil
		}
		if _, gone := os.Lstat(lock); gone != nil {
			return err
		}
		busy := &BusyError{Paths: []string{lock}}
		if waited && time.Since(begun) > patience || !r.Locks().Await(ctx, busy) {
			return fmt.Errorf("the settings of this repository are %w", busy)
		}
	}
}

// Edit replaces the text of the repository's own config file by the result of edit,
// atomically and under git's lock. Git's own writer would leave traces, since it moves sections and
// line ends. It returns ErrBusy if another process keeps the lock, and a StorageError if the file
// can't be written.
func (s Settings) Edit(edit func(text []byte) ([]byte, error)) (err error) {
	path, err := s.repo.configFile()
	if err != nil {
		return err
	}
	lock := path + ".lock"
	var file *os.File
	err = s.repo.unlocked(context.Background(), path, func() error {
		file, err = os.OpenFile(lock, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		return err
	})
	if errors.Is(err, ErrBusy) {
		return err
	}
	if err != nil {
		return disk.NewStorageError(filepath.Dir(path), err)
	}
	defer func() {
		if err != nil {
			file.Close()
			os.Remove(lock)
		}
	}()
	info, err := os.Stat(path)
	if err != nil {
		return disk.NewStorageError(s.repo.common, err)
	}
	old, err := os.ReadFile(path)
	if err != nil {
		return disk.NewStorageError(s.repo.common, err)
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
		return disk.NewStorageError(filepath.Dir(path), err)
	}
	return disk.NewStorageError(filepath.Dir(path), os.Rename(lock, path))
}
