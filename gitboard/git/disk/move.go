package disk

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Move renames a file or directory. If the two paths are on different disks, as `.worktrees` may be a
// mount, mv copies it and removes the original. to must not exist; the directory that it is in is
// made.
func Move(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	err := os.Rename(from, to)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	if said, err := exec.Command("mv", "--", from, to).CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(said)))
	}
	return nil
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
