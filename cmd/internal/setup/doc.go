// Package setup prepares a clone: its hooks, the directory of stop files, the start of integration,
// and the board of a remote that it joins.
//
// It may import cmd/internal/call, cmd/internal/signing, gitboard, gitboard/audit, gitboard/board,
// gitboard/cmdline, gitboard/git, gitboard/git/disk, gitboard/git/plumbing, gitboard/log,
// gitboard/roles, gitboard/text, hooks/install, roles/supervisor, worktrees and worktrees/merge.
package setup
