// Package history lists the operations of the board's history that pass a filter, as log, export
// and log.yaml show them.
//
// It may import cmd/internal/call, cmd/internal/records, cmd/internal/screen, gitboard,
// gitboard/board, gitboard/git/plumbing, gitboard/log, gitboard/log/codec, gitboard/onefile,
// gitboard/roles and gitboard/text.
package history
