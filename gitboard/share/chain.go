package share

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/queue"
	"github.com/git-liza/git-liza/gitboard/retry"
)

// chain has this clone's decisions that the remote has not taken yet: operations, each on top of
// the previous one, and updates of leases. It is stored in a file of this clone, which is only
// replaced by compare-and-swap. A chain that is lost all the same is decided again.
//
// The local board shows which part is still pending: what the board contains is settled, and a
// chain that does not follow from the board is void. So moving the board also drops the chains that
// lost the race. Only a remote that sequences still takes transactions that were decided on an older
// board, so they stay, before those that follow from the present one.
type chain struct {
	Remote       string         `json:"remote"` // the name of the remote
	Base         plumbing.OID   `json:"base"`   // the board's commit that the newest transactions build on
	Transactions []*transaction `json:"transactions"`

	read   []byte // the content of the file when the chain was read, nil for none
	stored int    // how many transactions it has
}

const (
	// ChainFile is the name of the chain's file in the clone's own directory.
	ChainFile = "pending"
	// chainLock is the file whose lock makes processes replace the chain one at a time, and
	// chainPatience how long one waits for a stopped one. Its chain may then replace another one.
	chainLock     = "pending.lock"
	chainPatience = 10 * time.Second
)

// transaction is a part of a chain: operations, and the updates of refs that belong to them.
type transaction struct {
	ID      string               `json:"id"` // unique for ever
	Reflog  string               `json:"reflog,omitempty"`
	Updates []plumbing.RefUpdate `json:"updates"`
	// Base and Integration are the settled board and integration when it was appended. Transactions of one
	// base follow each other.
	Base        plumbing.OID `json:"base"`
	Integration plumbing.OID `json:"integration,omitempty"`

	exclusive bool // no transaction may follow until its outcome is known
}

// transactions counts the transactions that this process has made.
var transactions atomic.Int64

func (s *Store) newTransaction(updates []plumbing.RefUpdate, reflog string) *transaction {
	id := fmt.Sprintf("%d.%d.%d", s.now().UnixNano(), os.Getpid(), transactions.Add(1))
	return &transaction{ID: id, Reflog: reflog, Updates: updates}
}

// commit is the operation that a transaction carries, "" if it has none.
func (l *transaction) commit() plumbing.OID {
	for _, u := range l.Updates {
		if u.Ref == plumbing.BoardRef && u.Old != u.New {
			return u.New
		}
	}
	return ""
}

// chain reads this clone's pending chain.
func (s *Store) chain(ctx context.Context) (*chain, error) {
	text, err := s.readChain()
	if err != nil {
		return nil, err
	}
	c := &chain{}
	if text != nil && json.Unmarshal(text, c) != nil || c.Remote != s.Name() {
		c = &chain{} // unreadable, or for another remote, but its operations were not acknowledged
	}
	c.read, c.stored = text, len(c.Transactions)
	// The board is read after the chain, so that one which has taken the chain, or moved past it,
	// is noticed.
	here, err := s.repo.Ref(ctx, plumbing.BoardRef)
	if err != nil {
		return nil, err
	}
	c.rest(here, s.sequencer(ctx))
	return c, nil
}

// readChain returns the content of the chain's file, nil if there is none.
func (s *Store) readChain() ([]byte, error) {
	text, err := os.ReadFile(s.file(ChainFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the pending operations: %w", err)
	}
	return text, nil
}

// rest reduces a chain to the transactions that still follow from a board, or that are not on it yet if
// the remote sequences.
func (c *chain) rest(board plumbing.OID, sequencer bool) {
	was := c.Base
	c.Base = board
	taken := slices.IndexFunc(c.Transactions, func(l *transaction) bool { return l.commit() == board })
	if taken >= 0 {
		c.Transactions = c.Transactions[taken+1:]
		for _, l := range c.Transactions {
			if l.Base == was {
				l.Base = board // it follows from the transaction that was taken
			}
		}
	}
	if !sequencer || board.IsZero() {
		c.Transactions = slices.DeleteFunc(c.Transactions, c.outdated)
	}
}

// outdated reports whether a transaction was decided on an older board than the present one.
func (c *chain) outdated(l *transaction) bool { return l.Base != c.Base }

// tip is the last commit of the board in a chain.
func (c *chain) tip() plumbing.OID {
	for _, l := range slices.Backward(c.Transactions) {
		if commit := l.commit(); commit != "" && !c.outdated(l) {
			return commit
		}
	}
	return c.Base
}

func (c *chain) has(id string) bool {
	return slices.ContainsFunc(c.Transactions, func(l *transaction) bool { return l.ID == id })
}

func (c *chain) hasAny(of *chain) bool {
	return slices.ContainsFunc(of.Transactions, func(l *transaction) bool { return c.has(l.ID) })
}

// value is where a chain moves a ref to; moves is false if it leaves the ref alone.
func (c *chain) value(ref string) (oid plumbing.OID, moves bool) {
	for _, l := range c.Transactions {
		for _, u := range l.Updates {
			if u.Ref == ref {
				oid, moves = u.New.OrZero(), true
			}
		}
	}
	return oid, moves
}

// updates merges the updates of all transactions: one for each ref, from its first old value to its last
// new one. The board's update comes last.
func (c *chain) updates() []plumbing.RefUpdate {
	var all []plumbing.RefUpdate
	for _, l := range c.Transactions {
		for _, u := range l.Updates {
			known := slices.IndexFunc(all, func(k plumbing.RefUpdate) bool { return k.Ref == u.Ref })
			if known < 0 {
				all = append(all, u)
				continue
			}
			all[known].New = u.New
		}
	}
	slices.SortStableFunc(all, func(a, b plumbing.RefUpdate) int { return last(a) - last(b) })
	return all
}

func last(u plumbing.RefUpdate) int {
	if u.Ref == plumbing.BoardRef {
		return 1
	}
	return 0
}

func (c *chain) reflog() string {
	if len(c.Transactions) == 1 {
		return c.Transactions[0].Reflog
	}
	return fmt.Sprintf("git liza: %d operations together", len(c.Transactions))
}

// errBehind means that a transaction does not follow from the pending chain.
var errBehind = fmt.Errorf("%w: others wait for the remote with the same", git.ErrRefMoved)

// admits returns an error if a transaction can't follow. Several transactions may move the board and leases in
// turn; any other ref may be moved by one transaction only, since the outcome depends on where the remote
// had it.
func (s *Store) admits(ctx context.Context, c *chain, l *transaction) error {
	for _, u := range l.Updates {
		now, pending, err := s.after(ctx, c, u.Ref)
		switch {
		case err != nil:
			return err
		case pending && u.Ref != plumbing.BoardRef && !strings.HasPrefix(u.Ref, plumbing.LeasePrefix), pending && now != u.Old.OrZero():
			return fmt.Errorf("%w: %s", errBehind, u.Ref)
		case now != u.Old.OrZero():
			return orMoved(nil, u.Ref)
		}
	}
	return nil
}

// after is the value of a ref after everything in a chain; pending means that the chain moves it.
func (s *Store) after(ctx context.Context, c *chain, ref string) (now plumbing.OID, pending bool, err error) {
	switch now, pending = c.value(ref); {
	case ref == plumbing.BoardRef:
		now = c.tip()
	case !pending:
		now, err = s.Ref(ctx, ref)
	}
	return now.OrZero(), pending, err
}

// Next is a board's store as the clone's next transaction finds it: with its refs as moved by
// pending operations.
type Next struct{ *Store }

// Ref is the value that the next transaction must name if it moves the ref.
func (n Next) Ref(ctx context.Context, name string) (plumbing.OID, error) {
	by, err := n.Sharing(ctx)
	if err != nil {
		return "", err
	}
	if by == nil {
		return n.Store.Ref(ctx, name)
	}
	c, err := n.chain(ctx)
	if err != nil {
		return "", err
	}
	now, _, err := n.after(ctx, c, name)
	return now, err
}

// put appends a transaction to the pending chain.
func (s *Store) put(ctx context.Context, l *transaction) error {
	branch, err := s.integration(ctx)
	if err == nil && branch != "" {
		l.Integration, err = s.Ref(ctx, branch)
	}
	if err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		c, err := s.chain(ctx)
		if err != nil {
			return err
		}
		if err := s.admits(ctx, c, l); err != nil {
			return err
		}
		c.Transactions, l.Base = append(c.Transactions, l), c.Base
		err = s.replace(ctx, c)
		if !errors.Is(err, git.ErrRefMoved) || !retry.May(ctx, attempt, maxPuts) {
			return err
		}
	}
}

// maxPuts bounds the attempts to change a chain that others keep moving.
const maxPuts = 20

// replace makes a chain the pending one, unless that has changed since it was read.
func (s *Store) replace(ctx context.Context, c *chain) error {
	var text []byte
	if len(c.Transactions) > 0 {
		c.Remote = s.Name()
		text, _ = json.Marshal(c) // can't fail: strings only
	}
	defer s.take(ctx, chainLock, queue.Wait{Most: chainPatience})()
	now, err := s.readChain()
	switch {
	case err != nil:
		return err
	case !bytes.Equal(now, c.read):
		return fmt.Errorf("%w: the pending operations", git.ErrRefMoved)
	case text != nil:
		return s.write(ChainFile, text)
	case now != nil:
		return os.Remove(s.file(ChainFile))
	}
	return nil
}

// drop removes a chain that the remote has not taken, along with everything appended to it since,
// which it returns.
func (s *Store) drop(ctx context.Context, c *chain) (behind []*transaction) {
	s.remove(ctx, func(now *chain) {
		if first := slices.IndexFunc(now.Transactions, func(l *transaction) bool { return c.has(l.ID) }); first >= 0 {
			behind = slices.DeleteFunc(slices.Clone(now.Transactions[first:]), func(l *transaction) bool { return c.has(l.ID) })
			now.Transactions = now.Transactions[:first]
		}
	})
	return behind
}

// trim removes the transactions that the remote has taken but the board doesn't show: lease updates after
// the last operation.
func (s *Store) trim(ctx context.Context, taken *chain) {
	s.remove(ctx, func(now *chain) {
		now.Transactions = slices.DeleteFunc(now.Transactions, func(l *transaction) bool { return taken.has(l.ID) })
	})
}

// part removes a chain of which a sequencing remote has taken these transactions, and the transactions decided on
// those that it left out.
func (s *Store) part(ctx context.Context, c *chain, taken taken) {
	left := map[plumbing.OID]bool{}
	for _, l := range c.Transactions {
		if _, is := taken[l.ID]; !is {
			left[l.Base] = true
		}
	}
	s.remove(ctx, func(now *chain) {
		now.Transactions = slices.DeleteFunc(now.Transactions, func(l *transaction) bool { return c.has(l.ID) || left[l.Base] })
	})
}

// remove reduces the pending chain by a function.
func (s *Store) remove(ctx context.Context, reduce func(now *chain)) {
	for range maxPuts {
		now, err := s.chain(ctx)
		if err != nil {
			return
		}
		if reduce(now); len(now.Transactions) == now.stored {
			return
		}
		if err := s.replace(ctx, now); !errors.Is(err, git.ErrRefMoved) {
			return
		}
	}
}

// Waiting is the number of this clone's transactions that the remote has not taken yet.
func (s *Store) Waiting(ctx context.Context) (int, error) {
	if by, err := s.Sharing(ctx); by == nil {
		return 0, err
	}
	c, err := s.chain(ctx)
	if err != nil {
		return 0, err
	}
	return len(c.Transactions), nil
}
