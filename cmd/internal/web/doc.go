// Package web serves the board to a browser: pages that work without JavaScript, updated by
// server-sent events, and forms that do what the commands do.
//
// A page consists of parts, and a part of rows. A connected browser receives only the parts and
// rows that changed; the event's id names the board's commit, so that it can continue where it left
// off.
//
// It reads one board for all viewers, starts processes only on changes, and does not change the
// board itself: a form becomes an act, which Config.Do carries out as the human of this clone.
//
// Access control is in guard.go; html/template escapes everything that is shown.
//
// It may import cmd/internal/acts, cmd/internal/call, cmd/internal/history, cmd/internal/recovery,
// gitboard, gitboard/board, gitboard/cmdline, gitboard/git/plumbing, gitboard/report,
// gitboard/roles, gitboard/text, roles/transcript and worktrees.
package web
