package log

import (
	"context"
	"errors"
	"fmt"

	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log/codec"
)

// Snapshot is the board at one commit. Records are read when first needed, with the context that
// the snapshot was taken with.
type Snapshot struct {
	Commit plumbing.OID // zero before the first operation
	Head   plumbing.Commit
	State  *board.State
	tree   *Tree
	src    *source // nil before the first operation
}

// ErrNoBoard means that this repository has no board.
var ErrNoBoard = errors.New("there is no board here yet")

// formError is damage that is evident from a commit, a tree or a file alone.
type formError struct{ error }

func (e formError) Unwrap() error { return e.error }

var (
	errMissing = formError{errors.New("it is missing")}
	errMode    = formError{errors.New("it is not a plain file")}
)

// RecordError is a record on the board that can't be read, because of a hand edit or damage. Exit
// code 4.
type RecordError struct {
	Commit plumbing.OID
	Path   string
	Err    error
}

func (e *RecordError) Error() string {
	return fmt.Sprintf("the board at %s is inconsistent: %s: %v", e.Commit.Short(), e.Path, e.Err)
}

func (e *RecordError) Unwrap() error { return e.Err }

// NewerFormatError is a board that was written by a later version of this program. Exit code 5.
type NewerFormatError struct{ Format int }

func (e *NewerFormatError) Error() string {
	return fmt.Sprintf("this board has format %d, and this git-liza knows up to %d", e.Format, board.Format)
}

// TaskTexts returns the files of the tasks that are in canonical form (codec.Encode), by id. It
// reads them in one exchange and decodes only those that were never decoded before.
func (s *Snapshot) TaskTexts() (map[string][]byte, error) {
	if _, err := s.State.Briefs(); err != nil || s.src == nil {
		return nil, err
	}
	entries, err := s.tree.dir(board.TaskDir)
	if err != nil {
		return nil, s.src.fail(board.TaskDir, err)
	}
	known := s.src.log.cache.load()
	var ids, names []string
	for _, e := range entries {
		if c := known[e.OID]; c.plain && c.ID+".yaml" == e.Name {
			ids, names = append(ids, c.ID), append(names, string(e.OID))
		}
	}
	objects, err := s.src.log.store.Objects(s.src.ctx, names)
	if err != nil {
		return nil, s.src.fail(board.TaskDir, err)
	}
	texts := make(map[string][]byte, len(ids))
	for i, o := range objects {
		if o.OID != "" {
			texts[ids[i]] = o.Data
		}
	}
	return texts, nil
}

// At reads the board at one of its commits.
func (l *Reader) At(ctx context.Context, commit plumbing.OID) (*Snapshot, error) {
	if commit.IsZero() {
		return &Snapshot{Commit: plumbing.ZeroOID, State: board.NewState(nil, ""), tree: NewTree()}, nil
	}
	src := &source{ctx: ctx, log: l, commit: commit, read: map[string]any{}, raw: map[string][]byte{}, ahead: map[string]int{board.TaskDir: -tasksAlone}, ids: map[string][]string{}, old: map[string]archived{}}
	head, err := readCommit(ctx, l.store, commit)
	if err != nil {
		return nil, src.fail("the commit", err)
	}
	tree, err := readTree(head.Tree, func(oid plumbing.OID) ([]plumbing.TreeEntry, error) { return l.wide.entries(ctx, l.store, oid) })
	if err != nil {
		return nil, src.fail("the tree", err)
	}
	src.tree = tree
	if err := l.checkFormat(ctx, src); err != nil {
		return nil, err
	}
	return &Snapshot{Commit: commit, Head: head, State: board.NewState(src, board.At(head.Author.When)), tree: tree, src: src}, nil
}

// checkFormat refuses a board of a later format before anything else in it is read.
func (l *Reader) checkFormat(ctx context.Context, src *source) error {
	oid, err := src.tree.blob(board.MetaPath)
	if err == nil && oid.IsZero() {
		err = errMissing
	}
	if err != nil {
		return src.fail(board.MetaPath, err)
	}
	if l.decoded.get(board.MetaPath, oid) != nil {
		return nil // it was checked
	}
	o, err := l.store.Object(ctx, string(oid))
	if err != nil {
		return src.fail(board.MetaPath, err)
	}
	r, err := src.decode(board.MetaPath, o.Data)
	if err == nil {
		if f := r.(*board.Meta).Format; f > board.Format {
			return &NewerFormatError{f}
		}
		l.decoded.put(board.MetaPath, oid, r)
		return nil
	}
	// A later format may have fields that this version can't decode.
	var only struct {
		Format int `yaml:"format"`
	}
	if len(o.Data) < codec.MaxDocument && yaml.Unmarshal(o.Data, &only) == nil && only.Format > board.Format {
		return &NewerFormatError{only.Format}
	}
	return err
}

// PayloadFile returns the text of the payload's file in the tree, or "" if there is none.
func (s *Snapshot) PayloadFile(ctx context.Context, store Store) (string, error) {
	oid, err := s.tree.blob(codec.PayloadFile)
	if err != nil || oid.IsZero() {
		return "", err
	}
	o, err := store.Object(ctx, string(oid))
	return string(o.Data), err
}

func readCommit(ctx context.Context, s Store, oid plumbing.OID) (plumbing.Commit, error) {
	o, err := s.Object(ctx, string(oid))
	if err != nil {
		return plumbing.Commit{}, err
	}
	c, err := plumbing.DecodeCommit(o)
	if err != nil {
		return c, formError{err}
	}
	return c, nil
}
