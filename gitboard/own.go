package gitboard

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Keep keeps a text in a file of this clone's own, <common git dir>/liza/<name>, in one step.
func (b *Board) Keep(name, text string) error {
	return writeSmall(filepath.Join(b.Dir(), filepath.FromSlash(name)), strings.TrimRight(text, "\n"))
}

// Kept is a text that was kept, "" when there is none.
func (b *Board) Kept(name string) (string, error) {
	return readSmall(filepath.Join(b.Dir(), filepath.FromSlash(name)))
}

// Discard takes a kept text away, if there is one.
func (b *Board) Discard(name string) error {
	if err := os.Remove(filepath.Join(b.Dir(), filepath.FromSlash(name))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Note appends a line to a file of this clone's own.
func (b *Board) Note(name, line string) error {
	file := filepath.Join(b.Dir(), filepath.FromSlash(name))
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
