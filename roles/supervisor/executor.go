package supervisor

import (
	"context"
	"io"

	"github.com/git-liza/git-liza/gitboard/board"
)

// Executor does for an agent what it may not do itself: take a task on, land it, tidy up.
type Executor interface {
	// Claim takes a task, with a worktree to work in. A task that became BLOCKED instead is the refusal "limit".
	Claim(ctx context.Context, actor board.Actor, task string) (Taken, error)
	// Merge lands approved work together, or records why some of it can't land. What is no longer approved is left out.
	Merge(ctx context.Context, actor board.Actor, tasks []string, out io.Writer) ([]Landed, error)
	// ForReview makes the worktree of a submission from another clone.
	ForReview(ctx context.Context, task string) error
	// Follow brings this clone's view of a shared board up to date, and what follows from that. It says what it
	// couldn't.
	Follow(ctx context.Context, actor board.Actor) ([]string, error)
	// Release gives a claim or a review claim back; a coder's work is kept.
	Release(ctx context.Context, actor board.Actor, task, reason string) error
	// Worked reports whether anything has been done in a task's worktree since it was claimed.
	Worked(ctx context.Context, task string) (bool, error)
	// Unlock takes away what a killed git has left in everybody's way, once nobody can hold it. With a task, whose
	// agent has ended, what that may have left in its own way. It says what it did.
	Unlock(ctx context.Context, task string) ([]string, error)
	// Repair brings this clone in line with the board for a task ("" for none), finishes merges that were cut
	// in half and, for a reviewer, ends reviews whose lease has run out. It says what it did.
	Repair(ctx context.Context, actor board.Actor, task string) ([]string, error)
}

// Landed is how the merge of a task ended.
type Landed struct {
	Task   string
	Merged bool
	Text   string // the operation's subject, or why it did not land
}

// Taken is a claim that stands.
type Taken struct {
	Text     string // the operation's subject
	Warnings []string
}
