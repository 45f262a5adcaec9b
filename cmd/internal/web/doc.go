// Package web serves the board to a browser: pages that can be read without JavaScript, kept up to date by
// server-sent events, and forms that do what the commands do.
//
// A page is made of parts, a part of rows. A browser that is connected gets the parts and rows that changed,
// and nothing else; the event's id names the board's commit, so that it continues where it left off.
//
// It reads one board for all who look, starts no process while nothing changes, and carries nothing out
// itself: a form becomes a command line, which Config.Do carries out as the human of this clone.
//
// What guards it is in guard.go; everything that it shows is escaped by html/template.
//
// It may import cmd/internal/edge, cmd/internal/history, gitboard, gitboard/board, gitboard/git,
// gitboard/plain, gitboard/report, gitboard/roles and roles/transcript.
package web
