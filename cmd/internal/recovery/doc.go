// Package recovery finds what is broken in a clone, repairs it, and frees a task from a holder that
// is gone. Work is never removed.
//
// It may import cmd/internal/edge, cmd/internal/setup, gitboard, gitboard/audit, gitboard/board,
// gitboard/codec, gitboard/git, gitboard/gitio, gitboard/plain, gitboard/watch, hooks/install,
// worktrees and worktrees/merge.
package recovery
