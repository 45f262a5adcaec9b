package gitio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// configPatience is how long the lock of the config file is waited for. Git, which does not wait, holds it for
// milliseconds; one that is left is removed earlier.
const configPatience = lockWatch + time.Second

// configFile is where the repository's settings really are: git follows a link,
// and its lock stands beside the file.
func (r *Repo) configFile() (string, error) {
	path, err := filepath.EvalSymlinks(filepath.Join(r.common, "config"))
	return path, storageError(r.common, err)
}

// unlocked writes a config file, again while another process holds its lock,
// which the file of that must show: git says why it failed only in prose.
// ErrBusy when it is not let go.
func (r *Repo) unlocked(ctx context.Context, config string, write func() error) error {
	lock := config + ".lock"
	for begun := time.Now(); ; {
		err := write()
		if err == nil {
			return nil
		}
		if _, gone := os.Lstat(lock); gone != nil {
			return err
		}
		if time.Since(begun) > configPatience || !r.awaitLocks(ctx, []string{lock}) {
			return fmt.Errorf("the settings of this repository are %w", &BusyError{[]string{lock}})
		}
	}
}

// EditConfigFile replaces the text of the repository's own config file by what
// edit makes of it, in one step and under git's lock. Git's own writer would
// leave traces: it moves sections and line ends about. ErrBusy when another
// process keeps the lock, a StorageError when the file cannot be written.
func (r *Repo) EditConfigFile(edit func(text []byte) ([]byte, error)) (err error) {
	path, err := r.configFile()
	if err != nil {
		return err
	}
	lock := path + ".lock"
	info, err := os.Stat(path)
	if err != nil {
		return storageError(r.common, err)
	}
	var file *os.File
	err = r.unlocked(context.Background(), path, func() error {
		file, err = os.OpenFile(lock, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
		return err
	})
	if errors.Is(err, ErrBusy) {
		return err
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
