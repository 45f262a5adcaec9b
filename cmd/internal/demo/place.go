package demo

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// DirError is a directory that can't hold the repository.
type DirError struct{ Dir, Why string }

func (e *DirError) Error() string { return fmt.Sprintf("%s %s", e.Dir, e.Why) }

// MissingError is a required program that is not installed.
type MissingError struct{ Program string }

func (e *MissingError) Error() string {
	return "the demo needs " + e.Program + ", and it is not in PATH"
}

func programs() error {
	for _, name := range []string{"git", "go"} {
		if _, err := exec.LookPath(name); err != nil {
			return &MissingError{name}
		}
	}
	return nil
}

// place creates the directory of the repository and returns its absolute path without symbolic
// links. A chosen directory must be empty or not exist.
func place(dir string) (string, error) {
	if dir == "" {
		made, err := os.MkdirTemp("", "git-liza-demo-")
		if err != nil {
			return "", &DirError{os.TempDir(), "takes no directory: " + err.Error()}
		}
		return filepath.EvalSymlinks(made)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", &DirError{dir, "can't be made: " + err.Error()}
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", &DirError{dir, "can't be read: " + err.Error()}
	}
	if len(entries) > 0 {
		return "", &DirError{dir, "is not empty"}
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	return filepath.Abs(dir)
}
