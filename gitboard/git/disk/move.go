package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Move renames a file or directory, or copies it and removes the original if the two paths are on
// different disks: `.worktrees` may be a mount. to must not exist; the directory that it is in is
// made.
func Move(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	err := os.Rename(from, to)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	if err := copyTree(from, to); err != nil {
		return err
	}
	return RemoveTree(from)
}

// copyTree copies a file, or a directory with its files, their permissions and times, and its symbolic links.
// What has no content, such as a socket, is left out. The copy is flushed, so that the original may
// be removed. Nothing is left of a copy that failed. to must not exist.
func copyTree(from, to string) error {
	if info, err := os.Lstat(from); err == nil && info.Mode().IsRegular() {
		return copyFile(from, to, info.Mode().Perm())
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	err := copyInto(from, to)
	if err != nil {
		_ = RemoveTree(to)
	}
	return err
}

// copyInto copies what is in a directory to one that is empty.
func copyInto(from, to string) error {
	type folder struct {
		path string
		info fs.FileInfo
	}
	var folders []folder
	from = filepath.Clean(from)
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(path, from))
		switch {
		case e.IsDir():
			folders = append(folders, folder{target, info})
			if path == from {
				return nil
			}
			return os.Mkdir(target, 0o700)
		case e.Type()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case e.Type().IsRegular():
			return copyFile(path, target, info.Mode().Perm())
		}
		return nil
	})
	// A directory may be read-only, so what is in it comes first.
	for _, f := range slices.Backward(folders) {
		if err == nil {
			err = os.Chmod(f.path, f.info.Mode().Perm())
		}
	}
	return err
}

// copyFile copies a file with its permissions and time, and flushes the copy.
func copyFile(from, to string, mode fs.FileMode) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = errors.Join(CopyAged(file, source), file.Chmod(mode), file.Sync(), file.Close())
	if err != nil {
		_ = os.Remove(to)
	}
	return err
}

// MoveFiles moves files, given by their paths below from, to the same paths below to, where there are
// none yet.
func MoveFiles(from, to string, files []string) error {
	for _, file := range files {
		file = filepath.FromSlash(file)
		if err := Move(filepath.Join(from, file), filepath.Join(to, file)); err != nil {
			return NewStorageError(to, err)
		}
	}
	return nil
}
