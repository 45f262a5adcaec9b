package disk

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Replace writes a file in one step, so that nobody reads half of it. It does not create the
// directory, and does not flush: the file is one that can be lost.
func Replace(path string, data []byte) error {
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

// Remove removes a file, which may be gone already.
func Remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// CopyAged copies a file with its modification time. Git compares the index's time with those of
// the files to decide which of them it must read although they look unchanged (git's
// technical/racy-git); a newer copy would hide edits.
func CopyAged(to, from *os.File) error {
	if _, err := io.Copy(to, from); err != nil {
		return err
	}
	info, err := from.Stat()
	if err != nil {
		return err
	}
	return os.Chtimes(to.Name(), info.ModTime(), info.ModTime())
}

// IsLink reports whether path is a symbolic link.
func IsLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// EscapeGlob escapes a path so that filepath.Glob takes it literally.
func EscapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// Line returns the content of a file with one line. regular is false if it is not a regular file.
func Line(path string) (line string, regular bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	data, err := os.ReadFile(path)
	return strings.TrimRight(string(data), "\n"), err == nil
}
