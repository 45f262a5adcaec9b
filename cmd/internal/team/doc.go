// Package team starts supervisors for commands, and shows what their agents do: as lines for one
// agent, on a Console for several.
//
// It may import cmd/internal/call, cmd/internal/setup, cmd/internal/signing, gitboard,
// gitboard/alarm, gitboard/board, gitboard/proc, gitboard/roles, gitboard/text, gitboard/watch,
// hooks/install, roles/clis, roles/process, roles/supervisor, worktrees/executor and
// worktrees/merge.
package team
