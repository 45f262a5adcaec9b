package gitio

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ReplaceFile writes a file in one step, so that nobody reads half of it. It does not create the
// directory, and does not flush: the file is one that can be lost.
func ReplaceFile(path string, data []byte) error {
	temp := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s-%d", filepath.Base(path), os.Getpid()))
	err := os.WriteFile(temp, data, 0o644)
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
	}
	return err
}

// removeFile removes a file, which may be gone already.
func removeFile(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// LeftAfter is the age at which a temporary file counts as left by a process that was killed. To
// write one takes milliseconds, and no push goes without output for so long.
const LeftAfter = time.Hour

// DropLeft removes the temporary files that killed processes have left in a directory. Their names
// begin with prefix.
func DropLeft(dir, prefix string) {
	entries, _ := os.ReadDir(dir) // without the directory nothing is left
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) {
			continue
		}
		file := filepath.Join(dir, e.Name())
		if info, err := os.Stat(file); err == nil && time.Since(info.ModTime()) > LeftAfter {
			_ = os.Remove(file)
		}
	}
}
