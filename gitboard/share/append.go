package share

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/queue"
	"github.com/git-liza/git-liza/gitboard/retry"
	"github.com/git-liza/git-liza/gitboard/trace"
)

// Tip implements log.Log. Commit and Settled differ by the operations that the remote has not taken
// yet.
func (s *Store) Tip(ctx context.Context) (log.Tip, error) {
	if by, err := s.Sharing(ctx); by == nil {
		tip, refErr := s.repo.Ref(ctx, plumbing.BoardRef)
		return log.Tip{Commit: tip, Settled: tip}, errors.Join(err, refErr)
	}
	c, err := s.chain(ctx)
	if err != nil {
		return log.Tip{}, err
	}
	return log.Tip{Commit: c.tip(), Settled: c.Base}, nil
}

// Append implements log.Log. Shared refs are moved at the remote first, in one push that also
// carries everything else pending in this clone. The batch is done once the remote has taken it,
// even if some refs could not be moved here; then a *TornError reports those that the remote left
// out. It refuses to write in a mirror of another repository, where the next fetch would discard
// the change.
func (s *Store) Append(ctx context.Context, b log.Batch) log.Outcome {
	return b.Judge(ctx, s.repo, s.commit(ctx, b.Contents(), b.Updates(), b.Message(), b.Queued))
}

// UpdateRefs moves refs as Append does, for updates without an operation: a caller is not asked to
// decide again because they could not share a push.
func (s *Store) UpdateRefs(ctx context.Context, updates []plumbing.RefUpdate, reflog string) error {
	for try := 1; ; try++ {
		o := s.commit(ctx, nil, updates, reflog, func() {})
		if !o.Exclusive || !retry.May(ctx, try, tries) {
			return o.Err
		}
		if err := s.Flush(ctx); err != nil {
			return err
		}
	}
}

// commit stores objects and appends a transaction to the chain that is pending in this clone. It
// then waits until the remote has taken it, either in another process's push or in its own, which
// carries everything pending. queued is called as soon as other transactions may follow.
func (s *Store) commit(ctx context.Context, objects []plumbing.Object, updates []plumbing.RefUpdate, reflog string, queued func()) log.Outcome {
	here, local, err := s.unshared(ctx, updates)
	if err == nil && !local {
		var concerned bool
		concerned, err = s.concerns(ctx, updates)
		here, local = updates, !concerned
	}
	if err != nil {
		return log.OutcomeOf(err)
	}
	if local {
		return log.OutcomeOf(s.repo.WriteAndUpdate(ctx, objects, here, reflog))
	}
	if err := s.repo.WriteObjects(ctx, objects); err != nil {
		return log.OutcomeOf(err)
	}
	mine := s.newTransaction(updates, reflog)
	if err := s.put(ctx, mine); err != nil {
		o := log.OutcomeOf(err)
		o.Exclusive = errors.Is(err, errBehind)
		return o
	}
	if queued != nil {
		queued()
	}
	mine.exclusive = queued == nil
	return s.await(ctx, mine)
}

// unshared returns the updates that a transaction makes in a clone that shares its board with
// nobody; alone is false in one that shares it. While a share is running, it waits for that.
func (s *Store) unshared(ctx context.Context, updates []plumbing.RefUpdate) (here []plumbing.RefUpdate, alone bool, err error) {
	for waited := false; ; waited = true {
		if by, err := s.Sharing(ctx); by != nil || err != nil {
			return nil, false, err
		}
		if err := s.kept(ctx); err != nil {
			return nil, true, err
		}
		here, err := s.atHome(ctx, updates)
		if refused := (*board.Refusal)(nil); waited || !errors.As(err, &refused) {
			return here, true, err
		}
		release, err := s.awaitShare(ctx, false)
		if err != nil {
			return nil, true, err
		}
		release()
	}
}

// Flush pushes what is pending and waits for it, not for what comes later. It does not report the
// outcome.
func (s *Store) Flush(ctx context.Context) error {
	t := s.pushQueue()
	defer t.leave()
	first, err := s.chain(ctx)
	if err != nil {
		return err
	}
	for range maxPuts {
		c, err := s.chain(ctx)
		if err != nil || !c.hasAny(first) {
			return err
		}
		mayPush := t.await(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !mayPush {
			continue
		}
		if c, err = s.chain(ctx); err != nil || !c.hasAny(first) {
			return err
		}
		_ = s.send(ctx, c, nil) // their outcome is recorded for the callers that wait
		t.leave()               // so that they see it
	}
	return nil
}

// await waits until the outcome of a transaction is known. The first process that may push pushes
// everything pending.
func (s *Store) await(ctx context.Context, mine *transaction) log.Outcome {
	t := s.pushQueue()
	defer t.leave()
	for {
		waited := trace.Step("wait for the push of others in this clone")
		mayPush := t.await(ctx)
		waited()
		if known, o := s.outcome(ctx, mine); known {
			return o
		}
		if err := ctx.Err(); err != nil {
			return s.abandon(ctx, err, mine, t)
		}
		if !mayPush {
			continue
		}
		if !mine.exclusive {
			s.gather(ctx)
		}
		c, err := s.chain(ctx)
		if err != nil {
			return unknown(err, nil)
		}
		if !c.has(mine.ID) {
			continue // its outcome is known by now
		}
		o := s.send(ctx, c, mine)
		if o.Kind == log.Done || o.Kind == log.Rewritten {
			return o
		}
		if known, other := s.outcome(ctx, mine); known && (other.Kind == log.Done || other.Kind == log.Rewritten) {
			return other // another process has pushed its part of the chain
		}
		return o
	}
}

// unknown is the outcome of a write that failed and may be done, after a look that failed or showed
// nothing.
func unknown(err, look error) log.Outcome {
	return log.Outcome{Kind: log.Unclear, Err: &log.UnclearError{Err: err, Look: look}}
}

// abandon ends the wait of a caller that was stopped, and withdraws its transaction unless somebody is
// pushing it.
func (s *Store) abandon(ctx context.Context, stopped error, mine *transaction, t *pushQueue) log.Outcome {
	ctx, cancel := patient(ctx)
	defer cancel()
	if !t.try() {
		return unknown(stopped, nil)
	}
	for range maxPuts {
		c, err := s.chain(ctx)
		if err != nil {
			return unknown(stopped, err)
		}
		at := slices.IndexFunc(c.Transactions, func(l *transaction) bool { return l.ID == mine.ID })
		if at < 0 {
			break
		}
		c.Transactions = c.Transactions[:at] // the transactions after it are decided again
		if err := s.replace(ctx, c); err == nil {
			return log.Outcome{Kind: log.Refused, Err: stopped}
		}
	}
	if known, o := s.outcome(ctx, mine); known && o.Kind == log.Done {
		return o
	}
	return unknown(stopped, nil)
}

// outcome returns the outcome of a transaction; known is false while the transaction is pending.
func (s *Store) outcome(ctx context.Context, mine *transaction) (known bool, o log.Outcome) {
	ctx, cancel := patient(ctx)
	defer cancel()
	if recorded := s.recorded(mine.ID); recorded != nil {
		return true, *recorded
	}
	c, err := s.chain(ctx)
	if err != nil {
		return true, unknown(err, nil)
	}
	if c.has(mine.ID) {
		return false, o
	}
	if recorded := s.recorded(mine.ID); recorded != nil { // recorded since the first look
		return true, *recorded
	}
	if commit := mine.commit(); commit != "" {
		landed, err := s.repo.History().IsAncestor(ctx, commit, c.Base)
		if err != nil {
			return true, unknown(err, nil)
		}
		if landed {
			s.settle(ctx, 0, mine.Updates, mine.Reflog, nil)
			return true, log.Outcome{Kind: log.Done}
		}
		if c.Base != mine.Base {
			return true, mine.overtaken() // a fetch has shown that another clone was faster
		}
	}
	return true, mine.dropped()
}

// send pushes a chain, updates the local refs to match the remote, and records the outcome for
// the processes that wait. It returns that of the caller's own transaction, which may be nil.
func (s *Store) send(ctx context.Context, c *chain, own *transaction) (mine log.Outcome) {
	if len(c.Transactions) > 1 {
		ctx = context.WithoutCancel(ctx) // the callers of the other transactions were not cancelled
	}
	defer trace.Step("push of %d transactions", len(c.Transactions))()
	number, began := s.pushing(), s.now()
	carriers, taken, err := s.deliverOrPush(ctx, c, number)
	if err == nil && taken == nil {
		s.pushEnded(ctx, c, began, false)
		s.settle(ctx, number, replaced(c.updates(), carriers), c.reflog(), c)
	} else {
		ctx, cancel := patient(ctx)
		defer cancel()
		s.failed(ctx, c, began, taken, err)
	}
	outcomes := map[string]log.Outcome{}
	for _, l := range c.Transactions {
		o := l.outcome(len(c.Transactions) > 1 || own == nil, err)
		if err == nil && taken != nil {
			o = l.taken(taken)
		}
		if own != nil && l.ID == own.ID {
			mine = o
			continue
		}
		outcomes[l.ID] = o
	}
	s.record(outcomes) // after failed: a caller that decides again must not find the chain
	return mine
}

// replaced returns updates in which others replace those of the same refs.
func replaced(updates, by []plumbing.RefUpdate) []plumbing.RefUpdate {
	updates = slices.DeleteFunc(updates, func(u plumbing.RefUpdate) bool {
		return slices.ContainsFunc(by, func(other plumbing.RefUpdate) bool { return other.Ref == u.Ref })
	})
	return append(updates, by...)
}

// deliverOrPush passes a chain to a remote that sequences, or else pushes its refs. carriers is
// what this clone remembers of the carriers that were pushed; taken is nil unless the remote decided
// again.
func (s *Store) deliverOrPush(ctx context.Context, c *chain, number int) (carriers []plumbing.RefUpdate, taken taken, err error) {
	if done, taken, err := s.deliver(ctx, c, number); done {
		return nil, taken, err
	}
	if slices.ContainsFunc(c.Transactions, c.outdated) {
		return nil, nil, orMoved(nil, plumbing.BoardRef) // only a sequencer takes them
	}
	p, err := s.plan(ctx, c.updates())
	if err != nil {
		return nil, nil, err
	}
	if p.reset, err = s.Lacking(ctx, c.Base); err != nil && !errors.As(err, new(*DivergedError)) {
		return nil, nil, err
	}
	lacking, err := s.lacking(ctx, p.reset, c.Base)
	if err != nil {
		return nil, nil, err
	}
	p.pushes = append(p.pushes, lacking...)
	err = s.push(ctx, p)
	return p.carriers, nil, err
}

// lacking returns the pushes of the submissions that this clone's board has and a remote's lacks
// that was reset: a server's lock takes no operation without them. The push of the board restores
// the operations themselves.
func (s *Store) lacking(ctx context.Context, reset, base plumbing.OID) (pushes []git.Push, err error) {
	if reset.IsZero() {
		return nil, nil
	}
	was, err := s.log.At(ctx, reset)
	if err != nil {
		return nil, err
	}
	now, err := s.log.At(ctx, base)
	if err != nil {
		return nil, err
	}
	refs, err := s.repo.Below(ctx, plumbing.ReviewPrefix)
	if err != nil {
		return nil, err
	}
	submitted := func(on *board.State, id string, n int) plumbing.OID {
		if t := on.Task(id); t != nil {
			return plumbing.OID(t.Submission(n))
		}
		return ""
	}
	for ref, at := range refs {
		id, number, _ := strings.Cut(strings.TrimPrefix(ref, plumbing.ReviewPrefix), "/")
		n, _ := strconv.Atoi(number) // 0 is the number of no submission
		if submitted(now.State, id, n) == at && submitted(was.State, id, n) != at {
			pushes = append(pushes, git.Push{Ref: s.there(ref), New: at})
		}
	}
	return pushes, errors.Join(was.State.Err(), now.State.Err())
}

// failed removes the pending transactions that can't follow after a push that failed, or that took a
// part. A transaction that waited for a silent remote does not wait for it again, and was not sent.
func (s *Store) failed(ctx context.Context, c *chain, began time.Time, taken taken, err error) {
	if err == nil {
		s.pushEnded(ctx, c, began, false)
		s.part(ctx, c, taken)
		return
	}
	if errors.Is(err, git.ErrRefMoved) {
		s.pushEnded(ctx, c, began, true)
	}
	behind := s.drop(ctx, c)
	if errors.Is(err, git.ErrSilent) {
		unsent := log.Outcome{Kind: log.Refused, Err: &git.NetworkError{Remote: s.Name(), Said: said(err), Err: git.ErrUnsent}}
		outcomes := map[string]log.Outcome{}
		for _, l := range behind {
			outcomes[l.ID] = unsent
		}
		s.record(outcomes)
	}
}

// concerns reports whether a transaction has to go to the remote.
func (s *Store) concerns(ctx context.Context, updates []plumbing.RefUpdate) (bool, error) {
	branch, err := s.integration(ctx)
	for _, u := range updates {
		if s.isShared(u, branch) {
			return true, err
		}
	}
	return false, err
}

// isShared reports whether an update moves a ref that the remote shares, so that it has to be made
// there.
func (s *Store) isShared(u plumbing.RefUpdate, integration string) bool {
	switch {
	case strings.HasPrefix(u.Ref, plumbing.LeasePrefix):
		return true // an unchanged lease is checked there too, and so is that there is none
	case u.Old.OrZero() == u.New.OrZero():
		return false
	}
	return u.Ref == plumbing.BoardRef || u.Ref == integration || strings.HasPrefix(u.Ref, plumbing.ReviewPrefix) || strings.HasPrefix(u.Ref, s.Task(""))
}

// pushQueue lets one process of a clone push at a time, by an advisory lock on a file, and wakes
// the others after its push. Each push has a file of its own. With one file for all, the next
// process to push might get the lock before the others are awake, and they would sleep through its
// push as well. It only gives order: pushing the same chain twice is harmless, so a process that
// can't get the lock pushes without it.
type pushQueue struct {
	s     *Store
	held  *queue.File // nil while the lock is not held
	stuck bool        // the process that has the lock makes no progress, or files can't be locked
	stop  func()
	beat  time.Duration // how often a pushing process shows that it is alive
}

func (s *Store) pushQueue() *pushQueue { return &pushQueue{s: s, beat: s.beat} }

const pushFile = "push"

// await returns true if this process may push, and false after a push of another process, whose
// outcome is recorded. All who wait are woken at once, and sleep until then.
func (t *pushQueue) await(ctx context.Context) (mayPush bool) {
	if t.held != nil || t.stuck {
		return true
	}
	file, err := t.open()
	switch {
	case err == nil:
		t.hold(file)
		return true
	case !errors.Is(err, queue.ErrHeld):
		t.stuck = true
		return true
	}
	err = file.Await(ctx, queue.Wait{Release: true, Beat: t.beat, Missed: maxMissed})
	if err == nil {
		file.Close()
	}
	t.stuck = errors.Is(err, queue.ErrReplaced)
	return t.stuck
}

// hold keeps the lock and touches its file at intervals, so that others see progress.
func (t *pushQueue) hold(file *queue.File) {
	t.held, t.stop = file, file.Beat(t.beat)
}

// try takes the lock if it is free.
func (t *pushQueue) try() bool {
	if t.held != nil || t.stuck {
		return true
	}
	file, err := t.open()
	switch {
	case err == nil:
		t.hold(file)
	case file != nil:
		file.Close()
	}
	return !errors.Is(err, queue.ErrHeld)
}

// open opens the queue's file and takes its lock. The error is queue.ErrHeld if another process has
// it; only then is there a file all the same.
func (t *pushQueue) open() (*queue.File, error) {
	for try := 1; ; try++ {
		file, err := t.s.repo.OpenQueue(t.s.file(pushFile))
		if err != nil {
			return nil, err
		}
		err = file.Try()
		if errors.Is(err, queue.ErrHeld) || err == nil && (file.Current() || try == maxPuts) {
			return file, err
		}
		file.Close()
		if err != nil {
			return nil, err
		}
	}
}

// leave releases the lock if it is held.
func (t *pushQueue) leave() {
	if t.held != nil {
		t.stop()
		t.held.Drop()
		t.held.Close()
		t.held = nil
	}
}
