package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/parcel"
)

// delivery is a chain as a parcel for a remote that sequences.
type delivery struct {
	chain    *chain
	push     git.Push
	text     string     // of the parcel, "" if it is pushed as a commit
	requests [][]string // of each transaction's operations
	number   int        // of the push, as the view of this clone (pushing)
	taken    taken      // nil if the remote has not decided again
}

// taken has the commits of each transaction that a remote took when it decided the operations of a chain
// again, on a board that had moved: none for a transaction without operations. For the others it is a lost
// race.
type taken map[string][]plumbing.OID

// sequencer reports whether the remote was seen to decide operations itself.
func (s *Store) sequencer(ctx context.Context) bool {
	at, err := s.repo.Ref(ctx, s.tracking(parcel.Tracked))
	return err == nil && !at.IsZero() && !s.remote.Load().OnlyBranches
}

// deliver passes a chain to a remote that sequences. done is false, without an error, if the refs
// have to be pushed instead. An answer that was lost is found on the board.
func (s *Store) deliver(ctx context.Context, c *chain, number int) (done bool, taken taken, err error) {
	if !s.sequencer(ctx) {
		return false, nil, nil
	}
	d, err := s.pack(ctx, c)
	if err != nil {
		return false, nil, nil // the push of the refs shows whether it matters
	}
	d.number = number
	push := func(ctx context.Context) error {
		said, err := s.remote.Load().Deliver(ctx, d.push, d.text)
		switch answer, news := parcel.ReadAnswer(d.push.Ref, said); {
		case answer == parcel.AsPushed:
			return nil
		case answer == parcel.Rewritten || answer == parcel.Overtaken:
			return answerError{s.rewritten(ctx, d, news)}
		case err == nil || errors.Is(err, git.ErrNotOffered):
			return answerError{cmp.Or(s.forget(ctx, d), errWhole)}
		}
		return err
	}
	arrived := func(ctx context.Context) (bool, error) {
		if err := s.rewritten(ctx, d, ""); err != nil || d.taken == nil || len(d.taken) > 0 {
			return true, err
		}
		d.taken = nil
		return false, nil
	}
	err = tried(ctx, push, arrived, func(error) bool { return true })
	if errors.Is(err, errWhole) || errors.Is(err, git.ErrRejected) {
		return false, nil, nil // the push of the refs will report the reason
	}
	return true, d.taken, err
}

// pack writes the parcel of a chain. It returns errWhole for what can't be sequenced: the first
// operation of a board, signed operations, whose signatures hold for one parent only, and a task's
// branch that is replaced.
func (s *Store) pack(ctx context.Context, c *chain) (*delivery, error) {
	if c.Base.IsZero() {
		return nil, errWhole
	}
	p, d := &parcel.Parcel{Has: c.Base}, &delivery{chain: c}
	for _, l := range c.Transactions {
		packed := parcel.Transaction{Base: l.Base, Integration: l.Integration}
		var requests []string
		var err error
		if packed.Refs, err = s.packRefs(ctx, l); err != nil {
			return nil, err
		}
		if packed.Operations, requests, err = s.packOperations(ctx, l); err != nil {
			return nil, err
		}
		p.Transactions, d.requests = append(p.Transactions, packed), append(d.requests, requests)
	}
	return d, s.wrap(ctx, d, p)
}

// wrap makes a parcel a text, or writes it as a commit if its refs need a commit that the remote
// may not have.
func (s *Store) wrap(ctx context.Context, d *delivery, p *parcel.Parcel) error {
	branch, err := s.integration(ctx)
	if err != nil {
		return err
	}
	there, err := s.Ref(ctx, branch)
	if err != nil {
		return err
	}
	var commits, blobs []plumbing.OID
	var names []string
	plain := true
	for _, l := range p.Transactions {
		for _, u := range l.Refs {
			switch to := u.New.OrZero(); {
			case to == plumbing.ZeroOID || slices.Contains(commits, to) || slices.Contains(blobs, to):
			case strings.HasPrefix(u.Ref, plumbing.LeasePrefix):
				blobs, names = append(blobs, to), append(names, string(to))
			default:
				commits, plain = append(commits, to), plain && to == there
			}
		}
	}
	if plain {
		contents, err := s.repo.Objects(ctx, names)
		if err != nil {
			return err
		}
		for _, o := range contents {
			p.Blobs = append(p.Blobs, string(o.Data))
		}
		if text, short := p.Text(); short {
			d.push, d.text = git.Push{Ref: parcel.Ref}, text
			return nil
		}
		p.Blobs = nil
	}
	objects, err := p.Encode(commits, blobs, s.now())
	if err != nil {
		return err
	}
	commit := objects[len(objects)-1].OID
	d.push = git.Push{Ref: parcel.InboxRef(commit), New: commit}
	return s.repo.WriteObjects(ctx, objects)
}

// errWhole means that a chain has to be pushed ref by ref.
var errWhole = errors.New("it can't be sequenced")

// packRefs returns what a transaction does to the remote's refs, except the board.
func (s *Store) packRefs(ctx context.Context, l *transaction) (refs []plumbing.RefUpdate, err error) {
	p, err := s.plan(ctx, l.Updates)
	if err != nil {
		return nil, err
	}
	if len(p.retired) > 0 {
		return nil, errWhole
	}
	for _, lease := range p.absent { // the sequencer compares it, as every ref
		refs = append(refs, plumbing.RefUpdate{Ref: lease, Old: plumbing.ZeroOID, New: plumbing.ZeroOID})
	}
	was := map[string]plumbing.OID{}
	for _, u := range l.Updates {
		was[s.there(u.Ref)] = u.Old
	}
	for _, push := range p.pushes {
		if push.Ref != plumbing.BoardRef {
			refs = append(refs, plumbing.RefUpdate{Ref: push.Ref, Old: was[push.Ref].OrZero(), New: push.New.OrZero()})
		}
	}
	return refs, nil
}

// packOperations returns the operations of a transaction and their requests.
func (s *Store) packOperations(ctx context.Context, l *transaction) (all []parcel.Operation, requests []string, err error) {
	moved := slices.IndexFunc(l.Updates, func(u plumbing.RefUpdate) bool { return u.Ref == plumbing.BoardRef && u.Old != u.New })
	if moved < 0 {
		return nil, nil, nil
	}
	for at := l.Updates[moved].New; at != l.Updates[moved].Old; {
		read, err := s.repo.Objects(ctx, []string{string(at), string(at) + ":" + codec.PayloadFile})
		if err != nil {
			return nil, nil, err
		}
		commit, err := plumbing.DecodeCommit(read[0])
		if err != nil {
			return nil, nil, err
		}
		if commit.GPGSig != "" || len(commit.Parents) != 1 {
			return nil, nil, errWhole
		}
		head, err := codec.ParseHead(commit.Message)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, parcel.Operation{Commit: string(read[0].Data), Payload: string(read[1].Data)})
		requests, at = append(requests, codec.Identity(head.Agent, head.Request)), commit.Parents[0]
	}
	slices.Reverse(all)
	slices.Reverse(requests)
	return all, requests, nil
}

// rewritten brings the remote's version of a delivery, by the news in its answer or else by a
// fetch, and moves the local refs that it took. The delivery's taken is nil after it if all commits
// are on the board as they were.
func (s *Store) rewritten(ctx context.Context, d *delivery, news string) error {
	d.taken = nil
	if news == "" || s.learn(ctx, d, news) != nil {
		if err := s.Fetch(ctx); err != nil {
			return err
		}
	}
	here, err := s.repo.Ref(ctx, plumbing.BoardRef)
	if err != nil {
		return err
	}
	later, err := s.repo.Log(ctx, d.chain.Transactions[0].Base, here)
	if err != nil {
		return err
	}
	there := map[string]plumbing.OID{}
	for _, c := range later {
		if c.OID == d.chain.tip() && !slices.ContainsFunc(d.chain.Transactions, d.chain.outdated) {
			return nil
		}
		if h, err := codec.ParseHead(c.Message); err == nil {
			there[codec.Identity(h.Agent, h.Request)] = c.OID
		}
	}
	arrived, found := &chain{}, taken{}
	for i, l := range d.chain.Transactions {
		commits, is, err := s.took(ctx, l, d.requests[i], there)
		if err != nil {
			return err
		}
		if is {
			arrived.Transactions, found[l.ID] = append(arrived.Transactions, l), commits
		}
	}
	moves := slices.DeleteFunc(arrived.updates(), func(u plumbing.RefUpdate) bool { return u.Ref == plumbing.BoardRef })
	s.settle(ctx, 0, moves, fmt.Sprintf("git liza: %d operations together", len(arrived.Transactions)), nil)
	d.taken = found
	return nil
}

// took reports whether the remote has done a transaction: its operations are on the board, as commits, or
// if it has none, its leases are where it moved them.
func (s *Store) took(ctx context.Context, l *transaction, requests []string, there map[string]plumbing.OID) (commits []plumbing.OID, is bool, err error) {
	for _, request := range requests {
		if there[request] == "" {
			return nil, false, nil
		}
		commits = append(commits, there[request])
	}
	if len(requests) > 0 {
		return commits, true, nil
	}
	for _, u := range l.Updates {
		if at, err := s.repo.Ref(ctx, u.Ref); err != nil || at.OrZero() != u.New.OrZero() {
			return nil, false, err
		}
	}
	return nil, true, nil
}

// forget removes a parcel that the remote has kept as a ref, and the ref by which it seemed to
// sequence: its hooks were removed.
func (s *Store) forget(ctx context.Context, d *delivery) error {
	at, err := s.repo.Ref(ctx, s.tracking(parcel.Tracked))
	if err != nil {
		return err
	}
	by := s.remote.Load()
	var left []git.Push
	if !d.push.New.IsZero() {
		left = append(left, git.Push{Ref: d.push.Ref, Exactly: true, Old: d.push.New})
	}
	there, err := by.List(ctx, parcel.Ref)
	if err == nil && there[parcel.Ref] == at {
		left = append(left, git.Push{Ref: parcel.Ref, Exactly: true, Old: at})
	}
	if err == nil && len(left) > 0 {
		_ = by.Push(ctx, left) // it harms nobody
	}
	return s.repo.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: s.tracking(parcel.Tracked), Old: at}}, "")
}
