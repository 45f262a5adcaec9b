package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/worktrees"
)

// folders checks the entries of the directory of worktrees that have the names of tasks.
func (d *diagnosis) folders(context.Context) error {
	if obstacle := (*board.Refusal)(nil); errors.As(d.CheckFolder(), &obstacle) {
		d.add(Problem{Kind: UnknownWorktree, Path: d.Folder(), Text: obstacle.Message, Hint: cmdline.Hint(obstacle.Hint)})
		return nil
	}
	entries, err := os.ReadDir(d.Folder())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if err := d.folder(e.Name(), filepath.Join(d.Folder(), e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (d *diagnosis) folder(name, path string) error {
	t := d.v.State.Task(name)
	if t == nil {
		d.unknown(path)
		return nil
	}
	l := d.slot(t)
	if p, err := d.unsound(t.ID, l); err != nil {
		return err
	} else if p != nil {
		d.add(*p)
		return nil
	}
	switch {
	case l.InTheWay && !worktrees.Live(t.Status), l.Theirs != "" && t.Status.Terminal(): // otherwise it was reported already
		obstacle := (*board.Refusal)(nil)
		if errors.As(l.Blocked(t.ID), &obstacle) {
			d.add(Problem{Kind: UnknownWorktree, Task: t.ID, Path: path, Text: obstacle.Message, Hint: cmdline.Hint(obstacle.Hint)})
		}
	case l.Ours && t.Status.Terminal(): // in other states, the next claim handles it
		d.add(Problem{
			Kind: LeftWorktree, Task: t.ID, Path: path, Text: fmt.Sprintf("%s is %s, and a worktree of it is left", t.ID, t.Status),
			Fix: func(ctx context.Context) error { return d.Tidy(ctx, d.v, t.ID, d.Self(ctx)) },
		})
	}
	return nil
}

// unknown reports a path in the directory of worktrees that is somebody else's.
func (d *diagnosis) unknown(path string) {
	d.add(Problem{Kind: UnknownWorktree, Path: path, Text: fmt.Sprintf("%s belongs to no task of this board", path), Hint: "keep what you need of it; the board does not know it"})
}

// leftovers looks for the remains of processes that died.
func (d *diagnosis) leftovers(context.Context) error {
	if d.CheckFolder() != nil {
		return nil // reported
	}
	all, err := d.Leftovers(d.v)
	for _, l := range all {
		p := Problem{Task: l.Task, Path: l.Path}
		switch l.Kind {
		case worktrees.LeftCandidate:
			if !l.Known {
				d.unknown(l.Path)
				continue
			}
			p.Kind, p.Text = LeftCandidate, fmt.Sprintf("%s was made for a claim that never came", filepath.Base(l.Path))
		case worktrees.LeftRemoval:
			p.Kind, p.Text = LeftWorktree, fmt.Sprintf("the removal of the worktree %s did not come to an end", l.Path)
			if !l.Known {
				p.Hint = "keep what you need of it; it was a task's worktree once"
			}
		case worktrees.LeftRecord:
			p.Kind, p.Text = LeftRecord, fmt.Sprintf("a process that made or removed a worktree has died, and %s is left of it", l.Path)
		}
		if l.Known {
			p.Fix = func(ctx context.Context) error { return d.Clear(ctx, d.v, l) }
		}
		d.add(p)
	}
	return err
}

// registrations looks for worktrees that git knows but that no longer exist.
func (d *diagnosis) registrations(context.Context) error {
	for _, w := range d.all {
		if !w.Prunable || worktrees.ForTests(w) { // the next test makes it
			continue
		}
		p := Problem{Kind: PrunableWorktree, Path: w.Path, Text: fmt.Sprintf("git has a record of the worktree %s, which is not there", w.Path), Hint: "if it was moved: git worktree repair NEW-PATH"}
		name, inside := d.InFolder(w.Path)
		if inside && slices.ContainsFunc(d.found, func(p Problem) bool { return p.Path == filepath.Join(d.Folder(), name) }) {
			continue
		}
		if d.MovedTo(w.Path) != "" {
			continue
		}
		if d.MovedAlong(w) {
			p.Text = fmt.Sprintf("the project was moved: git's record of the worktree %s names its former place", filepath.Base(w.Path))
			p.Hint, p.Fix = "git liza worktree repair", func(ctx context.Context) error { return worktrees.Repair(ctx, d.b) }
		} else if d.Forgettable(w) {
			p.Fix = func(ctx context.Context) error { return d.ForgetRecord(ctx, w) }
		}
		d.add(p)
	}
	return nil
}
