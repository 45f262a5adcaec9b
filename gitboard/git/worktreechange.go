package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/disk"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/git/records"
)

// Add creates the worktree with commit checked out and HEAD detached. Its path must not
// exist, or must be empty. Hooks do not run. It returns a FilterError if a filter keeps git from
// writing its files. Then records.Made is true for its record.
func (w *Worktree) Add(ctx context.Context, commit plumbing.OID) error {
	if err := checkOIDs(commit); err != nil {
		return err
	}
	if err := w.repo.promised(ctx, commit); err != nil {
		return err
	}
	to, err := filepath.Abs(w.path) // children run in another directory
	if err != nil {
		return err
	}
	add := w.repo.command("worktree add", slices.Concat(workers, []string{"worktree", "add", "--detach", "--quiet", "--", to, string(commit)})...)
	_, err = w.repo.amidst(ctx, add)
	if err = w.repo.filtered(ctx, "", add, err); errors.As(err, new(*FilterError)) {
		return errors.Join(err, w.repo.Worktree(to).Remove(ctx)) // the one that was made without a filter
	}
	if err != nil {
		return err
	}
	return records.MarkMade(records.LinkedDir(to))
}

// Move moves a worktree's directory. It returns fs.ErrExist if the target exists, since git
// would move the worktree into it. Git does not move a worktree in which submodules are checked
// out. A symbolic link is an error. A StorageError means that it can't be moved or removed at all. A
// lock is no obstacle, and stays.
//
// In the simple case (movesPlainly) it starts no child. Otherwise the result is judged by where the
// worktree is, so it is also nil if the move turns out to be done after an unclear failure.
func (w *Worktree) Move(ctx context.Context, to string) error {
	if disk.IsLink(w.path) {
		return fmt.Errorf("%s is a symbolic link: git would move what it leads to", w.path)
	}
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("move worktree to %s: %w", to, fs.ErrExist)
	}
	record, plain := w.movesPlainly(to)
	var err error
	if plain {
		err = os.Rename(w.path, to)
	}
	switch {
	case errors.Is(err, syscall.EBUSY):
		return disk.NewStorageError(w.path, err)
	case fixed(err):
		return disk.NewStorageError(filepath.Dir(w.path), err)
	case plain && err == nil:
		if err := records.SetLink(record, filepath.Join(to, ".git")); err != nil {
			return errors.Join(disk.NewStorageError(record, err), os.Rename(to, w.path)) // the disk is full, say
		}
		return nil
	}
	moved := w.repo.worktreeCommand(ctx, "move", []string{"--force", "--force"}, w.path, to)
	if moved != nil && wasMoved(w.path, to) { // git may not have updated its record
		if err := w.repo.RepairWorktrees(context.WithoutCancel(ctx), to); err != nil {
			return errors.Join(moved, err)
		}
		return nil
	}
	return moved
}

// movesPlainly returns a worktree's record, and whether it is enough to rename the worktree within
// its directory and to update the record. All other cases are left to git: it refuses to move
// checked-out submodules, handles relative links, and drops the record of an earlier worktree at
// the target.
func (w *Worktree) movesPlainly(to string) (record string, plain bool) {
	record, ours := w.record()
	_, modules := os.Lstat(filepath.Join(record, "modules"))
	if !ours || !filepath.IsAbs(records.LinkText(w.path)) || filepath.Dir(w.path) != filepath.Dir(to) || !os.IsNotExist(modules) {
		return "", false
	}
	return record, !slices.ContainsFunc(w.repo.Records().All(), func(other string) bool {
		link := records.Link(other)
		return link == "" || link == filepath.Join(to, ".git")
	})
}

// fixed reports whether a directory could not be moved because of the one that it is in, which may
// not be written to, or because something is mounted there. Then it can't be removed either.
func fixed(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, syscall.EBUSY)
}

// wasMoved reports whether a worktree's directory is gone from one path and exists at another.
func wasMoved(from, to string) bool {
	_, left := os.Lstat(from)
	_, came := os.Lstat(filepath.Join(to, ".git"))
	return os.IsNotExist(left) && came == nil
}

// Remove removes a worktree and all files in it, even if it is locked or dirty: callers
// have saved what matters. It is not an error if the directory does not exist, but it is one if
// path is a symbolic link. Git refuses to remove the main worktree. What can't be removed stays a
// worktree as long as its .git is there.
func (w *Worktree) Remove(ctx context.Context) error {
	if disk.IsLink(w.path) {
		return fmt.Errorf("%s is a symbolic link: git would remove what it leads to", w.path)
	}
	removed, err := w.removePlain()
	if removed {
		return nil
	}
	if _, stays := os.Lstat(filepath.Join(w.path, ".git")); fixed(err) && stays == nil {
		return err // git would forget it, and it would be in everybody's way
	}
	refused := w.repo.worktreeCommand(ctx, "remove", []string{"--force", "--force"}, w.path)
	if child.ExitCode(refused) <= 0 {
		return refused
	}
	if _, missing := os.Lstat(w.path); os.IsNotExist(missing) {
		return w.forget()
	}
	return cmp.Or(err, refused) // git only knows that .git is gone
}

// forget removes git's record of a worktree that is gone. It leaves all others alone: a
// general `git worktree prune` would also forget those whose disk is not mounted right now.
func (w *Worktree) forget() error {
	dir := w.repo.Records().Of(w.path)
	if dir == "" {
		return nil
	}
	return records.Drop(dir)
}

// ForgetWorktree is Remove for the record of a worktree that is gone, and leaves alone
// whatever has come to its path since. The repositories of its submodules are moved to a directory
// that does not exist yet, as by KeepModules.
func (r *Repo) ForgetWorktree(ctx context.Context, record, to string) error {
	if _, err := r.keepModule(ctx, "", filepath.Join(record, "modules"), to); err != nil {
		return err
	}
	return records.Drop(record)
}

// removePlain removes a worktree whose record is found directly, without a child: first its files,
// then git's record of it, as git-worktree does. Everything else is left to git, and so is what
// could not be removed.
func (w *Worktree) removePlain() (removed bool, err error) {
	dir, ours := w.record()
	if !ours {
		return false, nil
	}
	entries, _ := os.ReadDir(w.path)
	for _, e := range entries {
		if e.Name() != ".git" { // last: until then git knows whose worktree it is
			_ = disk.RemoveTree(filepath.Join(w.path, e.Name()))
		}
	}
	if err := disk.RemoveTree(w.path); err != nil {
		return false, err
	}
	if err := records.Drop(dir); err != nil {
		return false, err
	}
	return true, nil
}

// Discard is Remove for a path that holds nothing of value. It also removes a
// worktree that git refuses to remove because it was never completed, one that git does not know,
// and a symbolic link, but not what the link leads to.
func (w *Worktree) Discard(ctx context.Context) error {
	refused := w.Remove(ctx)
	if err := disk.RemoveTree(w.path); err != nil {
		return err // which is also why git has refused
	}
	if refused == nil {
		return nil
	}
	return w.Remove(ctx)
}

// RepairWorktrees repairs the links between the repository and worktrees that were moved by hand.
// Without paths, git repairs the links of all worktrees that it finds; with paths, those of the
// given worktrees.
func (r *Repo) RepairWorktrees(ctx context.Context, paths ...string) error {
	return r.worktreeCommand(ctx, "repair", nil, paths...)
}

// worktreeCommand runs `git worktree <verb> <options> -- <paths>`. Paths are made absolute, since
// children run in another directory.
func (r *Repo) worktreeCommand(ctx context.Context, verb string, options []string, paths ...string) error {
	args := slices.Concat([]string{"worktree", verb}, options, []string{"--"})
	for _, path := range paths {
		path, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		args = append(args, path)
	}
	_, err := r.amidst(ctx, r.command("worktree "+verb, args...))
	return err
}
