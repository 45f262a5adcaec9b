package worktrees

import (
	"context"
	"errors"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// PreExec writes a pre-execution checkpoint, with the current tip of the task's branch.
func PreExec(ctx context.Context, b *gitboard.Board, r gitboard.Request, p board.PreExec) (*gitboard.Done, error) {
	return b.Do(ctx, r, preExec(b, p))
}

// DeferPreExec defers the checkpoint of a supervised agent, which need not wait for the remote: its first
// commit does. It returns nil if the checkpoint can't be deferred. One that blocks its task by its
// assumptions is not, since the agent has to know.
func DeferPreExec(ctx context.Context, b *gitboard.Board, r gitboard.Request, p board.PreExec) (*gitboard.Queued, error) {
	if len(p.Assumptions) > board.MaxAssumptions {
		return nil, nil
	}
	return b.Sessions().Defer(ctx, r, preExec(b, p))
}

func preExec(b *gitboard.Board, p board.PreExec) gitboard.Intent {
	return func(ctx context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		p := p
		head, err := b.Repo().Ref(ctx, v.TaskRef(p.Task))
		if err != nil {
			return nil, nil, err
		}
		if !head.IsZero() {
			p.Head = string(head)
		}
		if p.FilesToModify, err = apart(ctx, b.Repo(), head, p.FilesToModify); err != nil {
			return nil, nil, err
		}
		p.Clock = board.At(b.Now())
		return &p, nil, nil
	}
}

// apart splits lists of paths at their commas, but not the name of a file in the commit.
func apart(ctx context.Context, repo *git.Repo, commit plumbing.OID, lists []string) (paths []string, err error) {
	for _, list := range lists {
		if strings.Contains(list, ",") {
			_, err := repo.Object(ctx, string(commit)+":"+list)
			if errors.Is(err, git.ErrNotFound) {
				for path := range strings.SplitSeq(list, ",") {
					paths = append(paths, strings.TrimSpace(path))
				}
				continue
			}
			if err != nil {
				return nil, err
			}
		}
		paths = append(paths, list)
	}
	return paths, nil
}
