package gitboard

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/codec"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/oplog"
	"github.com/git-liza/git-liza/roles"
)

// Intent decides an operation on a view of the board: its payload, and the other refs that move with it.
// It is called again on the new tip whenever the race was lost, so it must not do anything that counts.
type Intent func(ctx context.Context, v *View) (board.Payload, []gitio.RefUpdate, error)

// Just is the intent whose payload doesn't depend on the board.
func Just(p board.Payload) Intent {
	return func(context.Context, *View) (board.Payload, []gitio.RefUpdate, error) { return p, nil, nil }
}

// Request asks for an operation.
type Request struct {
	Actor       board.Actor
	ID          string // the caller's unique id, "" for a random one; the same id is never carried out twice
	AllowSecret bool
	Intent      Intent
	Since       Moment // when it was asked for; zero for now. A view of a shared board that is no older is not fetched again
	// Ahead, if set, is called each time before the board is read for the intent. It starts what takes long and
	// doesn't depend on the board, and doesn't wait for it.
	Ahead func(context.Context)
}

// Done is an operation that stands on the board.
type Done struct {
	*oplog.Entry
	View     *View // the board after it
	Repeated bool  // it had been carried out before, under the same request id
}

// lockedRetries is how often in a row a lock may be in the way. Git has waited a second for it each time;
// whoever only writes an operation holds it for milliseconds.
const lockedRetries = 6

// Do decides an intent and appends the operation. It returns nil only when the operation stands in the
// log; then any process that reads the board sees it. Errors: *board.Refusal, *LostError, or whatever
// kept git from writing.
func (b *Board) Do(ctx context.Context, r Request) (*Done, error) {
	go func() { _, _ = b.who() }() // asks git while the board is being read
	given := r.ID != ""
	if !given {
		id, err := b.Token()
		if err != nil {
			return nil, err
		}
		r.ID = id
	} else if !board.ValidRequest(r.ID) {
		return nil, board.Refuse("invalid", "a request id has up to 100 letters, digits and ._/:-", "")
	}
	op := "the operation"
	locked := 0
	turn := b.turn()
	defer turn.end()
	searched := gitio.ZeroOID // this commit and those before it have no such request
	since := r.Since
	if since.IsZero() {
		since = b.Moment()
	}
	if b.Remote() != "" {
		turn.take(ctx) // before the fetch that others would make worthless
	}
	looked := false // at the remote, since the board was read last
	for attempt := 1; ; attempt++ {
		if !looked {
			if err := b.refreshSince(ctx, since); err != nil {
				return nil, err
			}
			since = Moment{}
			turn.getOn()
		}
		looked = false
		begun := b.now()
		if r.Ahead != nil {
			r.Ahead(ctx)
		}
		s, err := b.log.Tip(ctx)
		if err != nil {
			return nil, err
		}
		if given && !s.Commit.IsZero() && s.Commit != searched {
			if done, err := b.repeated(ctx, s, r, searched); done != nil || err != nil {
				return done, err
			}
			searched = s.Commit
		}
		if attempt == 1 && turn.queue(ctx) {
			continue
		}
		done, name, err := b.attempt(ctx, &View{s, b}, r, turn)
		if errors.Is(err, errWaited) {
			continue
		}
		if err == nil || !errors.Is(err, oplog.ErrLost) {
			return done, err
		}
		if name != "" {
			op = name
		}
		if locked++; !errors.Is(err, gitio.ErrBusy) {
			locked = 0
		}
		if attempt > b.retries || locked == lockedRetries {
			return nil, &LostError{op, attempt, err}
		}
		ceiling := min(time.Second, 4*time.Millisecond<<min(attempt, 8))
		if b.Remote() != "" {
			turn.getOn()
			if looked = attempt == 1 && locked == 0; looked { // the push has looked who was faster
				continue
			}
			// As long as it takes, and ever longer: most of those who push at the same time push in vain, and each
			// push in vain holds up the one that counts.
			ceiling = min(mostAway, max(leastAway, b.now().Sub(begun))<<min(attempt-1, 4))
		}
		if err := pause(ctx, ceiling); err != nil {
			return nil, err
		}
	}
}

// How long one who has lost a race at a remote stays away: anything up to as long as that took, and up to twice
// as long with each race more.
const (
	leastAway = 20 * time.Millisecond
	mostAway  = 5 * time.Second
)

// errWaited says that others may have written while the turn was waited for.
var errWaited = errors.New("the turn has come later")

// attempt decides and appends once.
func (b *Board) attempt(ctx context.Context, v *View, r Request, turn *turn) (*Done, string, error) {
	payload, refs, err := decide(ctx, v, r.Intent)
	if err != nil {
		return nil, "", err
	}
	now := b.now()
	op := board.Operation{Actor: r.Actor, Time: max(board.At(now), v.State.Time()), Request: r.ID, AllowSecret: r.AllowSecret, Payload: payload}
	if !board.Begins(payload) && v.Commit.IsZero() {
		return nil, op.Name(), oplog.ErrNoBoard
	}
	if err := b.localMode(ctx, op); err != nil {
		return nil, op.Name(), err
	}
	own, err := b.ownLease(ctx, op)
	if err != nil {
		return nil, op.Name(), err
	}
	fence, err := b.showLease(ctx, v, op, own)
	if err != nil {
		return nil, op.Name(), err
	}
	prepared, err := oplog.Prepare(v.Snapshot, op)
	if err != nil {
		return nil, op.Name(), b.explain(ctx, v, err)
	}
	key, err := b.keys.sign(ctx, prepared, op.Actor)
	if err != nil {
		return nil, op.Name(), err
	}
	side, err := b.renewal(prepared.After, op, own, now)
	if err != nil {
		return nil, op.Name(), err
	}
	who, err := b.who()
	if err != nil {
		return nil, op.Name(), board.Refuse("identity", "git does not know who you are", `git config user.name "Your Name" and git config user.email you@example.com`)
	}
	if turn.take(ctx) {
		return nil, op.Name(), errWaited
	}
	side.Refs = slices.Concat(refs, fence, side.Refs)
	entry, err := b.log.Append(ctx, prepared, oplog.Committer{Name: who.Name, Email: who.Email, Key: key}, side)
	if err != nil {
		return nil, op.Name(), err
	}
	return &Done{Entry: entry, View: &View{&oplog.Snapshot{Commit: entry.Commit, State: entry.After}, b}}, op.Name(), nil
}

// decide asks an intent.
func decide(ctx context.Context, v *View, intent Intent) (p board.Payload, refs []gitio.RefUpdate, err error) {
	defer v.State.Unread(&err)
	return intent(ctx, v)
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
func (b *Board) showLease(ctx context.Context, v *View, op board.Operation, own *lease.Held) ([]gitio.RefUpdate, error) {
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
	return []gitio.RefUpdate{lease.Fence(holder, held)}, nil
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
func (b *Board) repeated(ctx context.Context, s *oplog.Snapshot, r Request, since gitio.OID) (*Done, error) {
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
		return nil, board.Refuse("exists", fmt.Sprintf("the request id %s was used by %s: %s", r.ID, op.Actor.ID, h.Subject), "use an id of your own")
	}
	return &Done{
		Entry: &oplog.Entry{Commit: oid, Subject: h.Subject, Op: op, After: at.State},
		View:  &View{at, b}, Repeated: true,
	}, nil
}

// read reads the operation that a commit of the board is.
func (b *Board) read(ctx context.Context, commit gitio.OID) (at *oplog.Snapshot, h codec.Head, op board.Operation, err error) {
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
func (b *Board) Operation(ctx context.Context, commit gitio.OID) (board.Operation, error) {
	_, _, op, err := b.read(ctx, commit)
	return op, err
}

func (b *Board) requested(ctx context.Context, s *oplog.Snapshot, r Request, since gitio.OID) (gitio.OID, error) {
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
	if h, readErr := v.Lease(ctx, r.Holder); readErr == nil && h != nil && r.Code == "wrong-state" {
		r.Message = board.WithLease(r.Message, r.Holder, board.At(h.Expires), h.Expires.After(b.now()))
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
