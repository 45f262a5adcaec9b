package plumbing

import (
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// Some hosts accept only branches, and let them only grow. A ref of the board that is not a commit
// there, or would be replaced or deleted, points to a carrier: a commit that stands for the value
// of the ref. Its first parent is the ref's previous value, so each change is a fast-forward.
const (
	carrierMessage = "A ref of git liza's board, on a host that accepts only branches that grow\n\nLiza-Carries: "
	carriesNothing = "nothing"
)

// CarryTree returns the tree of a carrier of a blob.
func CarryTree(blob OID) Object {
	return NewObject(TreeObject, EncodeTree([]TreeEntry{{Name: "value", Mode: filemode.Regular, OID: blob}}))
}

// Carrier returns the carrier of a value, zero for a deleted ref. before is the ref's present
// value, zero for none. tree is CarryTree of a blob, the tree of a commit, or EmptyTree for a
// deleted ref. A commit becomes the last parent.
func Carrier(before, value OID, kind ObjectType, tree OID, by Signature) Object {
	c := Commit{Tree: tree, Author: by, Committer: by, Message: carrierMessage + string(value) + "\n"}
	if value.IsZero() {
		c.Message = carrierMessage + carriesNothing + "\n"
	}
	if !before.IsZero() {
		c.Parents = append(c.Parents, before)
	}
	if kind == CommitObject {
		c.Parents = append(c.Parents, value)
	}
	return NewObject(CommitObject, EncodeCommit(c))
}

// Carried returns the value that a carrier stands for, ZeroOID for a deleted ref. Any other commit,
// also one that does not keep the object that it names, stands for itself.
func (c Commit) Carried() OID {
	text, is := strings.CutPrefix(c.Message, carrierMessage)
	text, ends := strings.CutSuffix(text, "\n")
	value := OID(text)
	switch {
	case !is || !ends:
	case text == carriesNothing:
		return ZeroOID
	case value.Valid() && (c.Tree == CarryTree(value).OID || slices.Contains(c.Parents, value)):
		return value
	}
	return c.OID
}
