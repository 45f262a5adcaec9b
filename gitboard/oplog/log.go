package oplog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/codec"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/sshsig"
	"github.com/git-liza/git-liza/roles"
)

// Ref is the branch that is the board.
const Ref = "refs/heads/liza/state"

// RequestDepth is how far back a caller's request id is looked for, in operations. Among so many, none has
// another's.
const RequestDepth = 5000

// ErrLost says that somebody else's operation came first: decide again on the new tip.
var ErrLost = errors.New("another operation came first")

// Log reads and appends operations.
type Log struct {
	store Store
	cache *briefCache
	wide  wideTrees
}

// New opens the log of a store. cacheFile is where briefs of tasks are remembered, "" for nowhere;
// losing it costs time only.
func New(store Store, cacheFile string) *Log {
	return &Log{store: store, cache: &briefCache{file: cacheFile}}
}

// Store is what the log stands on.
func (l *Log) Store() Store { return l.store }

// Tip reads the board as it is now. Before the first operation it's an empty one.
func (l *Log) Tip(ctx context.Context) (*Snapshot, error) {
	oid, err := l.store.Ref(ctx, Ref)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", Ref, err)
	}
	return l.snapshot(ctx, oid)
}

// At reads the board as it was at one of its commits.
func (l *Log) At(ctx context.Context, commit gitio.OID) (*Snapshot, error) {
	return l.snapshot(ctx, commit)
}

// Committer is who writes the commits of this clone, and the key of whoever acts, where commits are signed.
type Committer struct {
	Name, Email string
	Key         *sshsig.Signer
}

// Entry is an operation that stands in the log.
type Entry struct {
	Commit  gitio.OID
	Subject string
	Op      board.Operation
	After   *board.State
}

// Prepared is an operation that is allowed on the snapshot that it was decided on.
type Prepared struct {
	on    *Snapshot
	op    board.Operation
	After *board.State
}

// Prepare takes the step from a snapshot by an operation. A *board.Refusal says that it's not allowed.
func Prepare(on *Snapshot, op board.Operation) (p *Prepared, err error) {
	defer on.State.Unread(&err)
	after, err := board.Step(on.State, op)
	if err != nil {
		return nil, err
	}
	return &Prepared{on, op, after}, nil
}

// Side is what belongs to an operation beside the board: other refs, which move in the same transaction
// before the board's, and the objects that they need.
type Side struct {
	Refs    []gitio.RefUpdate
	Objects []gitio.Object
}

// Append puts an operation behind the snapshot that it was decided on. The error is ErrLost when the
// race is lost, else whatever kept it from being written; it is nil only when the operation stands in
// the log.
func (l *Log) Append(ctx context.Context, p *Prepared, by Committer, side Side) (*Entry, error) {
	on, op := p.on, p.op
	if err := p.checkKey(by.Key); err != nil {
		return nil, err
	}
	commit, objects, err := build(on, p.After, op, by)
	if err != nil {
		return nil, err
	}
	h, _ := codec.ParseHead(commit.Message)
	entry := &Entry{Commit: commit.OID, Subject: h.Subject, Op: op, After: p.After}
	updates := append(append([]gitio.RefUpdate{}, side.Refs...), gitio.RefUpdate{Ref: Ref, Old: on.Commit, New: commit.OID})
	wrote, err := l.write(ctx, append(objects, side.Objects...), updates, h.Subject)
	if !wrote {
		return nil, fmt.Errorf("write %s: %w", op.Name(), err)
	}
	if err == nil {
		return entry, nil
	}
	stands, lookErr := l.stands(ctx, on.Commit, commit.OID)
	switch {
	case lookErr != nil:
		// Neither done nor lost for certain: who decided again now could act twice.
		return nil, fmt.Errorf("append %s: %w (and whether it was done can't be read: %w)", op.Name(), err, lookErr)
	case stands:
		return entry, nil
	}
	if errors.Is(err, gitio.ErrRefMoved) || errors.Is(err, gitio.ErrBusy) {
		return nil, fmt.Errorf("%w (%w)", ErrLost, err)
	}
	return nil, fmt.Errorf("append %s: %w", op.Name(), err)
}

// write stores objects and then moves refs; wrote is false when it failed before any ref could move.
func (l *Log) write(ctx context.Context, objects []gitio.Object, updates []gitio.RefUpdate, reflog string) (wrote bool, err error) {
	if s, both := l.store.(interface {
		WriteAndUpdate(context.Context, []gitio.Object, []gitio.RefUpdate, string) error
	}); both {
		return true, s.WriteAndUpdate(ctx, objects, updates, reflog)
	}
	if err := l.store.WriteObjects(ctx, objects); err != nil {
		return false, err
	}
	return true, l.store.UpdateRefs(ctx, updates, reflog)
}

// stands looks for a commit among those that came after the one it was to follow: an update may have
// been done and still be reported as failed.
func (l *Log) stands(ctx context.Context, base, commit gitio.OID) (bool, error) {
	tip, err := l.store.Ref(ctx, Ref)
	if err != nil || tip == base || tip.IsZero() {
		return false, err
	}
	since, err := l.store.Log(ctx, base, tip)
	if err != nil {
		return false, err
	}
	for _, c := range since {
		if c.OID == commit {
			return true, nil
		}
	}
	return false, nil
}

// build encodes an operation as a commit with all the objects that it needs.
func build(on *Snapshot, after *board.State, op board.Operation, by Committer) (c gitio.Commit, all []gitio.Object, err error) {
	defer on.State.Unread(&err)
	message, payload, err := codec.Message(on.State, after, op)
	if err == nil {
		// A message written over a failed reading would lack what wasn't read.
		err = cmp.Or(on.State.Err(), after.Err())
	}
	if err != nil {
		return gitio.Commit{}, nil, err
	}
	files, err := Files(after, payload)
	if err != nil {
		return gitio.Commit{}, nil, err
	}
	_, objects, err := on.tree.Change(files)
	if err != nil {
		return gitio.Commit{}, nil, err
	}
	objects = slices.DeleteFunc(objects, movedFrom(on, after))
	when := op.Time.Std()
	name, email := Author(op.Actor)
	c = gitio.Commit{
		Tree:      objects[len(objects)-1].OID,
		Author:    gitio.Signature{Name: name, Email: email, When: when},
		Committer: gitio.Signature{Name: by.Name, Email: by.Email, When: when},
		Message:   message,
	}
	if !on.Commit.IsZero() {
		c.Parents = []gitio.OID{on.Commit}
	}
	if by.Key != nil && board.MustSign(on.State, after) {
		if c.GPGSig, err = by.Key.Sign(gitio.EncodeCommit(c)); err != nil {
			return gitio.Commit{}, nil, board.Refuse("signature", fmt.Sprintf("%s can't be signed: %v", op.Name(), err), "is it the ssh-agent's key? ssh-add -l lists what it holds")
		}
	}
	o := gitio.NewObject("commit", gitio.EncodeCommit(c))
	c.OID = o.OID
	return c, append(objects, o), nil
}

// movedFrom tells the objects that a step only moves: the board before it holds them, and stays in the history.
func movedFrom(on *Snapshot, after *board.State) func(gitio.Object) bool {
	moved := map[gitio.OID]bool{}
	for path, r := range after.Changes() {
		if oid, err := on.tree.blob(path); r == nil && err == nil {
			moved[oid] = true
		}
	}
	return func(o gitio.Object) bool { return moved[o.OID] }
}

// Files are the changed files of a step: records as canonical YAML, and the payload's file where there is one.
func Files(after *board.State, payload string) (map[string][]byte, error) {
	files := map[string][]byte{codec.PayloadFile: nil}
	if payload != "" {
		files[codec.PayloadFile] = []byte(payload)
	}
	for path, r := range after.Changes() {
		if r == nil {
			files[path] = nil
			continue
		}
		data, err := codec.EncodeChecked(path, r)
		if err != nil {
			return nil, err
		}
		files[path] = data
	}
	return files, nil
}

// Author is the author of an operation's commit: the agent under its id, or the human under theirs.
func Author(a board.Actor) (name, email string) {
	if a.Role == roles.Human {
		return a.Name, a.Email
	}
	return a.ID, a.ID + board.AgentDomain
}
