package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/disk"
)

// Exclude adds lines to info/exclude, the ignore rules of this clone alone (gitignore), unless they
// are already there. It returns a StorageError if that file can't be written.
func (s Settings) Exclude(lines ...string) error {
	dir := filepath.Join(s.repo.common, "info")
	path := filepath.Join(dir, "exclude")
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return disk.NewStorageError(dir, err)
	}
	present := strings.Split(strings.ReplaceAll(string(old), "\r\n", "\n"), "\n")
	var added strings.Builder
	for _, line := range lines {
		if !slices.Contains(present, line) {
			added.WriteString(line + "\n")
		}
	}
	if added.Len() == 0 {
		return nil
	}
	text := added.String()
	if len(old) > 0 && old[len(old)-1] != '\n' {
		text = "\n" + text
	}
	// Not MkdirAll: a repository that is gone stays gone.
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return disk.NewStorageError(s.repo.common, err)
	}
	// One appending write, so that two concurrent writers lose nothing.
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return disk.NewStorageError(dir, err)
	}
	_, err = file.WriteString(text)
	return disk.NewStorageError(dir, errors.Join(err, file.Close()))
}

// Include removes lines that Exclude has added.
func (s Settings) Include(lines ...string) error {
	path := filepath.Join(s.repo.common, "info", "exclude")
	old, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return disk.NewStorageError(filepath.Dir(path), err)
	}
	var rest strings.Builder
	for line := range strings.Lines(string(old)) {
		if !slices.Contains(lines, strings.TrimRight(line, "\r\n")) {
			rest.WriteString(line)
		}
	}
	if rest.Len() == len(old) {
		return nil
	}
	return disk.NewStorageError(filepath.Dir(path), disk.Replace(path, []byte(rest.String())))
}
