package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// RemoveTree is os.RemoveAll, which does not remove what is in a directory that its owner may not
// write to. Package managers make such directories: Go's module cache consists of them.
func RemoveTree(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	const usable = 0o700
	_ = filepath.WalkDir(path, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return nil // RemoveAll names what is in the way
		}
		if info, err := e.Info(); err == nil && info.Mode().Perm()&usable != usable {
			_ = os.Chmod(path, info.Mode().Perm()|usable)
		}
		return nil
	})
	return os.RemoveAll(path)
}
