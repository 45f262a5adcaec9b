// Package codec owns the bytes of a board: canonical YAML for records, canonical JSON for payloads,
// and the commit message that carries an operation.
//
// It promises that equal values have equal bytes on every machine, that it reads back unchanged
// its own output, and that text in a record or a payload can never become structure. It is
// pure.
//
// It may import gitboard/board, gitboard/git/plumbing, gitboard/report, gitboard/roles and
// gitboard/text.
package codec
