package log

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/sshsig"
)

// RequestDepth is how many operations back a caller's request id is searched for. Request ids are
// unique among that many.
const RequestDepth = 5000

// ErrLost means that another operation came first: retry on the new tip.
var ErrLost = errors.New("another operation came first")

// RewrittenError means that operations were appended as other commits than those that were built: a
// server decided them again, on a newer board.
type RewrittenError struct{ Commits []plumbing.OID }

func (e *RewrittenError) Error() string { return "the operations are on the board as other commits" }

// Log reads and appends operations.
type Log struct {
	store   Store
	cache   *briefCache
	wide    wideTrees
	singles singles
}

// New opens the log of a store. cacheFile is where briefs of tasks are remembered, "" for nowhere;
// losing it only costs time.
func New(store Store, cacheFile string) *Log {
	return &Log{store: store, cache: &briefCache{file: cacheFile}}
}

// Store returns the store of the log.
func (l *Log) Store() Store { return l.store }

// Tip reads the current board, which is empty before the first operation.
func (l *Log) Tip(ctx context.Context) (*Snapshot, error) {
	oid, err := l.store.Ref(ctx, plumbing.BoardRef)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", plumbing.BoardRef, err)
	}
	return l.snapshot(ctx, oid)
}

// Next reads the board that this clone's next operation follows from: the current board at the
// commit settled, plus the operations decided in this clone that a remote has not accepted yet.
func (l *Log) Next(ctx context.Context) (s *Snapshot, settled plumbing.OID, err error) {
	shared, may := l.store.(interface {
		Pending(context.Context) (tip, settled plumbing.OID, err error)
	})
	if !may {
		if s, err = l.Tip(ctx); err != nil {
			return nil, "", err
		}
		return s, s.Commit, nil
	}
	tip, settled, err := shared.Pending(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", plumbing.BoardRef, err)
	}
	s, err = l.snapshot(ctx, tip)
	return s, settled, err
}

// At reads the board at one of its commits.
func (l *Log) At(ctx context.Context, commit plumbing.OID) (*Snapshot, error) {
	return l.snapshot(ctx, commit)
}

// Committer is who writes the commits of this clone. Key is the acting party's key if commits are
// signed.
type Committer struct {
	Name, Email string
	Key         *sshsig.Signer
}

// Entry is an operation in the log.
type Entry struct {
	Commit  plumbing.OID
	Subject string
	Op      board.Operation
	After   *board.State
}

// Prepared is an operation that is allowed on the snapshot on which it was decided.
type Prepared struct {
	on    *Snapshot
	op    board.Operation
	After *board.State
}

// Prepare applies an operation to a snapshot. It returns a *board.Refusal if the operation is not
// allowed.
func Prepare(on *Snapshot, op board.Operation) (*Prepared, error) {
	after, err := board.Step(on.State, op)
	if err != nil {
		return nil, err
	}
	return &Prepared{on, op, after}, nil
}

// As returns the same operation with another request id, on which no rule depends.
func (p *Prepared) As(request string) *Prepared {
	named := *p
	named.op.Request = request
	return &named
}

// Side is what belongs to an operation besides the board: other refs, which move in the same
// transaction before the board's, and the objects that they need.
type Side struct {
	Refs    []plumbing.RefUpdate
	Objects []plumbing.Object
	// Queued is called when the operation waits for a remote and this clone's next operation may
	// follow it; nil if no operation may follow.
	Queued func()
}

// Built is an operation encoded as a commit that is not written yet.
type Built struct {
	*Entry
	on      plumbing.OID
	objects []plumbing.Object
	next    *Snapshot
}

// Next returns the board after the operation, on which another one can be decided.
func (b *Built) Next() *Snapshot { return b.next }

// Objects returns the commit and the objects that it adds to the board before it.
func (b *Built) Objects() []plumbing.Object { return b.objects }

// Build encodes the operation as a commit.
func (p *Prepared) Build(by Committer) (*Built, error) {
	if err := p.checkKey(by.Key); err != nil {
		return nil, err
	}
	made, err := outcome(p.on.State, p.After, p.op, codec.EncodeChecked)
	if err == nil {
		err = made.Place(p.on.tree)
	}
	if err != nil {
		return nil, err
	}
	c, o, err := build(p.on, made, p.op, by)
	if err != nil {
		return nil, err
	}
	return built(p.on, made, c, o, p.op), nil
}

// built returns an operation with its commit and the new objects that the commit needs.
func built(on *Snapshot, made *Outcome, c plumbing.Commit, commit plumbing.Object, op board.Operation) *Built {
	h, _ := codec.ParseHead(c.Message)
	objects := append(slices.DeleteFunc(made.Objects(), movedFrom(on, made.After)), commit)
	next := &Snapshot{Commit: c.OID, Head: c, State: made.After, tree: made.Tree, src: on.src}
	return &Built{&Entry{Commit: c.OID, Subject: h.Subject, Op: op, After: made.After}, on.Commit, objects, next}
}

// Append appends operations, each built on the one before it, to the snapshot on which the first
// was decided: all or none. The error is ErrLost if the race was lost, or else what kept them from
// being written. It is nil only if they are in the log as they were built, and a *RewrittenError if
// the log has them in another form.
func (l *Log) Append(ctx context.Context, built []*Built, side Side) error {
	first, last := built[0], built[len(built)-1]
	var objects []plumbing.Object
	for _, b := range built {
		objects = append(objects, b.objects...)
	}
	updates := append(slices.Clone(side.Refs), plumbing.RefUpdate{Ref: plumbing.BoardRef, Old: first.on, New: last.Commit})
	wrote, err := l.write(ctx, append(objects, side.Objects...), updates, last.Subject, side.Queued)
	if !wrote {
		return fmt.Errorf("write %s: %w", last.Op.Name(), err)
	}
	if err == nil {
		return nil
	}
	if errors.As(err, new(*RewrittenError)) {
		return err
	}
	if torn := interface{ Torn() bool }(nil); errors.As(err, &torn) {
		return fmt.Errorf("append %s: %w", last.Op.Name(), err)
	}
	appended, lookErr := l.appended(ctx, first.on, last.Commit)
	switch {
	case lookErr != nil:
		// The outcome is unknown: a caller that retried now could act twice.
		return fmt.Errorf("append %s: %w (and whether it was done can't be read: %w)", last.Op.Name(), err, lookErr)
	case appended:
		return nil
	}
	if errors.Is(err, git.ErrRefMoved) || errors.Is(err, git.ErrBusy) {
		return fmt.Errorf("%w (%w)", ErrLost, err)
	}
	return fmt.Errorf("append %s: %w", last.Op.Name(), err)
}

// write stores objects and then moves refs. wrote is false if it failed before any ref could move.
func (l *Log) write(ctx context.Context, objects []plumbing.Object, updates []plumbing.RefUpdate, reflog string, queued func()) (wrote bool, err error) {
	if s, shared := l.store.(interface {
		Append(context.Context, []plumbing.Object, []plumbing.RefUpdate, string, func()) error
	}); shared {
		return true, s.Append(ctx, objects, updates, reflog, queued)
	}
	if s, both := l.store.(interface {
		WriteAndUpdate(context.Context, []plumbing.Object, []plumbing.RefUpdate, string) error
	}); both {
		return true, s.WriteAndUpdate(ctx, objects, updates, reflog)
	}
	if err := l.store.WriteObjects(ctx, objects); err != nil {
		return false, err
	}
	return true, l.store.UpdateRefs(ctx, updates, reflog)
}

// appended reports whether a commit is among those after base: an update may have been done even
// though it was reported as failed.
func (l *Log) appended(ctx context.Context, base, commit plumbing.OID) (bool, error) {
	tip, err := l.store.Ref(ctx, plumbing.BoardRef)
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

// build encodes an operation's outcome as a commit.
func build(on *Snapshot, made *Outcome, op board.Operation, by Committer) (c plumbing.Commit, o plumbing.Object, err error) {
	when := op.Time.Std()
	name, email := Author(op.Actor)
	c = plumbing.Commit{
		Tree:      made.Root(),
		Author:    plumbing.Signature{Name: name, Email: email, When: when},
		Committer: plumbing.Signature{Name: by.Name, Email: by.Email, When: when},
		Message:   made.Message,
	}
	if !on.Commit.IsZero() {
		c.Parents = []plumbing.OID{on.Commit}
	}
	if by.Key != nil && board.MustSign(on.State, made.After) {
		if c.GPGSig, err = by.Key.Sign(plumbing.EncodeCommit(c)); err != nil {
			return plumbing.Commit{}, plumbing.Object{}, board.Refuse(board.CodeSignature, fmt.Sprintf("%s can't be signed: %v", op.Name(), err), "is it the ssh-agent's key? ssh-add -l lists what it holds")
		}
	}
	o = plumbing.NewObject("commit", plumbing.EncodeCommit(c))
	c.OID = o.OID
	return c, o, nil
}

// movedFrom returns a filter for the objects that a step only moves: the board before it has them,
// and that board stays in the history.
func movedFrom(on *Snapshot, after *board.State) func(plumbing.Object) bool {
	moved := map[plumbing.OID]bool{}
	for path, r := range after.Changes() {
		if oid, err := on.tree.blob(path); r == nil && err == nil {
			moved[oid] = true
		}
	}
	return func(o plumbing.Object) bool { return moved[o.OID] }
}

// Author returns the author of an operation's commit: an agent's id, or a human's name and address.
func Author(a board.Actor) (name, email string) {
	if a.Role == roles.Human {
		return a.Name, a.Email
	}
	return a.ID, a.ID + board.AgentDomain
}
