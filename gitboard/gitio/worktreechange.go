package gitio

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git"
)

// AddWorktree creates a worktree at path with commit checked out and HEAD detached. path must not
// exist, or must be empty. Hooks do not run.
func (r *Repo) AddWorktree(ctx context.Context, path string, commit git.OID) error {
	if err := checkOIDs(commit); err != nil {
		return err
	}
	if err := r.promised(ctx, commit); err != nil {
		return err
	}
	return r.worktreeCommand(ctx, "add", workers, []string{"--detach", "--quiet"}, path, string(commit))
}

// MovingReason is the reason with which MoveWorktree locks a worktree. If a lock with it remains,
// the process that moved the worktree died.
const MovingReason = "git liza moves it"

// MoveWorktree moves a worktree's directory. It returns fs.ErrExist if the target exists, since git
// would move the worktree into it. Git does not move a worktree in which submodules are checked
// out. A symbolic link is an error.
//
// The worktree is locked meanwhile: git moves the directory first and updates its record
// afterwards, and a `git worktree prune` in between would drop the record. An existing lock is no
// obstacle. One that a move has left by a crash is removed in the end; another one stays.
//
// The result is judged by where the worktree is, so it is also nil if the move turns out to be done
// after an unclear failure.
func (r *Repo) MoveWorktree(ctx context.Context, from, to string) error {
	if IsLink(from) {
		return fmt.Errorf("%s is a symbolic link: git would move what it leads to", from)
	}
	if _, err := os.Lstat(to); err == nil {
		return fmt.Errorf("move worktree to %s: %w", to, fs.ErrExist)
	}
	lock := r.lockWorktree(ctx, from)
	stays := lock != nil && r.othersLock(ctx, from)
	moved := r.move(ctx, from, to)
	after := context.WithoutCancel(ctx)
	if moved != nil && wasMoved(from, to) {
		// Git may not have updated its record.
		if err := r.RepairWorktrees(after, to); err != nil {
			return errors.Join(moved, err)
		}
		moved = nil
	}
	if moved == nil && !stays {
		return r.UnlockWorktree(after, to)
	}
	if lock == nil {
		return errors.Join(moved, r.UnlockWorktree(after, from))
	}
	return moved
}

// move moves a locked worktree. In the simple case (movesPlainly) it does so without a child, in
// the same way as git-worktree.
func (r *Repo) move(ctx context.Context, from, to string) error {
	record, plain := r.movesPlainly(from, to)
	if !plain || os.Rename(from, to) != nil {
		return r.worktreeCommand(ctx, "move", nil, []string{"--force", "--force"}, from, to)
	}
	return ReplaceFile(filepath.Join(record, "gitdir"), []byte(filepath.Join(to, ".git")+"\n"))
}

// movesPlainly returns a worktree's record, and whether it is enough to rename the worktree within
// its directory and to update the record. All other cases are left to git: it refuses to move
// checked-out submodules, handles relative links, and drops the record of an earlier worktree at
// the target.
func (r *Repo) movesPlainly(from, to string) (record string, plain bool) {
	record, ours := r.record(from)
	_, modules := os.Lstat(filepath.Join(record, "modules"))
	records, err := os.ReadDir(filepath.Join(r.common, "worktrees"))
	if !ours || !filepath.IsAbs(linkOf(from)) || filepath.Dir(from) != filepath.Dir(to) || !os.IsNotExist(modules) || err != nil {
		return "", false
	}
	return record, !slices.ContainsFunc(records, func(other fs.DirEntry) bool {
		link := linkBack(filepath.Join(r.common, "worktrees", other.Name()))
		return link == "" || link == filepath.Join(to, ".git")
	})
}

// wasMoved reports whether a worktree's directory is gone from one path and exists at another.
func wasMoved(from, to string) bool {
	_, left := os.Lstat(from)
	_, came := os.Lstat(filepath.Join(to, ".git"))
	return os.IsNotExist(left) && came == nil
}

// lockWorktree locks a worktree for a move. The lock is a file that holds the reason
// (gitrepository-layout, worktrees/<id>/locked), so no child is needed if the worktree's record is
// found directly.
func (r *Repo) lockWorktree(ctx context.Context, path string) error {
	dir, ours := r.record(path)
	if !ours {
		return r.worktreeCommand(ctx, "lock", nil, []string{"--reason", MovingReason}, path)
	}
	file, err := os.OpenFile(filepath.Join(dir, lockedFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = file.WriteString(MovingReason + "\n")
	return errors.Join(err, file.Close())
}

// othersLock reports whether a worktree is locked for another reason than a move: by a human, say.
func (r *Repo) othersLock(ctx context.Context, path string) bool {
	dir, err := r.worktreeGitDir(ctx, path)
	if err != nil {
		return false
	}
	reason, err := os.ReadFile(filepath.Join(dir, lockedFile))
	return err == nil && strings.TrimSpace(string(reason)) != MovingReason
}

// lockedFile is the name of the lock file in a worktree's record.
const lockedFile = "locked"

// UnlockWorktree removes a worktree's lock. It is not an error if there is none.
func (r *Repo) UnlockWorktree(ctx context.Context, path string) error {
	if dir, ours := r.record(path); ours {
		return RemoveFile(filepath.Join(dir, lockedFile))
	}
	err := r.worktreeCommand(ctx, "unlock", nil, nil, path)
	if err == nil {
		return nil
	}
	dir, found := r.worktreeGitDir(ctx, path)
	if found != nil {
		return errors.Join(err, found)
	}
	// It failed because there was no lock, or after removing it.
	if _, left := os.Lstat(filepath.Join(dir, lockedFile)); os.IsNotExist(left) {
		return nil
	}
	return r.worktreeCommand(ctx, "unlock", nil, nil, path)
}

// RemoveWorktree removes a worktree and all files in it, even if it is locked or dirty: callers
// have saved what matters. It is not an error if the directory does not exist, but it is one if
// path is a symbolic link. Git refuses to remove the main worktree.
func (r *Repo) RemoveWorktree(ctx context.Context, path string) error {
	if IsLink(path) {
		return fmt.Errorf("%s is a symbolic link: git would remove what it leads to", path)
	}
	if r.removePlain(path) {
		return nil
	}
	err := r.worktreeCommand(ctx, "remove", nil, []string{"--force", "--force"}, path)
	if exitCode(err) <= 0 {
		return err
	}
	if _, missing := os.Lstat(path); os.IsNotExist(missing) {
		return r.forgetWorktree(path)
	}
	return err
}

// forgetWorktree removes git's record of a worktree that is gone. It leaves all others alone: a
// general `git worktree prune` would also forget those whose disk is not mounted right now.
func (r *Repo) forgetWorktree(path string) error {
	dir := r.RecordOf(path)
	if dir == "" {
		return nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return storageError(dir, err)
	}
	_ = os.Remove(filepath.Dir(dir)) // git also removes it once it is empty
	return nil
}

// removePlain removes a worktree whose record is found directly, without a child: first its files,
// then git's record of it, as git-worktree does. Everything else is left to git, and so is what
// could not be removed.
func (r *Repo) removePlain(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	dir, ours := r.record(path)
	if !ours || os.RemoveAll(path) != nil || os.RemoveAll(dir) != nil {
		return false
	}
	_ = os.Remove(filepath.Dir(dir)) // git also removes it once it is empty
	return true
}

// DiscardWorktree is RemoveWorktree for a path that holds nothing of value. It also removes a
// worktree that git refuses to remove because it was never completed, one that git does not know,
// and a symbolic link, but not what the link leads to.
func (r *Repo) DiscardWorktree(ctx context.Context, path string) error {
	refused := r.RemoveWorktree(ctx, path)
	if err := os.RemoveAll(path); err != nil {
		return errors.Join(refused, err)
	}
	if refused == nil {
		return nil
	}
	return r.RemoveWorktree(ctx, path)
}

// RepairWorktrees repairs the links between the repository and worktrees that were moved by hand.
// Without paths, git repairs the links of all worktrees that it finds; with paths, those of the
// given worktrees.
func (r *Repo) RepairWorktrees(ctx context.Context, paths ...string) error {
	return r.worktreeCommand(ctx, "repair", nil, nil, paths...)
}

// worktreeCommand runs `git <settings> worktree <verb> <options> -- <operands>`. Paths are made
// absolute, since children run in another directory; the commit or branch of "add" is not a path.
func (r *Repo) worktreeCommand(ctx context.Context, verb string, settings, options []string, operands ...string) error {
	args := flags(settings, []string{"worktree", verb}, options, []string{"--"})
	for i, operand := range operands {
		if verb != "add" || i == 0 {
			path, err := filepath.Abs(operand)
			if err != nil {
				return err
			}
			operand = path
		}
		args = append(args, operand)
	}
	_, err := r.amidst(ctx, r.command("worktree "+verb, args...))
	return err
}
