package gitboard

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
)

// localModes are the files by which a human stops this clone alone, the strongest first.
var localModes = []string{"ABORT", "CHECKPOINT", "PAUSE"}

// Halts lists the files in <root>/.liza that stop this clone, the strongest first. Since is the
// time in a file's first line, or else the file's modification time.
func (c Clone) Halts(ctx context.Context) ([]report.Halt, error) {
	root, err := c.board.Root(ctx)
	if err != nil || root == "" {
		return nil, err
	}
	modes := map[string]board.Mode{"ABORT": board.Aborted, "CHECKPOINT": board.CheckpointMode, "PAUSE": board.Paused}
	var halts []report.Halt
	for _, name := range localModes {
		file := filepath.Join(root, ".liza", name)
		info, err := os.Stat(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		h := report.Halt{File: name, Mode: modes[name], Since: board.At(info.ModTime())}
		if text, err := os.ReadFile(file); err == nil {
			line, _, _ := strings.Cut(string(text), "\n")
			if at, err := time.Parse(time.RFC3339, strings.TrimSpace(line)); err == nil {
				h.Since = board.At(at)
			}
		}
		halts = append(halts, h)
	}
	return halts, nil
}

// Pause stops this clone with the file .liza/PAUSE, which contains the reason. It returns
// false if the file exists already, or if there is no main worktree to put it in.
func (c Clone) Pause(ctx context.Context, reason string) (made bool, err error) {
	root, err := c.board.Root(ctx)
	if err != nil || root == "" {
		return false, err
	}
	file := filepath.Join(root, ".liza", "PAUSE")
	if _, err := os.Stat(file); err == nil {
		return false, nil
	}
	if err := os.Mkdir(filepath.Dir(file), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	return true, createSmall(file, reason, readable)
}

// localMode refuses operations that take on or land work while a file in <root>/.liza stops this
// clone.
func (b *Board) localMode(ctx context.Context, op board.Operation) error {
	if b.Repo() == nil || !board.TakesOnWork(op.Name()) {
		return nil
	}
	halts, err := b.Clone().Halts(ctx)
	if err != nil || len(halts) == 0 {
		return err
	}
	return board.Refuse(board.CodeMode, fmt.Sprintf("this clone is stopped by the file .liza/%s", halts[0].File), "a human continues by removing that file")
}
