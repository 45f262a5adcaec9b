package merge

import (
	"context"
	"errors"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/worktrees"
)

// Retry makes a failed merge APPROVED again if the same commit merges cleanly into the current
// integration.
func Retry(ctx context.Context, b *gitboard.Board, r gitboard.Request, task string) (*gitboard.Done, error) {
	intent := func(ctx context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		t, err := v.State.FindTask(task)
		if err != nil {
			return nil, nil, err
		}
		tip, err := v.Integration(ctx)
		if err != nil {
			return nil, nil, err
		}
		p := &board.RetryMerge{About: board.About{Task: t.ID}, ReviewCommit: t.ReviewCommit, Onto: string(tip)}
		if err := v.Plan(ctx, r, p); err != nil {
			return nil, nil, err
		}
		if _, err := b.Repo().Object(ctx, t.ReviewCommit); errors.Is(err, git.ErrNotFound) {
			return nil, nil, board.Refusef(board.CodeMissing, "the approved commit %.10s of %s is not in this clone", t.ReviewCommit, t.ID).Way(board.ActOn("sync"))
		}
		if err := complete(ctx, b, t, tip); err != nil {
			return nil, nil, err
		}
		_, conflicts, err := b.Repo().History().TryMerge(ctx, tip, plumbing.OID(t.ReviewCommit))
		if err != nil {
			return nil, nil, err
		}
		if len(conflicts) > 0 {
			refusal := board.Refusef(board.CodeConflict, "%s still conflicts with integration: %s", t.ID, worktrees.Listed(distinct(conflicts))).
				Advise("a coder claims it as an integration fix: %s", board.ActOn("claim", t.ID))
			refusal.Task = t.ID
			return nil, nil, refusal
		}
		return p, []plumbing.RefUpdate{{Ref: v.IntegrationRef(), Old: tip, New: tip}}, nil
	}
	return b.Do(ctx, r, intent)
}
