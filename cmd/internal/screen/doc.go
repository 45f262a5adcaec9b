// Package screen draws what people look at: the overview, static or live, a task's story, the
// graph, a sprint, the reports of a watch. A drawing is a list of lines that fit a page; only the
// live screen uses a terminal.
//
// It may import cmd/internal/acts, cmd/internal/call, cmd/internal/editor, cmd/internal/records,
// cmd/internal/tty, gitboard, gitboard/alarm, gitboard/board, gitboard/cmdline, gitboard/git,
// gitboard/git/plumbing, gitboard/notify, gitboard/report, gitboard/roles, gitboard/text,
// gitboard/watch and worktrees.
package screen
