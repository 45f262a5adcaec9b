package worktrees

import (
	"context"
	"errors"
	"path"
	"path/filepath"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/text"
)

// fetchable refuses a submission that refers to submodule commits that no other clone could fetch:
// integration could then not be checked out. A submodule that is not checked out in the worktree
// was not changed.
func (s *Project) fetchable(ctx context.Context, v *gitboard.View, t *board.Task, worktree string, head plumbing.OID, changed []string) error {
	links, err := s.repo.Worktree(worktree).Gitlinks(ctx)
	if err != nil || len(links) == 0 {
		return err
	}
	described, err := s.repo.History().Submodules(ctx, head)
	if err != nil {
		return err
	}
	for _, file := range changed {
		commit, is := links[file]
		if !is {
			continue
		}
		name := text.Line(file, 120)
		if !described[path.Clean(file)] {
			return refusal(board.CodeNested, t.ID, "add its files, or make it a submodule: git submodule add URL "+text.Quote(file),
				"%s is a repository of its own, and no .gitmodules names its address for others", name)
		}
		published, err := s.repo.ModulePublished(ctx, filepath.Join(worktree, filepath.FromSlash(file)), commit)
		if errors.Is(err, git.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if !published {
			return refusal(board.CodeNested, t.ID, "push it: git -C "+text.Quote(path.Join(t.Worktree, file))+" push origin HEAD:"+v.TaskRef(t.ID),
				"the submission has the submodule %s at %s, which no remote of that submodule has: other clones could not check it out", name, commit.Short())
		}
	}
	return nil
}
