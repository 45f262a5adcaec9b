package worktrees

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/disk"
)

// goneMark begins the name of a worktree that is about to be removed.
const goneMark = ".gone-"

// identity distinguishes worktrees at the same path: it is the name of the directory that git keeps
// for each.
func identity(path string) string {
	data, err := os.ReadFile(filepath.Join(path, ".git"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// clearAway removes a task's worktree. before is the part that the preceding operation put into the
// attic; all other work that exists only in the worktree goes there now. It can be repeated.
//
// The worktree is first moved out of the way, so that its path is free at once for an agent that
// has claimed the task since. If it was that agent's worktree which was moved, it is moved back.
func (s *Project) clearAway(ctx context.Context, v *gitboard.View, task string, actor board.Actor, before *kept) error {
	l, err := s.place(ctx, task, v.TaskBranch(task))
	if err != nil || !l.Ours {
		return err
	}
	if l.Theirs != "" {
		return l.Blocked(task)
	}
	which := identity(l.Path)
	if before != nil && before.which != which {
		return nil // a new worktree: the old one was removed
	}
	token, err := s.b.Token()
	if err != nil {
		return err
	}
	c := &candidate{s: s, token: token}
	if err := c.note(task); err != nil {
		return err
	}
	gone := filepath.Join(s.Folder(), goneMark+token)
	err = s.repo.Worktree(l.Path).Move(ctx, gone)
	if errors.As(err, new(*git.StorageError)) {
		return errors.Join(err, forget(c.recordFile())) // it stays as it is
	}
	if err != nil {
		return errors.Join(s.clearInPlace(ctx, v, task, actor, before, which, err), forget(c.recordFile()))
	}
	if identity(gone) != which {
		return s.moveBack(ctx, c, gone, l.Path)
	}
	err = s.finishGone(ctx, v, task, token, l.Path, actor, before)
	switch {
	case err == nil:
		return nil
	case identity(gone) == which:
		return errors.Join(err, s.moveBack(ctx, c, gone, l.Path))
	}
	return errors.Join(err, c.leave(task)) // some files can't be removed, and the rest was
}

// makeRoom is clearAway for those who need the path for another worktree. What is left of the old
// one elsewhere, because some file of it can't be removed, does not keep them from it.
func (s *Project) makeRoom(ctx context.Context, v *gitboard.View, task string, actor board.Actor, before *kept) error {
	err := s.clearAway(ctx, v, task, actor, before)
	if errors.Is(err, fs.ErrPermission) && !present(s.Path(task)) {
		return nil
	}
	return err
}

// moveBack moves a worktree that was moved out of the way back to its path. If that fails, its
// record remains, so that Diagnose finds it.
func (s *Project) moveBack(ctx context.Context, c *candidate, gone, path string) error {
	if !present(gone) {
		return forget(c.recordFile())
	}
	if err := s.repo.Worktree(gone).Move(ctx, path); err != nil {
		return err
	}
	return forget(c.recordFile())
}

// clearInPlace removes a worktree that could not be moved: git refuses to move one in which
// submodules are checked out. If it no longer exists, another process removed it first.
func (s *Project) clearInPlace(ctx context.Context, v *gitboard.View, task string, actor board.Actor, before *kept, which string, moved error) error {
	path := s.Path(task)
	if identity(path) != which {
		return nil
	}
	if ctx.Err() != nil {
		return moved
	}
	large, err := s.keepAgain(ctx, v, task, path, path, actor, before)
	if err != nil {
		return err
	}
	if identity(path) != which {
		return nil
	}
	return s.removeWorktree(ctx, task, path, large)
}

// removeWorktree removes a task's worktree, whose files are already kept, except those that are too
// large: they stay in this clone, below liza/large/<task>. Repositories of its submodules, and
// others inside it, stay below liza/modules/<task>, if they have commits that their remotes are not
// known to have.
func (s *Project) removeWorktree(ctx context.Context, task, path string, large []string) error {
	if err := s.keepModules(ctx, task, path); err != nil {
		return err
	}
	if len(large) > 0 {
		to := free(filepath.Join(LargeDir(s.b), task))
		if err := disk.MoveFiles(path, to, large); err != nil {
			return err
		}
		s.b.Mention(fmt.Sprintf("moved to %s, beyond attic_max_mb: %s", to, Listed(large)))
	}
	return s.repo.Worktree(path).Remove(ctx)
}

// LargeDir is where files of removed worktrees are kept that are too large for the attic.
func LargeDir(b *gitboard.Board) string { return filepath.Join(b.Dir(), "large") }

// keepModules keeps the repositories of a task's worktree that must outlive it.
func (s *Project) keepModules(ctx context.Context, task, path string) error {
	_, err := s.repo.Worktree(path).KeepModules(ctx, s.modulesDir(task))
	return err
}

// modulesDir is where the next repositories are kept that outlive a worktree of a task.
func (s *Project) modulesDir(task string) string {
	return free(filepath.Join(s.b.Dir(), "modules", task))
}

// finishGone removes a worktree that was moved out of the way. lies is where the caller finds it if
// that fails.
func (s *Project) finishGone(ctx context.Context, v *gitboard.View, task, token, lies string, actor board.Actor, before *kept) error {
	gone := filepath.Join(s.Folder(), goneMark+token)
	large, err := s.keepAgain(ctx, v, task, gone, lies, actor, before)
	if err != nil {
		return err
	}
	if err := s.removeWorktree(ctx, task, gone, large); err != nil {
		return err
	}
	return forget(filepath.Join(s.claimsDir(), token))
}
