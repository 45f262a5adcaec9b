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
// mount, cp copies it, and the original is removed once the copy is flushed. to must not exist; the
// directory that it is in is made. Nothing is left of a copy that failed.
func Move(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	err := os.Rename(from, to)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	for _, command := range [][]string{{"cp", "-RpP", "--", from, to}, {"sync"}} {
		if said, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			return errors.Join(fmt.Errorf("%w: %s", err, strings.TrimSpace(string(said))), RemoveTree(to))
		}
	}
	return RemoveTree(from)
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
