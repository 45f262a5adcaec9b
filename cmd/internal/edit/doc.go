// Package edit lets a human change a record in an editor. The text is checked as write checks it,
// and what can't be committed is kept in a file. If two people change one field, both changes are
// shown and neither is lost.
//
// It may import cmd/internal/call, cmd/internal/editor, cmd/internal/records, gitboard,
// gitboard/board, gitboard/git/plumbing, gitboard/log/codec, gitboard/text and specs.
package edit
