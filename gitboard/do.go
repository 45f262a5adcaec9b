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
	"github.com/git-liza/git-liza/gitboard/codec"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/oplog"
	"github.com/git-liza/git-liza/gitboard/plain"
	"github.com/git-liza/git-liza/gitboard/remote"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// Intent decides an operation on a view of the board: its payload, and the other refs that move with it.
// It is called again on the new tip whenever the race was lost, so it must not do anything that counts.
type Intent func(ctx context.Context, v *View) (board.Payload, []git.RefUpdate, error)

// Intents decides operations that are appended together, each on the board after the one before it: all of them or
// none. The refs move with them. It is called again like an Intent.
type Intents func(ctx context.Context, v *View) ([]board.Payload, []git.RefUpdate, error)

// alone is the only operation of an intent.
func (i Intent) alone(ctx context.Context, v *View) ([]board.Payload, []git.RefUpdate, error) {
	p, refs, err := i(ctx, v)
	return []board.Payload{p}, refs, err
}

// Just is the intent whose payload doesn't depend on the board.
func Just(p board.Payload) Intent {
	return func(context.Context, *View) (board.Payload, []git.RefUpdate, error) { return p, nil, nil }
}

// Request is who asks for something, and how.
type Request struct {
	Actor       board.Actor
	ID          string // the caller's unique id, "" for a random one; the same id is never carried out twice
	AllowSecret bool
}

// Option changes how Do goes about an operation.
type Option func(*doing)

// doing is one call of DoAll.
type doing struct {
	Request
	b       *Board
	intents Intents
	since   Moment
	ahead   func(context.Context)
	on      *View
	budget  *Budget
	given   bool // the request's id is the caller's
	shared  bool
	turn    *writeQueue

	attempt  int
	op       string  // what was decided last, for whoever is told that it was lost
	sent     int     // how often it was handed to the log
	locked   int     // how often in a row a lock was in the way
	searched git.OID // this commit and those before it have no such request
	// alone: on a shared board, on what the remote has, and with nothing behind it until that has answered.
	alone bool
}

// Since says when the operation was asked for, if that was before Do was called: a view of a shared board that is no
// older is not fetched again.
func Since(m Moment) Option { return func(d *doing) { d.since = m } }

// Ahead is called each time before the board is read for the intent. It starts what takes long and doesn't depend on the
// board, and doesn't wait for it.
func Ahead(start func(context.Context)) Option { return func(d *doing) { d.ahead = start } }

// On is a view on which the operation has been planned. While the board is still there, the intent gets this view,
// and what it has planned is not decided again.
func On(v *View) Option { return func(d *doing) { d.on = v } }

// Within makes Do spend the caller's budget instead of one of its own.
func Within(budget *Budget) Option { return func(d *doing) { d.budget = budget } }

// Budget is how often a caller may lose a race until it gives up. All that it tries for one request shares one.
type Budget struct{ spent, most int }

// Budget is a fresh budget: Options.Retries.
func (b *Board) Budget() *Budget { return &Budget{most: b.retries} }

// Spend takes one retry, and reports false when there is none left.
func (u *Budget) Spend() bool {
	u.spent++
	return u.spent <= u.most
}

// Lost is the error of a caller whose budget is spent.
func (u *Budget) Lost(op string, err error) error { return &LostError{op, u.spent, err} }

// Done is an operation that stands on the board.
type Done struct {
	*oplog.Entry
	View     *View // the board after it
	Repeated bool  // it had been carried out before, under the same request id
}

// lockedRetries is how often in a row a lock may be in the way. It has been waited for for three seconds each time;
// whoever only writes an operation holds it for milliseconds.
const lockedRetries = 3

// Lookup finds the operation that a request's id has carried out already, nil when it has none. On a shared board
// it looks at the remote first.
func (b *Board) Lookup(ctx context.Context, r Request) (*Done, error) {
	all, err := b.LookupAll(ctx, r)
	if len(all) == 0 {
		return nil, err
	}
	return all[0], err
}

// LookupAll is Lookup for a request of DoAll.
func (b *Board) LookupAll(ctx context.Context, r Request) ([]*Done, error) {
	if r.ID == "" {
		return nil, nil
	}
	if err := checkID(r.ID); err != nil {
		return nil, err
	}
	if err := b.Refresh(ctx); err != nil {
		return nil, err
	}
	s, err := b.log.Tip(ctx)
	if err != nil || s.Commit.IsZero() {
		return nil, err
	}
	done, err := b.repeated(ctx, s, r, git.ZeroOID)
	return b.andThen(ctx, s, r, done, err)
}

func checkID(id string) error {
	if board.ValidRequest(id) {
		return nil
	}
	return board.Refuse(board.CodeInvalid, "a request id has up to 100 letters, digits and ._/:-", "")
}

// Do decides an intent and appends the operation. It returns nil only when the operation stands in the
// log; then any process that reads the board sees it. Errors: *board.Refusal, *LostError, or whatever
// kept git from writing.
func (b *Board) Do(ctx context.Context, r Request, intent Intent, options ...Option) (*Done, error) {
	all, err := b.DoAll(ctx, r, intent.alone, options...)
	if len(all) == 0 {
		return nil, err
	}
	return all[0], err
}

// DoAll is Do for operations that belong together. The request's id is that of the first; those of the others follow
// from it (Numbered). Repeated, it returns what was carried out.
func (b *Board) DoAll(ctx context.Context, r Request, intents Intents, options ...Option) ([]*Done, error) {
	go func() { _, _ = b.who() }() // asks git while the board is being read
	d := &doing{
		Request: r, b: b, intents: intents, since: b.Moment(), budget: b.Budget(), given: r.ID != "", shared: b.Remote() != "",
		turn: b.writeQueue(), op: "the operation", searched: git.ZeroOID,
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
	defer d.turn.end()
	for {
		d.attempt++
		if all, err := d.try(ctx); !errors.Is(err, errAgain) {
			return all, err
		}
	}
}

// errAgain says that an attempt was in vain, and that another one may not be.
var errAgain = errors.New("try again")

// try reads the board, decides and appends, once.
func (d *doing) try(ctx context.Context) ([]*Done, error) {
	s, settled, err := d.read(ctx)
	if err != nil {
		return nil, err
	}
	if all, err := d.before(ctx, s, settled); len(all) > 0 || err != nil {
		return all, err
	}
	if d.attempt == 1 && !d.shared && d.turn.queue(ctx) {
		return nil, errAgain
	}
	sent := d.sent
	all, err := d.append(ctx, d.view(&View{Snapshot: s, board: d.b}))
	if err == nil {
		return all, nil
	}
	return nil, d.again(ctx, err, d.sent == sent, s.Commit == settled)
}

// read returns the board that is to be decided on. What of it is settled stays also where the rest is dropped.
func (d *doing) read(ctx context.Context) (s *oplog.Snapshot, settled git.OID, err error) {
	if d.shared {
		waited := gitio.Trace("wait for the decisions of others in this clone")
		d.turn.take(ctx) // before the board is read that others would make worthless
		waited()
	}
	if d.alone {
		if err := d.catchUp(ctx); err != nil {
			return nil, "", err
		}
		d.turn.touch()
	}
	if d.ahead != nil {
		d.ahead(ctx)
	}
	if s, settled, err = d.b.log.Next(ctx); err != nil {
		return nil, "", err
	}
	return s, settled, d.b.prove(ctx, s.Commit, settled)
}

// before finds what was carried out under the request's id before.
func (d *doing) before(ctx context.Context, s *oplog.Snapshot, settled git.OID) ([]*Done, error) {
	if d.attempt == 1 && !d.given {
		d.searched = s.Commit // which nobody else's request is named after
	}
	if s.Commit.IsZero() || s.Commit == d.searched {
		return nil, nil
	}
	done, err := d.b.repeated(ctx, s, d.Request, d.searched)
	if done != nil && s.Commit != settled && !d.alone { // it may be what waits
		d.alone = true
		return nil, errAgain
	}
	if done != nil {
		done.Repeated = d.sent == 0 // else it is what this call has sent
	}
	if done != nil || err != nil {
		return d.b.andThen(ctx, s, d.Request, done, err)
	}
	d.searched = s.Commit
	return nil, nil
}

// again decides what becomes of a call whose attempt has failed: errAgain, after a pause, or the error that ends it.
// refused: before it was handed to the log. settled: all that it was decided on stays.
func (d *doing) again(ctx context.Context, err error, refused, settled bool) error {
	if errors.Is(err, errWaited) {
		return errAgain
	}
	if !errors.Is(err, oplog.ErrLost) && (!refused || !d.shared || settled && (d.alone || d.b.fresh(d.since))) {
		return err
	}
	if refused && !d.alone && d.shared {
		d.alone = true // what is refused is refused by the board as the remote has it
		return errAgain
	}
	d.alone = errors.Is(err, remote.ErrAlone)
	if d.locked++; !errors.Is(err, gitio.ErrBusy) {
		d.locked = 0
	}
	if !d.budget.Spend() || d.locked == lockedRetries {
		return d.budget.Lost(d.op, err)
	}
	ceiling := min(time.Second, 4*time.Millisecond<<min(d.attempt, 8))
	if d.shared {
		d.turn.touch()
		if d.attempt == 1 && d.locked == 0 { // the push has looked who was faster
			return errAgain
		}
		ceiling = 4 * time.Millisecond << min(d.attempt, 5) // the push has taken long enough
	}
	return cmp.Or(pause(ctx, ceiling), errAgain)
}

// catchUp pushes what is pending in this clone, and brings the view of the board up to date.
func (d *doing) catchUp(ctx context.Context) error {
	err := d.b.shared().Flush(ctx)
	if err == nil {
		err = d.b.refreshSince(ctx, d.since)
	}
	if d.sent > 0 && errors.As(err, new(*gitio.NetworkError)) {
		return &remote.UnclearError{Err: err}
	}
	return err
}

// view is the view that the intent gets of the board as it is now.
func (d *doing) view(now *View) *View {
	if d.on != nil && d.on.Commit == now.Commit {
		return d.on
	}
	return now
}

// errWaited says that others may have written while the turn was waited for.
var errWaited = errors.New("the turn has come later")

// append decides, and appends what was decided.
func (d *doing) append(ctx context.Context, v *View) (all []*Done, err error) {
	payloads, refs, err := decide(ctx, v, d.intents)
	if err != nil {
		return nil, err
	}
	var (
		first, last *planned
		built       []*oplog.Built
	)
	at := v
	for n, payload := range payloads {
		d.op = payload.Op()
		if last, err = at.plan(ctx, d.Request, payload); err != nil {
			return nil, err
		}
		who, err := d.b.Committer()
		if err != nil {
			return nil, err
		}
		if first == nil {
			if first = last; d.turn.take(ctx) {
				return nil, errWaited
			}
		}
		who.Key, refs = last.key, append(refs, last.fence...)
		made, err := last.prepared.As(Numbered(d.ID, n+1)).Build(who)
		if err != nil {
			return nil, err
		}
		at, built = &View{Snapshot: made.Next(), board: d.b}, append(built, made)
	}
	side, err := d.b.renewal(last.prepared.After, last.op, first.own, d.b.now())
	if err != nil {
		return nil, err
	}
	side.Refs = slices.Concat(refs, side.Refs)
	if v.Commit.IsZero() && d.b.Repo() != nil {
		was, err := d.b.Repo().Ref(ctx, git.HomeRef)
		if err != nil {
			return nil, err
		}
		side.Refs = append(side.Refs, git.RefUpdate{Ref: git.HomeRef, Old: was, New: built[0].Commit})
	}
	if !d.alone {
		side.Queued = d.turn.end
	}
	d.sent++
	if err := d.b.log.Append(ctx, built, side); err != nil {
		return nil, err
	}
	for _, made := range built {
		all = append(all, &Done{Entry: made.Entry, View: &View{Snapshot: &oplog.Snapshot{Commit: made.Commit, State: made.After}, board: d.b}})
	}
	d.b.built(v.Commit, built[len(built)-1].Commit)
	return all, nil
}

const identityHint = `git config user.name "Your Name" and git config user.email you@example.com`

// NoIdentity refuses what needs a name that git's settings do not have.
func NoIdentity() *board.Refusal {
	return board.Refuse(board.CodeIdentity, "git does not know who you are", identityHint)
}

// Committer is who writes the commits of this clone; asked for once.
func (b *Board) Committer() (oplog.Committer, error) {
	who, err := b.who()
	if err != nil {
		return oplog.Committer{}, NoIdentity()
	}
	if !plain.IsName(who.Name) || !plain.IsName(who.Email) {
		return oplog.Committer{}, board.Refuse(board.CodeIdentity, fmt.Sprintf("the committer's name or address, %q <%s>, holds a control character", who.Name, plain.Line(who.Email, 60)), identityHint)
	}
	return oplog.Committer{Name: who.Name, Email: who.Email}, nil
}

// Numbered is the id of one of the operations that a request asks for, counted from 1.
func Numbered(id string, n int) string {
	if n == 1 {
		return id
	}
	return fmt.Sprintf("%s.%d", id, n)
}

// andThen adds to the first operation of a request that was carried out before those that came with it.
func (b *Board) andThen(ctx context.Context, s *oplog.Snapshot, r Request, done *Done, err error) (all []*Done, _ error) {
	for n, id := 2, r.ID; done != nil && err == nil; n++ {
		all = append(all, done)
		r.ID = Numbered(id, n)
		done, err = b.repeated(ctx, s, r, done.Commit)
	}
	return all, err
}

// decide asks an intent. What it decided on records that couldn't be read counts for nothing.
func decide(ctx context.Context, v *View, intents Intents) ([]board.Payload, []git.RefUpdate, error) {
	snapshot := *v.Snapshot
	snapshot.State = v.State.ForRules()
	seen := *v
	seen.Snapshot = &snapshot
	all, refs, err := intents(ctx, &seen)
	return all, slices.Clone(refs), cmp.Or(snapshot.State.Err(), err)
}

// ownLease is the acting agent's lease. It is read once: what a registration shows of the session that it
// replaces must be the very value that the renewal replaces.
func (b *Board) ownLease(ctx context.Context, op board.Operation) (*lease.Held, error) {
	if op.Actor.Role == roles.Human {
		return nil, nil
	}
	return lease.Read(ctx, b.store, op.Actor.ID)
}

// showLease puts the lease of whoever would be robbed into the operation, and returns the update that
// fences it.
func (b *Board) showLease(ctx context.Context, v *View, op board.Operation, own *lease.Held) ([]git.RefUpdate, error) {
	holder := board.LeaseWanted(v.State, op)
	taker, takes := op.Payload.(interface{ ShowLease(*board.Lease) })
	if holder == "" || !takes {
		return nil, nil
	}
	if holder == op.Actor.ID {
		taker.ShowLease(evidence(own))
		return nil, nil // renewed, not fenced
	}
	held, err := lease.Read(ctx, b.store, holder)
	if err != nil {
		return nil, err
	}
	taker.ShowLease(evidence(held))
	return []git.RefUpdate{lease.Fence(holder, held)}, nil
}

func evidence(h *lease.Held) *board.Lease {
	if h == nil || h.Damaged {
		return nil
	}
	return &board.Lease{Agent: h.Agent, Session: h.Session, Task: h.Task, Expires: board.At(h.Expires), Heartbeat: board.At(h.Heartbeat)}
}

// renewal is what becomes of the acting agent's own lease with an operation: renewed, ended by a hand-off,
// gone with a deregistration.
func (b *Board) renewal(after *board.State, op board.Operation, held *lease.Held, now time.Time) (side oplog.Side, err error) {
	if op.Actor.Role == roles.Human {
		return side, nil
	}
	a := after.Agent(op.Actor.ID)
	if err := after.Err(); err != nil {
		return side, err
	}
	if a == nil {
		if held != nil {
			side.Refs = append(side.Refs, lease.Fence(op.Actor.ID, held))
		}
		return side, nil
	}
	l, err := b.leaseFor(after, op.Actor.ID, a, now)
	if err != nil {
		return side, err
	}
	if a.Status == board.HandedOff {
		l.Expires = now
	}
	if update, object := lease.Renew(held, l); update.Old != update.New {
		side.Refs, side.Objects = append(side.Refs, update), append(side.Objects, object)
	}
	return side, nil
}

func (b *Board) leaseFor(s *board.State, id string, a *board.Agent, now time.Time) (lease.Lease, error) {
	var task *board.Task
	if a.CurrentTask != "" {
		task = s.Task(a.CurrentTask)
	}
	config := s.Config()
	if err := s.Err(); err != nil {
		return lease.Lease{}, err
	}
	return lease.Lease{
		Agent: id, Session: a.Session, Task: a.CurrentTask, Heartbeat: now,
		Expires: now.Add(time.Duration(config.LeaseSeconds(task)) * time.Second),
	}, nil
}

// repeated finds an operation that was carried out under a request id before. since is zero, or the tip that it
// was looked for behind before.
func (b *Board) repeated(ctx context.Context, s *oplog.Snapshot, r Request, since git.OID) (*Done, error) {
	oid, err := b.requested(ctx, s, r, since)
	if errors.Is(err, gitio.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	at, h, op, err := b.read(ctx, oid)
	if err != nil {
		return nil, err
	}
	if op.Actor.ID != r.Actor.ID {
		return nil, board.Refuse(board.CodeExists, fmt.Sprintf("the request id %s was used by %s: %s", r.ID, op.Actor.ID, h.Subject), "use an id of your own")
	}
	return &Done{
		Entry: &oplog.Entry{Commit: oid, Subject: h.Subject, Op: op, After: at.State},
		View:  &View{Snapshot: at, board: b}, Repeated: true,
	}, nil
}

// read reads the operation that a commit of the board is.
func (b *Board) read(ctx context.Context, commit git.OID) (at *oplog.Snapshot, h codec.Head, op board.Operation, err error) {
	if at, err = b.log.At(ctx, commit); err != nil {
		return nil, h, op, err
	}
	unreadable := func(err error) error { return &oplog.RecordError{Commit: commit, Path: "the message", Err: err} }
	if h, err = codec.ParseHead(at.Head.Message); err != nil {
		return nil, h, op, unreadable(err)
	}
	file, err := at.PayloadFile(ctx, b.store)
	if err != nil {
		return nil, h, op, err
	}
	if op, err = h.Operation(file, at.Head.Author.Name, at.Head.Author.Email, board.At(at.Head.Author.When)); err != nil {
		return nil, h, op, unreadable(err)
	}
	return at, h, op, nil
}

// Operation is the operation that a commit of the board is.
func (b *Board) Operation(ctx context.Context, commit git.OID) (board.Operation, error) {
	_, _, op, err := b.read(ctx, commit)
	return op, err
}

func (b *Board) requested(ctx context.Context, s *oplog.Snapshot, r Request, since git.OID) (git.OID, error) {
	if since.IsZero() {
		return b.store.RequestCommit(ctx, s.Commit, r.ID, oplog.RequestDepth)
	}
	later, err := b.store.Log(ctx, since, s.Commit)
	if err != nil {
		return "", err
	}
	for _, c := range later {
		if h, err := codec.ParseHead(c.Message); err == nil && h.Request == r.ID {
			return c.OID, nil
		}
	}
	return "", gitio.ErrNotFound
}

// explain adds to a refusal what only the leases know: until when a holder's lease runs.
func (b *Board) explain(ctx context.Context, v *View, err error) error {
	var r *board.Refusal
	if !errors.As(err, &r) || r.Holder == "" {
		return err
	}
	if h, readErr := v.Lease(ctx, r.Holder); readErr == nil && h != nil && r.Code == board.CodeWrongState {
		r.Lease, r.Live = evidence(h), h.Expires.After(b.now())
	}
	return err
}

// pause waits a random time, up to a ceiling.
func pause(ctx context.Context, ceiling time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(rand.N(ceiling)):
		return nil
	}
}
