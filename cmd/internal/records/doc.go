// Package records finds records by their files and by their places in the document, reads parts of
// the document, checks records, and compares boards record by record. It writes nothing.
//
// It may import cmd/internal/call, gitboard, gitboard/audit, gitboard/board, gitboard/git/plumbing,
// gitboard/log, gitboard/log/codec, gitboard/onefile and gitboard/text.
package records
