package server

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/parcel"
	"github.com/git-liza/git-liza/gitboard/queue"
	"github.com/git-liza/git-liza/hooks"
	"github.com/git-liza/git-liza/hooks/install"
)

// maxParcel is the maximum size of a parcel in bytes. A longer chain is pushed ref by ref.
const maxParcel = 4 << 20

// maxOperations is how many operations are decided while other parcels wait. A transaction with more is
// pushed ref by ref.
const maxOperations = 200

// Pushed is a parcel as it was pushed: a commit, or a text.
type Pushed struct {
	Commit plumbing.OID
	Text   string
}

// sequencer decides the operations of one parcel on the server's board.
type sequencer struct {
	board  *gitboard.Board
	repo   *git.Repo
	now    time.Time
	parcel *parcel.Parcel
	came   []plumbing.OID // the commits that the parcel brought: git has checked their history
	branch string         // the integration branch's ref
}

// declined is why a clone has to push the refs of a parcel itself.
type declined struct{ why string }

func (d *declined) Error() string { return d.why }

// Sequenced is what became of a parcel.
type Sequenced struct {
	Answer parcel.Answer
	Moves  []plumbing.RefUpdate // the moved refs
	News   string               // the operations that the clone lacks (parcel.News), "" if it has to fetch
	Why    string               // if the answer is parcel.Declined
}

// Sequence decides a parcel on the server's board, and moves the refs, after the checks that
// Receive makes. An error is this server's own.
func Sequence(ctx context.Context, b *gitboard.Board, pushed Pushed, now time.Time) (Sequenced, error) {
	q := &sequencer{board: b, repo: b.Repo(), now: now}
	done, err := q.sequence(ctx, pushed)
	if no := (*declined)(nil); errors.As(err, &no) {
		return Sequenced{Answer: parcel.Declined, Why: no.why}, nil
	}
	return done, err
}

func (q *sequencer) sequence(ctx context.Context, pushed Pushed) (Sequenced, error) {
	if err := q.open(ctx, pushed); err != nil {
		return Sequenced{}, err
	}
	defer q.lock(ctx)()
	for try := 1; ; try++ {
		o, err := q.decide(ctx)
		if err != nil {
			return Sequenced{}, err
		}
		if o.taken == 0 {
			if news := o.news(ctx); news != "" {
				return Sequenced{Answer: parcel.Rewritten, News: news}, nil
			}
			return Sequenced{Answer: parcel.Overtaken}, nil
		}
		moves, err := o.land(ctx)
		switch {
		case err == nil && o.taken == len(q.parcel.Transactions) && o.at.Commit == q.parcel.Tip():
			return Sequenced{Answer: parcel.AsPushed, Moves: moves}, nil
		case err == nil:
			return Sequenced{Answer: parcel.Rewritten, Moves: moves, News: o.news(ctx)}, nil
		case !errors.Is(err, git.ErrRefMoved) && !errors.Is(err, git.ErrBusy) || try == sequenceTries:
			return Sequenced{}, err
		}
	}
}

// sequenceTries is how often a parcel is decided again because somebody has pushed refs directly.
const sequenceTries = 5

// lock makes the parcels of this repository wait for each other. It saves work: what keeps them
// apart is the compare-and-swap of the refs.
func (q *sequencer) lock(ctx context.Context) (release func()) {
	file, err := q.repo.OpenQueue(filepath.Join(install.Dir(q.repo), "sequence"))
	if err != nil || file.Await(ctx, queue.Wait{Most: sequencePatience}) != nil {
		return func() {}
	}
	return func() { file.Close() }
}

// sequencePatience is how long a parcel waits for others before it is decided beside them.
const sequencePatience = 20 * time.Second

// open reads the parcel.
func (q *sequencer) open(ctx context.Context, pushed Pushed) error {
	text := []byte(pushed.Text)
	if !pushed.Commit.IsZero() {
		path := parcel.Path(pushed.Commit)
		sizes, err := q.repo.History().SizesOf(ctx, []string{string(pushed.Commit), path})
		if err != nil {
			return err
		}
		if sizes[0].Bytes > maxParcel || sizes[1].Bytes > maxParcel {
			return &declined{"it is too large"}
		}
		read, err := q.repo.Objects(ctx, []string{string(pushed.Commit), path})
		if err != nil {
			return err
		}
		if c, err := plumbing.DecodeCommit(read[0]); err == nil { // another object brings none
			q.came = c.Parents
		}
		text = read[1].Data
	}
	var err error
	if q.parcel, err = parcel.Parse(text); err != nil {
		return &declined{err.Error()}
	}
	if slices.ContainsFunc(q.parcel.Transactions, func(l parcel.Transaction) bool { return len(l.Operations) > maxOperations }) {
		return &declined{"it has too many operations that belong together"}
	}
	return nil
}

// known refuses refs that no operation moves. It remembers which one is integration.
func (q *sequencer) known(ctx context.Context, s *board.State) error {
	if home, err := q.repo.Ref(ctx, plumbing.HomeRef); home.IsZero() {
		return cmp.Or(err, error(&declined{"no board is at home here, or one in branches alone"}))
	}
	config := s.Config()
	if config == nil {
		return cmp.Or(s.Err(), error(&declined{"there is no board here"}))
	}
	q.branch = plumbing.BranchRef(config.IntegrationBranch)
	for _, ref := range q.refs() {
		shared := func(prefix string) bool { return strings.HasPrefix(ref, prefix) }
		if ref != q.branch && !slices.ContainsFunc([]string{plumbing.LeasePrefix, plumbing.ReviewPrefix, plumbing.AtticPrefix, plumbing.PublishedPrefix}, shared) {
			return &declined{ref + " is not moved by an operation"}
		}
	}
	return nil
}

// refs lists the refs that the parcel names.
func (q *sequencer) refs() (names []string) {
	for _, l := range q.parcel.Transactions {
		for _, u := range l.Refs {
			if !slices.Contains(names, u.Ref) {
				names = append(names, u.Ref)
			}
		}
	}
	return names
}

// outcome is a parcel's result on one board.
type outcome struct {
	*sequencer
	tip     plumbing.OID            // the board that it is decided on
	later   []plumbing.Commit       // what came to it since the parcel's base
	at      *log.Snapshot           // the board after what was taken
	was     map[string]plumbing.OID // where the refs are
	now     map[string]plumbing.OID // where they are after what was taken
	objects []plumbing.Object
	done    map[string]bool         // the requests that came to the board since the parcel's base, or in it
	left    map[string]bool         // the records that refused operations were decided by
	changed map[string]plumbing.OID // the base of the last transaction that has changed a record
	taken   int
}

// decide decides the transactions of the parcel, one after the other, on the present board.
func (q *sequencer) decide(ctx context.Context) (*outcome, error) {
	at, err := q.board.Log().Tip(ctx)
	if err != nil {
		return nil, err
	}
	if err := q.known(ctx, at.State); err != nil {
		return nil, err
	}
	if err := q.board.Prove(ctx, at.Commit); err != nil {
		return nil, err // no operation is built on unproven ones
	}
	o := &outcome{sequencer: q, tip: at.Commit, at: at, done: map[string]bool{}, left: map[string]bool{}, changed: map[string]plumbing.OID{}}
	names := append(q.refs(), q.branch)
	if o.was, err = q.repo.Where(ctx, names); err != nil {
		return nil, err
	}
	o.now = maps.Clone(o.was)
	if at.Commit != q.parcel.Base() {
		if o.later, err = q.repo.Log(ctx, q.parcel.Base(), at.Commit); err != nil {
			return nil, err
		}
		for _, c := range o.later {
			h, _ := codec.ParseHead(c.Message) // it is proven
			o.done[codec.Identity(h.Agent, h.Request)] = true
		}
	}
	decided := 0
	for _, l := range q.parcel.Transactions {
		if decided += len(l.Operations); decided > maxOperations { // not the first transaction
			break // others wait; the clone sends the rest again
		}
		if err := o.transaction(ctx, l); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// transaction takes a transaction as a whole, or leaves it out. One that an earlier delivery has brought counts
// as taken.
func (o *outcome) transaction(ctx context.Context, l parcel.Transaction) error {
	at, objects := o.at, []plumbing.Object(nil)
	var decidedBy, changes, requests []string
	leave := func() error {
		for _, path := range decidedBy {
			o.left[path] = true
		}
		return nil
	}
	for _, pushed := range l.Operations {
		op, by, err := o.read(pushed)
		if err != nil {
			return err
		}
		request := codec.Identity(op.Actor.ID, op.Request)
		if o.done[request] {
			o.taken++
			return nil
		}
		op.Time = max(op.Time, at.State.Time())
		prepared, err := log.Prepare(at, op)
		if refused := (*board.Refusal)(nil); errors.As(err, &refused) {
			decidedBy = append(decidedBy, board.DecidedBy(op, nil)...)
			return leave()
		} else if err != nil {
			return err
		}
		paths := board.DecidedBy(op, prepared.After)
		decidedBy = append(decidedBy, paths...)
		if stale, err := o.stale(ctx, l, op.Name(), paths); err != nil || stale {
			return cmp.Or(err, leave())
		}
		built, err := prepared.Build(by)
		if refused := (*board.Refusal)(nil); errors.As(err, &refused) {
			return &declined{refused.Message} // it has to be signed
		} else if err != nil {
			return err
		}
		at, objects = built.Next(), append(objects, built.Objects()...)
		requests = append(requests, request)
		changes = slices.AppendSeq(changes, maps.Keys(prepared.After.Changes()))
	}
	for _, u := range l.Refs {
		now := o.now[u.Ref].OrZero()
		if now != u.Old && (now != u.New || strings.HasPrefix(u.Ref, plumbing.LeasePrefix)) {
			return leave()
		}
	}
	for _, u := range l.Refs {
		o.now[u.Ref] = u.New
	}
	for _, path := range changes {
		o.changed[path] = l.Base
	}
	for _, request := range requests {
		o.done[request] = true
	}
	o.at, o.objects, o.taken = at, append(o.objects, objects...), o.taken+1
	return nil
}

// read returns the operation that a clone has committed, and who wrote the commit.
func (o *outcome) read(pushed parcel.Operation) (op board.Operation, by log.Committer, err error) {
	c, err := pushed.Decode()
	if err != nil {
		return op, by, &declined{err.Error()}
	}
	if c.GPGSig != "" {
		return op, by, &declined{"a signature holds for one commit only"}
	}
	if _, op, err = codec.ReadOperation(c, pushed.Payload); err != nil {
		return op, by, &declined{err.Error()}
	}
	return op, log.Committer{Name: c.Committer.Name, Email: c.Committer.Email}, nil
}

// stale reports whether something has changed that an operation of a transaction was decided by: one
// of the records, or integration, on which worktrees and merges rest.
func (o *outcome) stale(ctx context.Context, l parcel.Transaction, op string, paths []string) (bool, error) {
	if len(paths) == 0 {
		return false, nil
	}
	unknown := func(path string) bool { return o.left[path] || o.changed[path] != "" && o.changed[path] != l.Base }
	if slices.ContainsFunc(paths, unknown) {
		return true, nil
	}
	if tip := o.was[o.branch].OrZero(); tip != l.Integration.OrZero() {
		if !board.OutlivesMerges(op) || tip.IsZero() || l.Integration.IsZero() {
			return true, nil
		}
		if forward, err := o.repo.History().IsAncestor(ctx, l.Integration, tip); !forward || err != nil {
			return true, err
		}
	}
	if o.tip == l.Base {
		return false, nil
	}
	var names []string
	for _, path := range paths {
		names = append(names, string(l.Base)+":"+path, string(o.tip)+":"+path)
	}
	records, err := o.repo.History().SizesOf(ctx, names)
	if err != nil {
		return false, err
	}
	for i := 0; i < len(records); i += 2 {
		if records[i].OID != records[i+1].OID {
			return true, nil
		}
	}
	return false, nil
}

// leases returns the objects in the parcel's text that refs move to.
func (o *outcome) leases() (objects []plumbing.Object) {
	targets := slices.Collect(maps.Values(o.now))
	for _, text := range o.parcel.Blobs {
		blob := plumbing.NewObject(plumbing.BlobObject, []byte(text))
		if slices.Contains(targets, blob.OID) {
			objects = append(objects, blob)
		}
	}
	return objects
}

// whole refuses refs to commits whose history is incomplete on the server, as git does for each ref
// that is pushed. It asks only about commits that neither a ref of the parcel has led to nor the
// parcel has brought: an honest clone names no others.
func (o *outcome) whole(ctx context.Context) error {
	seen := append(slices.Collect(maps.Values(o.was)), o.came...)
	for ref, at := range o.now {
		if at.IsZero() || slices.Contains(seen, at) || strings.HasPrefix(ref, plumbing.LeasePrefix) {
			continue // a lease is read by itself
		}
		err := o.repo.History().WholeBesideRefs(ctx, at)
		if errors.As(err, new(*git.DamagedError)) {
			return &declined{err.Error()}
		}
		if err != nil {
			return err
		}
		seen = append(seen, at)
	}
	return nil
}

// land writes what was taken, checks it as a push of the same refs, and moves them in one
// transaction.
func (o *outcome) land(ctx context.Context) (updates []plumbing.RefUpdate, err error) {
	if err := o.whole(ctx); err != nil {
		return nil, err
	}
	if err := o.repo.WriteObjects(ctx, append(o.leases(), o.objects...)); err != nil {
		return nil, err
	}
	var moves []hooks.Move
	var changed []plumbing.RefUpdate
	for _, ref := range append(o.refs(), plumbing.BoardRef) {
		u := plumbing.RefUpdate{Ref: ref, Old: o.was[ref].OrZero(), New: o.now[ref].OrZero()}
		if ref == plumbing.BoardRef {
			u.Old, u.New = o.tip, o.at.Commit
		}
		if u.Old != u.New {
			changed, moves = append(changed, u), append(moves, hooks.Move{Ref: ref, Old: string(u.Old), New: string(u.New)})
		}
		updates = append(updates, u) // also one that stays, so that it can't move in the meantime
	}
	a, refusal, err := received(ctx, o.board, moves, o.objects, o.sequencer.now)
	if err != nil {
		return nil, err
	}
	if refusal != nil {
		return nil, &declined{refusal.Message}
	}
	a.clearLocks()
	if err := o.repo.UpdateRefs(ctx, updates, "push"); err != nil {
		return nil, err
	}
	o.board.Proven(o.tip, o.at.Commit)
	return changed, nil
}
