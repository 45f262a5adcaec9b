// Package recovery finds and repairs what is broken in a clone, and frees a task whose holder is
// gone. It never removes work.
//
// It may import cmd/internal/call, cmd/internal/setup, gitboard, gitboard/audit, gitboard/board,
// gitboard/cmdline, gitboard/git, gitboard/git/plumbing, gitboard/lease, gitboard/log/codec,
// gitboard/roles, gitboard/share, gitboard/text, gitboard/watch, hooks/install, worktrees,
// worktrees/doctor and worktrees/merge.
package recovery
