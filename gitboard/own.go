package gitboard

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// own returns the path of a file of this clone: <common git dir>/liza/<name>.
func (b *Board) own(name string) string { return filepath.Join(b.Dir(), filepath.FromSlash(name)) }

// Keep writes a text to a file of this clone atomically, readable by its user only.
func (b *Board) Keep(name, text string) error {
	tmp, err := smallTemp(b.own(name), strings.TrimRight(text, "\n"))
	if err != nil {
		return err
	}
	defer os.Remove(tmp)
	return os.Rename(tmp, b.own(name))
}

// Kept returns the text of a file of this clone, or "" if it does not exist.
func (b *Board) Kept(name string) (string, error) {
	data, err := os.ReadFile(b.own(name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(data)), err
}

// Discard removes a file of this clone, if it exists.
func (b *Board) Discard(name string) error {
	if err := os.Remove(b.own(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Note appends a line to a file of this clone.
func (b *Board) Note(name, line string) error {
	file := b.own(name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}

// createSmall creates a file atomically unless it already exists.
func createSmall(file, text string) error {
	tmp, err := smallTemp(file, text)
	if err != nil {
		return err
	}
	defer os.Remove(tmp)
	if err := os.Link(tmp, file); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func smallTemp(file, text string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", fmt.Errorf("this clone's own files can't be written: %w", err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(file), ".new-")
	if err != nil {
		return "", fmt.Errorf("this clone's own files can't be written: %w", err)
	}
	_, err = tmp.WriteString(text + "\n")
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(tmp.Name())
		return "", err
	}
	return tmp.Name(), nil
}
