package gitboard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git/disk"
)

// Clone is this clone of the repository: its id, its own files, and what stopped it or its agents.
type Clone struct{ board *Board }

// Clone returns this clone.
func (b *Board) Clone() Clone { return Clone{b} }

// own returns the path of a file of this clone: <common git dir>/liza/<name>.
func (c Clone) own(name string) string { return filepath.Join(c.board.Dir(), filepath.FromSlash(name)) }

// writable is own for a file that is about to be written: its directory exists.
func (c Clone) writable(name string) (file string, err error) {
	file = c.own(name)
	if err := c.board.Repo().MakeDir(filepath.Dir(file)); err != nil {
		return "", fmt.Errorf("this clone's own files can't be written: %w", err)
	}
	return file, nil
}

// Keep writes a text to a file of this clone atomically, readable by its user only.
func (c Clone) Keep(name, text string) error { return c.keep(name, text, nil) }

// KeepFlushed is Keep for a file that must outlive a power cut.
func (c Clone) KeepFlushed(name, text string) error { return c.keep(name, text, (*os.File).Sync) }

func (c Clone) keep(name, text string, flush func(*os.File) error) error {
	file, err := c.writable(name)
	if err != nil {
		return err
	}
	tmp, err := smallTemp(file, strings.TrimRight(text, "\n"), userOnly, flush)
	if err != nil {
		return err
	}
	defer os.Remove(tmp)
	return os.Rename(tmp, file)
}

// Kept returns the text of a file of this clone, or "" if it does not exist.
func (c Clone) Kept(name string) (string, error) {
	data, err := os.ReadFile(c.own(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(data)), err
}

// Discard removes a file of this clone, if it exists.
func (c Clone) Discard(name string) error { return disk.Remove(c.own(name)) }

// Note appends a line to a file of this clone.
func (c Clone) Note(name, line string) error {
	file, err := c.writable(name)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}

// Modes of this clone's files: what another user who may read the repository needs not read, and
// what its commands need, status among them.
const (
	userOnly fs.FileMode = 0o600
	readable fs.FileMode = 0o644
)

// createSmall creates a file atomically unless it already exists, and flushes what is in it: a
// crash leaves no empty file.
func createSmall(file, text string, mode fs.FileMode) error {
	tmp, err := smallTemp(file, text, mode, (*os.File).Sync)
	if err != nil {
		return err
	}
	defer os.Remove(tmp)
	if err := os.Link(tmp, file); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// smallTemp writes a temporary file beside the one that it is to become. flush may be nil.
func smallTemp(file, text string, mode fs.FileMode, flush func(*os.File) error) (string, error) {
	tmp, err := os.CreateTemp(filepath.Dir(file), ".new-")
	if err != nil {
		return "", fmt.Errorf("this clone's own files can't be written: %w", err)
	}
	if _, err = tmp.WriteString(text + "\n"); err == nil && mode != userOnly { // which it has
		err = os.Chmod(tmp.Name(), mode)
	}
	if err == nil && flush != nil {
		err = flush(tmp)
	}
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(tmp.Name())
		return "", err
	}
	return tmp.Name(), nil
}
