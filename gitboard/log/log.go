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

// Log is a log of operations that grows by compare-and-swap: Local, or a board shared by a remote.
type Log interface {
	// Tip returns the commit that the next operation follows.
	Tip(ctx context.Context) (Tip, error)
	// Append appends a batch, all of it or nothing.
	Append(ctx context.Context, b Batch) Outcome
}

// Tip is the end of a log. Operations after Settled were decided in this clone and are still pending
// at the remote: they may be dropped.
type Tip struct{ Commit, Settled plumbing.OID }

// Batch is appended together: operations, each built on the one before it and the first on the tip,
// and everything that belongs to them besides the board.
type Batch struct {
	Operations []*Built
	Refs       []plumbing.RefUpdate // move in the same transaction, before the board
	Objects    []plumbing.Object    // that these refs need
	// Queued is called when the batch waits for a remote and this clone's next operation may follow
	// it; nil if no operation may follow.
	Queued func()
}

// on is the commit that the batch was decided on.
func (b Batch) on() plumbing.OID { return b.Operations[0].on }

func (b Batch) last() *Built { return b.Operations[len(b.Operations)-1] }

// Message is the reflog message of the batch.
func (b Batch) Message() string { return b.last().Subject }

// Updates returns the updates of all refs, the board's last.
func (b Batch) Updates() []plumbing.RefUpdate {
	return append(slices.Clone(b.Refs), plumbing.RefUpdate{Ref: plumbing.BoardRef, Old: b.on(), New: b.last().Commit})
}

// Contents returns the objects of the operations and of the refs.
func (b Batch) Contents() []plumbing.Object {
	var all []plumbing.Object
	for _, built := range b.Operations {
		all = append(all, built.objects...)
	}
	return append(all, b.Objects...)
}

// Outcome is the result of an append.
type Outcome struct {
	Kind Kind
	// Err is the reason for a batch that was lost or refused, and an *UnclearError for one whose
	// outcome is unclear. A batch that is done has an error if the remote left out some of its refs.
	Err error
	// Exclusive applies to a lost batch that lost to no other operation: it could not share a push with
	// others. It should be decided again once nothing is pending, and let nothing follow.
	Exclusive bool
	Commits   []plumbing.OID // the operations of a rewritten batch
}

// Kind is what became of a batch.
type Kind int

const (
	Done      Kind = iota + 1 // it is in the log
	Lost                      // others came first: decide again on the new tip
	Unclear                   // it may be in the log, now or later: don't repeat it under another request id
	Refused                   // it is not in the log, and a repetition fails as well
	Rewritten                 // a server decided it again on a newer board: it is in the log as other commits
)

// UnclearError means that it is unknown whether a write was done: the remote can't be asked, or
// something local is in the way.
type UnclearError struct {
	Err  error // of the write
	Look error // of finding out its outcome; nil if the remote doesn't show one yet
}

func (e *UnclearError) Error() string {
	if e.Look != nil && !errors.As(e.Look, new(*git.NetworkError)) {
		return fmt.Sprintf("%v (whether it was done can't be seen: %v)", e.Err, e.Look)
	}
	return e.Err.Error() + " (whether it was done shows when the remote is there again)"
}

// Unwrap returns only the error of the write: the error of the look is no news of the operation.
func (e *UnclearError) Unwrap() error { return e.Err }

// Local is the log in any store, such as testrepo's in memory. A clone's log is share.Store, shared
// or not.
type Local struct{ Store Store }

// Tip implements Log.
func (l Local) Tip(ctx context.Context) (Tip, error) {
	oid, err := l.Store.Ref(ctx, plumbing.BoardRef)
	return Tip{oid, oid}, err
}

// Append implements Log.
func (l Local) Append(ctx context.Context, b Batch) Outcome {
	if err := l.Store.WriteObjects(ctx, b.Contents()); err != nil {
		return Outcome{Kind: Refused, Err: err}
	}
	return b.Judge(ctx, l.Store, OutcomeOf(l.Store.UpdateRefs(ctx, b.Updates(), b.Message())))
}

// OutcomeOf returns the outcome of a transaction that ended with err.
func OutcomeOf(err error) Outcome {
	switch {
	case err == nil:
		return Outcome{Kind: Done}
	case errors.As(err, new(*UnclearError)):
		return Outcome{Kind: Unclear, Err: err}
	case errors.Is(err, git.ErrRefMoved) || errors.Is(err, git.ErrBusy):
		return Outcome{Kind: Lost, Err: err}
	}
	return Outcome{Kind: Refused, Err: err}
}

// Judge looks whether a batch is in the log although its transaction was reported as failed, or was
// cancelled.
func (b Batch) Judge(ctx context.Context, s Store, o Outcome) Outcome {
	if o.Kind == Done || o.Kind == Rewritten {
		return o
	}
	switch appended, err := b.appended(context.WithoutCancel(ctx), s); {
	case appended:
		return Outcome{Kind: Done}
	case err != nil && o.Kind != Unclear:
		return Outcome{Kind: Unclear, Err: &UnclearError{Err: o.Err, Look: err}}
	}
	return o
}

func (b Batch) appended(ctx context.Context, s Store) (bool, error) {
	tip, err := s.Ref(ctx, plumbing.BoardRef)
	if err != nil || tip == b.on() || tip.IsZero() {
		return false, err
	}
	since, err := s.Log(ctx, b.on(), tip)
	return slices.ContainsFunc(since, func(c plumbing.Commit) bool { return c.OID == b.last().Commit }), err
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
	made, err := resultOf(p.on.State, p.After, p.op, codec.EncodeChecked)
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
func built(on *Snapshot, made *Result, c plumbing.Commit, commit plumbing.Object, op board.Operation) *Built {
	h, _ := codec.ParseHead(c.Message)
	objects := append(slices.DeleteFunc(made.Objects(), movedFrom(on, made.After)), commit)
	next := &Snapshot{Commit: c.OID, Head: c, State: made.After, tree: made.Tree, src: on.src}
	return &Built{&Entry{Commit: c.OID, Subject: h.Subject, Op: op, After: made.After}, on.Commit, objects, next}
}

// build encodes the result of an operation as a commit.
func build(on *Snapshot, made *Result, op board.Operation, by Committer) (c plumbing.Commit, o plumbing.Object, err error) {
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
