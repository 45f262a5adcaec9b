package gitboard

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/retry"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/gitboard/trace"
)

// Intent decides an operation on a view of the board: its payload, and the other refs that move
// with it. It is called again on the new tip after every lost race, so it must have no side
// effects.
type Intent func(ctx context.Context, v *View) (board.Payload, []plumbing.RefUpdate, error)

// Intents decides operations that are appended together, all or none, each on the board after the
// one before it. The refs move with them. Like an Intent, it may be called again.
type Intents func(ctx context.Context, v *View) ([]board.Payload, []plumbing.RefUpdate, error)

// single returns the intent's operation as the only one.
func (i Intent) single(ctx context.Context, v *View) ([]board.Payload, []plumbing.RefUpdate, error) {
	p, refs, err := i(ctx, v)
	return []board.Payload{p}, refs, err
}

// Just returns an intent whose payload does not depend on the board.
func Just(p board.Payload) Intent {
	return func(context.Context, *View) (board.Payload, []plumbing.RefUpdate, error) { return p, nil, nil }
}

// Request names the actor of an operation, and its options.
type Request struct {
	Actor       board.Actor
	ID          string // the caller's unique id, "" for a random one; no id is carried out twice
	AllowSecret bool
	Seen        string // see board.Operation
	// First registers the actor before the operation, in the same push, unless the board knows its
	// id. See Board.Newcomer.
	First *board.Register
}

// Option changes how Do carries out an operation.
type Option func(*doing)

// doing is the state of one call of DoAll.
type doing struct {
	Request
	b       *Board
	intents Intents
	since   Moment
	ahead   func(context.Context)
	queued  func()
	on      *View
	retries *retry.Budget
	given   bool // the request's id was given by the caller
	shared  bool
	turn    *writeQueue

	attempt  int
	op       string       // the last decided operation, for LostError
	sent     []*log.Built // operations passed to the log, the first of each attempt
	locked   int          // how often in a row a lock was in the way
	settled  plumbing.OID // the newest commit that stays even if pending operations are dropped
	searched plumbing.OID // neither this commit nor an earlier one has the request
	// exclusive applies to a shared board: decide on the remote's state, and let nothing follow until
	// the remote has answered.
	exclusive bool
	// leaveDeferred is whether what the actor has deferred is not sent first.
	leaveDeferred bool
}

// Since sets the time at which the operation was requested, if that was before Do was called. A
// view of a shared board that was fetched since then is not fetched again.
func Since(m Moment) Option { return func(d *doing) { d.since = m } }

// Ahead sets a function that is called each time before the board is read for the intent. It should
// start slow work that does not depend on the board, without waiting for it.
func Ahead(start func(context.Context)) Option { return func(d *doing) { d.ahead = start } }

// WhenQueued sets a function that is called when the operation is on its way to a remote, so that
// others may follow.
func WhenQueued(call func()) Option { return func(d *doing) { d.queued = call } }

// On sets a view on which the operation has already been planned. While the board has not moved,
// the intent gets this view, and its plan is not decided again.
func On(v *View) Option { return func(d *doing) { d.on = v } }

// Retries returns the retries that ctx carries, or else new ones (Options.Retries), which the
// returned context carries: everything that is done for one request shares them.
func (b *Board) Retries(ctx context.Context) (context.Context, *retry.Budget) {
	if r := retry.Of(ctx); r != nil {
		return ctx, r
	}
	return retry.With(ctx, b.retries)
}

// Try makes attempts with the retries of ctx until one is done or fails. If they are spent, the
// error reports it, and names the last attempt.
func (b *Board) Try(ctx context.Context, what string, attempt func(context.Context) (done bool, err error)) error {
	ctx, retries := b.Retries(ctx)
	for again := true; again; again = retries.Spend() {
		if done, err := attempt(ctx); done || err != nil {
			return err
		}
	}
	return Lost(what, retries, git.ErrRefMoved)
}

// Done is an operation that has been committed to the board.
type Done struct {
	*log.Entry
	View     *View // the board after the operation
	Repeated bool  // it had already been carried out under the same request id
}

// lockedRetries is how often in a row a lock may be in the way. Each attempt has already waited
// three seconds for it, while a process that only writes an operation holds it for milliseconds.
const lockedRetries = 3

// Do decides an intent and appends the operation. The error is nil only if the operation is
// committed to the log, so that every process that reads the board sees it. Errors: a
// *board.Refusal, a *LostError, or the error that kept git from writing.
func (b *Board) Do(ctx context.Context, r Request, intent Intent, options ...Option) (*Done, error) {
	all, err := b.DoAll(ctx, r, intent.single, options...)
	if len(all) == 0 {
		return nil, err
	}
	return all[0], err
}

// DoAll is Do for operations that belong together. The first gets the request's id and the others
// get ids derived from it (Numbered). For a repeated request it returns what was carried out
// before.
func (b *Board) DoAll(ctx context.Context, r Request, intents Intents, options ...Option) ([]*Done, error) {
	go func() { _, _ = b.who() }() // ask git for the committer while the board is being read
	ctx, retries := b.Retries(ctx)
	d := &doing{
		Request: r, b: b, intents: intents, since: b.Sharing().Moment(), retries: retries, given: r.ID != "", shared: b.Remote() != "",
		turn: b.writeQueue(), op: "the operation", searched: plumbing.ZeroOID,
	}
	for _, set := range options {
		set(d)
	}
	if !d.given {
		id, err := b.Token()
		if err != nil {
			return nil, err
		}
		d.ID = id
	} else if err := checkID(r.ID); err != nil {
		return nil, err
	}
	if d.shared && !d.leaveDeferred && r.Actor.Session != "" {
		if err := b.Sessions().SendDeferred(ctx, r.Actor.ID); err != nil {
			return nil, err
		}
	}
	defer d.turn.end()
	for { // the only loop in which an operation is tried again
		d.attempt++
		all, o := d.try(ctx)
		switch o.Kind {
		case log.Done, log.Rewritten:
			return all, o.Err
		case log.Unclear, log.Refused:
			return nil, o.Err
		case log.Lost:
			if err := d.again(ctx, o); err != nil {
				return nil, err
			}
		}
	}
}

// ErrStale means that an intent found what it looked at changed: it is decided again.
var ErrStale = errors.New("what it was decided on has changed")

// stale is the outcome of an attempt that sent nothing, because what it was decided on may be stale.
// It is repeated immediately.
var stale = log.Outcome{Kind: log.Lost}

func refused(err error) log.Outcome { return log.Outcome{Kind: log.Refused, Err: err} }

// try reads the board, decides and appends, once.
func (d *doing) try(ctx context.Context) ([]*Done, log.Outcome) {
	s, settled, err := d.read(ctx)
	if err != nil {
		return nil, refused(err)
	}
	d.settled = settled
	done, pending, err := d.before(ctx, s, settled)
	switch {
	case err != nil:
		return nil, refused(err)
	case pending || len(done) == 0 && d.attempt == 1 && !d.shared && d.turn.queue(ctx):
		return nil, stale
	case len(done) > 0:
		return done, log.Outcome{Kind: log.Done}
	}
	now, err := d.b.view(s)
	if err != nil {
		return nil, refused(err)
	}
	v := d.view(now)
	batch, joined, err := d.decide(ctx, v)
	if err != nil {
		return nil, d.undecided(ctx, err, s.Commit)
	}
	own := batch.Operations
	if joined {
		own = own[1:]
	}
	d.sent = append(d.sent, own[0])
	all, o := d.append(ctx, v.Commit, batch, own)
	if joined && all != nil {
		if err := d.b.Sessions().keep(d.Actor.ID, d.Actor.Session); err != nil {
			return nil, refused(err)
		}
	}
	return all, o
}

// append appends a batch, whose operations without that of joining are own, and returns what was
// done.
func (d *doing) append(ctx context.Context, on plumbing.OID, batch log.Batch, own []*log.Built) (all []*Done, o log.Outcome) {
	end := batch.Operations[len(batch.Operations)-1].Commit
	if !d.exclusive {
		batch.Queued = func() {
			d.b.built(on, d.settled, end) // those who follow need not prove it
			d.turn.end()
			if d.queued != nil {
				d.queued()
			}
		}
	}
	switch o = d.b.log.Append(ctx, batch); {
	case o.Kind == log.Rewritten:
		all, o.Err = d.rewritten(ctx, o.Commits[len(o.Commits)-len(own):])
	case o.Kind != log.Lost && o.Err != nil:
		o.Err = fmt.Errorf("append %s: %w", d.op, o.Err)
	case o.Kind == log.Done:
		for _, made := range own {
			all = append(all, &Done{Entry: made.Entry, View: &View{Snapshot: &log.Snapshot{Commit: made.Commit, State: made.After}, board: d.b}})
		}
		d.b.built(on, d.settled, end)
	}
	return all, o
}

// read returns the board to decide on, and the commit settled.
func (d *doing) read(ctx context.Context) (s *log.Snapshot, settled plumbing.OID, err error) {
	if d.shared {
		waited := trace.Step("wait for the decisions of others in this clone")
		d.turn.take(ctx) // before reading, since others' operations would make it stale
		waited()
	}
	if d.exclusive {
		if err := d.catchUp(ctx); err != nil {
			return nil, "", err
		}
		d.turn.touch()
	}
	if d.ahead != nil {
		d.ahead(ctx)
	}
	known := d.b.keptProof()
	tip, err := d.b.log.Tip(ctx)
	if err != nil {
		return nil, "", fmt.Errorf("read %s: %w", plumbing.BoardRef, err)
	}
	if s, err = d.b.reader.At(ctx, tip.Commit); err != nil {
		return nil, "", err
	}
	return s, tip.Settled, d.b.prove(ctx, known, s.Commit, tip.Settled)
}

// before returns the operations that were already carried out under the request's id. pending means
// that they may still be dropped: the next attempt looks for them on the remote's board.
func (d *doing) before(ctx context.Context, s *log.Snapshot, settled plumbing.OID) (all []*Done, pending bool, err error) {
	if d.attempt == 1 && !d.given {
		d.searched = s.Commit // a random id can't be in use
	}
	if s.Commit.IsZero() || s.Commit == d.searched {
		return nil, false, nil
	}
	done, err := d.b.repeated(ctx, s, d.Request, d.searched)
	if done != nil && s.Commit != settled && !d.exclusive {
		d.exclusive = true
		return nil, true, nil
	}
	if done != nil {
		done.Repeated = !d.hasSent(done)
	}
	if done != nil || err != nil {
		all, err = d.b.andThen(ctx, s, d.Request, done, err)
		return all, false, err
	}
	d.searched = s.Commit
	return nil, false, nil
}

// hasSent reports whether an operation with the request's id is one that this call has sent, not
// that of another call. A server may have put it on the board as another commit.
func (d *doing) hasSent(found *Done) bool {
	return slices.ContainsFunc(d.sent, func(sent *log.Built) bool {
		return sent.Commit == found.Commit || d.shared && sameOperation(sent.Op, found.Op)
	})
}

// sameOperation reports whether two operations by the same request are one, in different commits:
// of the same time and content.
func sameOperation(a, b board.Operation) bool {
	one, unencoded := codec.EncodePayload(a)
	other, err := codec.EncodePayload(b)
	return a.Time == b.Time && one == other && cmp.Or(unencoded, err) == nil
}

// refusedOn reports whether an operation is refused on a commit of the board, too.
func (d *doing) refusedOn(ctx context.Context, commit plumbing.OID) bool {
	s, err := d.b.reader.At(ctx, commit)
	if err != nil {
		return false
	}
	v, err := d.b.view(s)
	if err == nil {
		_, _, err = d.decide(ctx, v)
	}
	return errors.As(err, new(*board.Refusal))
}

// undecided is the outcome of an attempt that failed on a commit of the board before anything was sent.
func (d *doing) undecided(ctx context.Context, err error, on plumbing.OID) log.Outcome {
	switch {
	case errors.Is(err, errWaited):
		return stale
	case !errors.Is(err, ErrStale) && (!d.shared || (d.exclusive || d.b.Sharing().fresh(d.since)) && (on == d.settled || d.refusedOn(ctx, d.settled))):
		return refused(err)
	case d.shared && !d.exclusive:
		d.exclusive = true // a refusal must be based on the board at the remote
		return stale
	}
	return log.Outcome{Kind: log.Lost, Err: err}
}

// again prepares the next attempt after a lost one, with a pause unless that was only stale. It
// returns the error that ends the call if no retry is left.
func (d *doing) again(ctx context.Context, lost log.Outcome) error {
	if lost.Err == nil {
		return nil
	}
	d.exclusive = lost.Exclusive
	if d.locked++; !errors.Is(lost.Err, git.ErrBusy) {
		d.locked = 0
	}
	if !d.retries.Spend() || d.locked == lockedRetries {
		return Lost(d.op, d.retries, lost.Err)
	}
	ceiling := min(time.Second, 4*time.Millisecond<<min(d.attempt, 8))
	if d.turn.held != nil {
		ceiling = min(ceiling, patience/4) // or others take this process for stuck
	}
	if d.shared {
		d.turn.touch()
		if d.attempt == 1 && d.locked == 0 { // the push has already fetched the new tip
			return nil
		}
		ceiling = 4 * time.Millisecond << min(d.attempt, 5) // the push has taken long enough
	}
	return pause(ctx, ceiling)
}

// catchUp pushes this clone's pending operations and brings the view of the board up to date.
func (d *doing) catchUp(ctx context.Context) error {
	err := d.b.shared().Flush(ctx)
	if err == nil {
		err = d.b.Sharing().RefreshSince(ctx, d.since)
	}
	if len(d.sent) > 0 && errors.As(err, new(*git.NetworkError)) {
		return &log.UnclearError{Err: err}
	}
	return err
}

// view returns the view that the intent gets for the board as it is now.
func (d *doing) view(now *View) *View {
	if d.on != nil && d.on.Commit == now.Commit {
		return d.on
	}
	return now
}

// errWaited means that others may have written while this process waited for its turn.
var errWaited = errors.New("the turn has come later")

// decide decides the operations on a view, and builds them. joined means that the first of them
// registers the actor.
func (d *doing) decide(ctx context.Context, v *View) (batch log.Batch, joined bool, err error) {
	payloads, refs, err := v.decide(ctx, d.intents)
	if err != nil {
		return batch, false, err
	}
	at, registered, err := v.joined(ctx, d.Request)
	if err != nil {
		return batch, false, err
	}
	if registered != nil {
		batch.Operations = append(batch.Operations, registered)
	}
	var first, last *planned
	for n, payload := range payloads {
		d.op = payload.Op()
		if last, err = at.plan(ctx, d.Request, payload); err != nil {
			return batch, false, err
		}
		who, err := d.b.Committer()
		if err != nil {
			return batch, false, err
		}
		if first == nil {
			if first = last; d.turn.take(ctx) {
				return batch, false, errWaited
			}
		}
		who.Key, refs = last.key, append(refs, last.fence...)
		made, err := last.prepared.As(Numbered(d.ID, n+1)).Build(who)
		if err != nil {
			return batch, false, err
		}
		at, batch.Operations = &View{Snapshot: made.Next(), board: d.b}, append(batch.Operations, made)
	}
	home, err := d.home(ctx, v, batch.Operations[0].Commit)
	if err != nil {
		return batch, false, err
	}
	renewed, object, err := d.b.renewal(last.prepared.After, last.op, first.own, d.b.now())
	if err != nil {
		return batch, false, err
	}
	kept, err := d.b.keepLanding(ctx, v.State, last.prepared.After)
	batch.Refs, batch.Objects = slices.Concat(home, refs, renewed, kept), object
	return batch, registered != nil, err
}

// home returns the update of plumbing.HomeRef by the first operation of a board. It comes first: by
// it the beginning of a killed process differs from the remains of a board (begunOnly).
func (d *doing) home(ctx context.Context, v *View, first plumbing.OID) ([]plumbing.RefUpdate, error) {
	if !v.Commit.IsZero() || d.b.Repo() == nil {
		return nil, nil
	}
	was, err := d.b.Repo().Ref(ctx, plumbing.HomeRef)
	if err != nil || was == first { // a killed process began with this very commit
		return nil, err
	}
	return []plumbing.RefUpdate{{Ref: plumbing.HomeRef, Old: was, New: first}}, nil
}

// rewritten returns the operations that a server has committed in other commits than were built.
func (d *doing) rewritten(ctx context.Context, commits []plumbing.OID) (all []*Done, err error) {
	if err := d.b.proveFetched(ctx); err != nil {
		return nil, err // no operation may be built on its board
	}
	for _, commit := range commits {
		done, err := d.b.carriedOut(ctx, commit)
		if err != nil {
			return nil, err
		}
		all = append(all, done)
	}
	return all, nil
}

const identityHint = `git config user.name "Your Name" and git config user.email you@example.com`

// NoIdentity returns the refusal for when git's settings contain no user name, of which git said
// err. If git was kept from answering, that is the error.
func NoIdentity(err error) error {
	if git.Unfinished(err) {
		return err
	}
	return board.Refuse(board.CodeIdentity, "git does not know who you are", identityHint)
}

// Committer returns who writes the commits of this clone. Git is asked only once.
func (b *Board) Committer() (log.Committer, error) {
	who, err := b.who()
	if err != nil {
		return log.Committer{}, NoIdentity(err)
	}
	if !text.IsName(who.Name) || !text.IsName(who.Email) {
		return log.Committer{}, board.Refuse(board.CodeIdentity, fmt.Sprintf("the committer's name or address, %q <%s>, holds a control character", who.Name, text.Line(who.Email, 60)), identityHint)
	}
	return log.Committer{Name: who.Name, Email: who.Email}, nil
}

// decide calls the intents. Their decision is void if it was based on records that could not be
// read.
func (v *View) decide(ctx context.Context, intents Intents) ([]board.Payload, []plumbing.RefUpdate, error) {
	snapshot := *v.Snapshot
	snapshot.State = v.State.ForRules()
	seen := *v
	seen.Snapshot, seen.of = &snapshot, v
	all, refs, err := intents(ctx, &seen)
	return all, slices.Clone(refs), cmp.Or(snapshot.State.Err(), err)
}

// pause waits for a random time of at most ceiling.
func pause(ctx context.Context, ceiling time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(rand.N(ceiling)):
		return nil
	}
}
