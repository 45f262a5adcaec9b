package log

import (
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log/codec"
)

// Result is the result of an operation on a board: the content of the commit that Build makes, and
// that a commit which carries the operation must equal.
type Result struct {
	After   *board.State
	Tree    *Tree // nil until it is placed
	Message string
	files   map[string][]byte
}

// Root returns the id of the board's tree.
func (r *Result) Root() plumbing.OID { return r.Tree.Root() }

// Objects returns the new objects, the root tree last.
func (r *Result) Objects() []plumbing.Object { return r.Tree.Objects(r.files) }

// Encoder encodes a record as a file; path is only used in errors.
type Encoder func(path string, r any) ([]byte, error)

// Names appends the ids of the new objects.
func (r *Result) Names(names []string) []string {
	r.Tree.changed(r.files, func(oid plumbing.OID, _ []byte, _ *Tree) { names = append(names, string(oid)) })
	return names
}

// CarryOut computes the result of an operation on a board whose files are in tree. It returns a
// *board.Refusal if the board does not allow the operation.
func CarryOut(before *board.State, tree *Tree, op board.Operation, encode Encoder) (*Result, error) {
	r, err := Unplaced(before, op, encode)
	if err == nil {
		err = r.Place(tree)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Unplaced is CarryOut for a caller that places the result later.
func Unplaced(before *board.State, op board.Operation, encode Encoder) (*Result, error) {
	after, err := board.Step(before, op)
	if err != nil {
		return nil, err
	}
	return resultOf(before, after, op, encode)
}

// Place makes the result's tree from that of the board before it. It does not look at the boards
// themselves.
func (r *Result) Place(before *Tree) (err error) {
	r.Tree, err = before.Change(r.files)
	return err
}

// resultOf returns the result of a step from before to after, not placed yet.
func resultOf(before, after *board.State, op board.Operation, encode Encoder) (*Result, error) {
	message, payload, err := codec.Message(before, after, op)
	if err != nil {
		return nil, err
	}
	files, err := Files(after, payload, encode)
	if err != nil {
		return nil, err
	}
	return &Result{After: after, Message: message, files: files}, nil
}

// Files returns the changed files of a step: records, and the payload's file if there is one. The
// content of a removed file is nil.
func Files(after *board.State, payload string, encode Encoder) (map[string][]byte, error) {
	files := map[string][]byte{codec.PayloadFile: nil}
	if payload != "" {
		files[codec.PayloadFile] = []byte(payload)
	}
	for path, r := range after.Changes() {
		if r == nil {
			files[path] = nil
			continue
		}
		data, err := encode(path, r)
		if err != nil {
			return nil, err
		}
		files[path] = data
	}
	return files, nil
}
