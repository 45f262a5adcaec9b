package oplog

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/codec"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

// Snapshot is a board as one commit has it. Records are read when they are first needed, with the
// context that the snapshot was taken with.
type Snapshot struct {
	Commit gitio.OID // zero before the first operation
	Head   gitio.Commit
	State  *board.State
	tree   *Tree
}

// ErrNoBoard says that there is no board in this repository.
var ErrNoBoard = errors.New("there is no board here yet")

// RecordError is a record on the board that can't be read: a hand edit, or damage. Exit code 4.
type RecordError struct {
	Commit gitio.OID
	Path   string
	Err    error
}

func (e *RecordError) Error() string {
	return fmt.Sprintf("the board at %s is inconsistent: %s: %v", e.Commit.Short(), e.Path, e.Err)
}

func (e *RecordError) Unwrap() error { return e.Err }

// NewerFormatError is a board that a later version of this program wrote. Exit code 5.
type NewerFormatError struct{ Format int }

func (e *NewerFormatError) Error() string {
	return fmt.Sprintf("this board has format %d, and this git-liza knows up to %d: install a newer git-liza", e.Format, board.Format)
}

// source reads a snapshot's records from a store.
type source struct {
	ctx    context.Context
	log    *Log
	commit gitio.OID
	tree   *Tree
	read   map[string]any
	briefs map[string]board.Brief
}

func (s *source) fail(path string, err error) error {
	var bad *codec.Error
	if errors.As(err, &bad) {
		err = bad.Err
	} else if !errors.Is(err, gitio.ErrNotFound) {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return &RecordError{s.commit, path, err}
}

// Record implements board.Source.
func (s *source) Record(path string) (any, error) {
	if r, ok := s.read[path]; ok {
		return r, nil
	}
	oid, err := s.tree.blob(path)
	if err != nil {
		return nil, s.fail(path, err)
	}
	if oid.IsZero() {
		s.read[path] = nil
		return nil, nil
	}
	o, err := s.log.store.Object(s.ctx, string(oid))
	if err != nil {
		return nil, s.fail(path, err)
	}
	return s.decode(path, o.Data)
}

func (s *source) decode(path string, data []byte) (any, error) {
	r, err := codec.Decode(path, data)
	if err != nil {
		return nil, s.fail(path, err)
	}
	if t, ok := r.(*board.Task); ok && board.RecordPath(board.TaskDir, t.ID) != path {
		return nil, s.fail(path, fmt.Errorf("holds the task %q", t.ID))
	}
	s.read[path] = r
	return r, nil
}

// IDs implements board.Source.
func (s *source) IDs(dir string) ([]string, error) {
	entries, err := s.tree.dir(dir)
	if err != nil {
		return nil, s.fail(dir, err)
	}
	ids := make([]string, 0, len(entries))
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name, ".yaml"); ok {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Briefs implements board.Source. What was read once is remembered by blob id across processes.
func (s *source) Briefs() (map[string]board.Brief, error) {
	if s.briefs != nil {
		return s.briefs, nil
	}
	entries, err := s.tree.dir(board.TaskDir)
	if err != nil {
		return nil, s.fail(board.TaskDir, err)
	}
	known := s.log.cache.load()
	all := make(map[string]board.Brief, len(entries))
	var missing []gitio.TreeEntry
	var names []string
	for _, e := range entries {
		if b, ok := known[e.OID]; ok {
			all[b.ID] = b
			continue
		}
		missing, names = append(missing, e), append(names, string(e.OID))
	}
	objects, err := s.log.store.Objects(s.ctx, names)
	if err != nil {
		return nil, s.fail(board.TaskDir, err)
	}
	fresh := map[gitio.OID]board.Brief{}
	for i, o := range objects {
		path := board.TaskDir + "/" + missing[i].Name
		if o.OID == "" {
			return nil, s.fail(path, gitio.ErrNotFound)
		}
		r, err := s.decode(path, o.Data)
		if err != nil {
			return nil, err
		}
		b := r.(*board.Task).Brief()
		all[b.ID], fresh[missing[i].OID] = b, b
	}
	s.log.cache.save(entries, known, fresh)
	s.briefs = all
	return all, nil
}

// snapshot reads the board at a commit.
func (l *Log) snapshot(ctx context.Context, commit gitio.OID) (*Snapshot, error) {
	if commit.IsZero() {
		return &Snapshot{Commit: gitio.ZeroOID, State: board.NewState(nil, ""), tree: NewTree()}, nil
	}
	head, err := readCommit(ctx, l.store, commit)
	if err != nil {
		return nil, &RecordError{commit, "the commit", err}
	}
	root, err := l.readTree(ctx, head.Tree)
	if err != nil {
		return nil, &RecordError{commit, "the tree", err}
	}
	tree := NewTree()
	tree.root = root
	tree.load = func(oid gitio.OID) ([]gitio.TreeEntry, error) { return l.readTree(ctx, oid) }
	src := &source{ctx: ctx, log: l, commit: commit, tree: tree, read: map[string]any{}}
	if err := l.checkFormat(ctx, src); err != nil {
		return nil, err
	}
	return &Snapshot{Commit: commit, Head: head, State: board.NewState(src, board.At(head.Author.When)), tree: tree}, nil
}

func (l *Log) readTree(ctx context.Context, oid gitio.OID) ([]gitio.TreeEntry, error) {
	o, err := l.store.Object(ctx, string(oid))
	if err != nil {
		return nil, err
	}
	entries, err := gitio.DecodeTree(o.Data)
	if err != nil {
		return nil, err
	}
	for i := 1; i < len(entries); i++ {
		if entries[i-1].Name > entries[i].Name {
			sortEntries(entries)
			break
		}
	}
	return entries, nil
}

// checkFormat refuses a board of a later format before anything else of it is read.
func (l *Log) checkFormat(ctx context.Context, src *source) error {
	oid, err := src.tree.blob(board.MetaPath)
	if err != nil || oid.IsZero() {
		return &RecordError{src.commit, board.MetaPath, fmt.Errorf("is missing")}
	}
	o, err := l.store.Object(ctx, string(oid))
	if err != nil {
		return src.fail(board.MetaPath, err)
	}
	var only struct {
		Format int `yaml:"format"`
	}
	if len(o.Data) < codec.MaxDocument && yaml.Unmarshal(o.Data, &only) == nil && only.Format > board.Format {
		return &NewerFormatError{only.Format}
	}
	_, err = src.decode(board.MetaPath, o.Data)
	return err
}

// PayloadFile is the text of the payload's file in the tree, "" when there is none.
func (s *Snapshot) PayloadFile(ctx context.Context, store Store) (string, error) {
	oid, err := s.tree.blob(codec.PayloadFile)
	if err != nil || oid.IsZero() {
		return "", err
	}
	o, err := store.Object(ctx, string(oid))
	return string(o.Data), err
}
