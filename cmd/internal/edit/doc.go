// Package edit lets a human change a record in an editor: the text is checked as write checks it,
// and what can't be committed is kept in a file. Two changes of one field are shown, and neither is
// lost.
//
// It may import cmd/internal/edge, cmd/internal/editor, cmd/internal/records, gitboard,
// gitboard/board, gitboard/codec, gitboard/git and gitboard/plain.
package edit
