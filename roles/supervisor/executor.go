package supervisor

import (
	"context"
	"io"

	"github.com/git-liza/git-liza/gitboard/board"
)

// Executor does what an agent may not do itself: claim a task, land it, clean up.
type Executor interface {
	// Claim claims a task and creates its worktree. If the task became BLOCKED instead, the error
	// is the refusal "limit".
	Claim(ctx context.Context, actor board.Actor, task string) (Taken, error)
	// Merge lands approved tasks together, or records why some can't land. It skips tasks that are
	// no longer approved.
	Merge(ctx context.Context, actor board.Actor, tasks []string, out io.Writer) ([]Landed, error)
	// ForReview creates the worktree for a submission from another clone.
	ForReview(ctx context.Context, task string) error
	// Follow updates this clone's view of a shared board, and what depends on it. It returns what
	// it could not do.
	Follow(ctx context.Context, actor board.Actor) ([]string, error)
	// Release gives back a claim or a review claim; a coder's work is kept.
	Release(ctx context.Context, actor board.Actor, task, reason string) error
	// Worked reports whether anything was done in a task's worktree since it was claimed.
	Worked(ctx context.Context, task string) (bool, error)
	// Unlock removes lock files of a killed git, once no process can hold them: those that block
	// everybody, and with a task, whose agent must have ended, those in that task's way. It returns
	// what it did.
	Unlock(ctx context.Context, task string) ([]string, error)
	// Repair brings this clone in line with the board for a task ("" for none), finishes
	// interrupted merges and, for a reviewer, ends reviews whose lease expired. It returns what it
	// did.
	Repair(ctx context.Context, actor board.Actor, task string) ([]string, error)
}

// Landed is the outcome of a task's merge.
type Landed struct {
	Task   string
	Merged bool
	Text   string // the operation's subject, or why it did not land
}

// Taken is a successful claim.
type Taken struct {
	Text     string // the operation's subject
	Warnings []string
}
