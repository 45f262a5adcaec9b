// Package onefile reads and writes a board in the form of the one-file version of this protocol: a
// state.yaml with the present state, and a log.yaml with the history. It is pure. It gives older
// names and missing fields their present form, and reports each change. Values that no version had
// are faults: each is named with its line and the allowed values.
//
// It may import gitboard/board, gitboard/log/codec, gitboard/roles and gitboard/text.
package onefile
