package git

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/child"
	"github.com/git-liza/git-liza/gitboard/git/locks"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/retry"
)

// refSettings returns settings for git-update-ref.
//
// The first two limit the wait for another process's lock, in milliseconds. The last keeps it from
// looking for refs that are named like the ids it is given: for that it reads packed-refs before it
// has the lock, and considers the result current as long as the file's size, inode and second are
// the same. Next to a busy `git pack-refs` that lost acknowledged updates (TestRacers, git 2.39).
func (r *Repo) refSettings() []string {
	wait := r.patience.Git.Milliseconds()
	return []string{
		"-c", fmt.Sprintf("core.filesRefLockTimeout=%d", wait), "-c", fmt.Sprintf("core.packedRefsTimeout=%d", wait),
		"-c", "core.warnAmbiguousRefs=false",
	}
}

// linger is how long an update may continue after its context has ended. An update takes
// milliseconds, and a git killed at the wrong one leaves a lock behind.
const linger = 3 * time.Second

// attempts is how often an update is tried if it failed although every ref is where it should be
// and nobody holds a lock: a lock may just have been released.
const attempts = 3

// explainPatience limits the time for finding out what happened after a failure.
const explainPatience = 10 * time.Second

// lingering returns a context that outlives ctx by a while.
func lingering(ctx context.Context, while time.Duration) (context.Context, context.CancelFunc) {
	later, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(while, func() { cancel(ctx.Err()) })
	})
	return later, func() { stop(); cancel(nil) }
}

// UpdateRefs makes all updates in one transaction of `git update-ref --stdin`, in the given order
// and flushed to disk, or none. reflog is the reflog message; "" writes none. Hooks do not run:
// callers have checked what they write. A symbolic ref is replaced or deleted itself: what it leads
// to is somebody else's, and nothing stops an agent that makes one.
//
// The result is judged by reading the refs again, so it is also nil if the updates turn out to be
// in place after an unclear failure. Errors:
//   - ErrRefMoved, with the ref: one of them was not at Old. This includes the
//     rare state in which a crash let only the first updates happen;
//   - ErrBusy, with the lock's path: another process kept its lock;
//   - a StorageError: the common directory can't be written;
//   - a CommandError: git refuses for another reason, such as a name that
//     collides with another ref's directory, or a missing object.
func (r *Repo) UpdateRefs(ctx context.Context, updates []plumbing.RefUpdate, reflog string) error {
	return r.WriteAndUpdate(ctx, nil, updates, reflog)
}

// WriteAndUpdate is WriteObjects followed, if that succeeds, by UpdateRefs. It is faster than the
// two calls: git starts while the objects are being flushed, and gets the updates once they are on
// disk. Errors are those of both.
func (r *Repo) WriteAndUpdate(ctx context.Context, objects []plumbing.Object, updates []plumbing.RefUpdate, reflog string) error {
	if len(updates) == 0 {
		return r.WriteObjects(ctx, objects)
	}
	input, err := transaction(updates)
	if err != nil {
		return err
	}
	args := slices.Concat(durable, r.refSettings(), []string{"update-ref", "--no-deref", "--stdin", "-z"})
	if reflog != "" {
		args = append(args, "-m", reflog)
	}
	if err := ctx.Err(); err != nil {
		return &CommandError{Op: "update-ref", Exit: -1, Err: err}
	}
	patient, cancel := lingering(ctx, linger)
	defer cancel()
	update := r.command("update-ref", args...)
	kept, err := r.keep(objects)
	if err != nil {
		return err
	}
	write := func() error { return r.write(patient, objects) }
	for attempt := 1; ; attempt++ {
		failed, err := r.writeThenMove(patient, write, update, updates, input)
		if err != nil {
			return err
		}
		if attempt == 1 {
			r.unsettled.Add(kept, objects)
			write = func() error { return r.rewrite(patient, r.unsettled.Here()) }
		}
		settled := false
		if failed != nil {
			err, settled = r.explain(ctx, updates, failed)
		}
		if err == nil {
			if r.Moved != nil {
				r.Moved(updates)
			}
			return r.settle(patient, updates)
		}
		if settled && r.Locks().Await(ctx, err) {
			settled = false
		}
		most := attempts
		if !settled && r.unsettledGone(patient) {
			most, err = pruned, &CommandError{Op: "update-ref", Exit: child.ExitCode(failed), Stderr: "another git deletes objects as fast as they are written; wait until its prune or gc has ended"}
		}
		if settled || ctx.Err() != nil || !retry.May(ctx, attempt, most) {
			return err
		}
	}
}

// writeThenMove starts a child, calls write to write objects, and sends the child its updates once
// the objects are flushed. failed is the outcome of the child. If err is not nil, writing failed
// and nothing was moved.
func (r *Repo) writeThenMove(ctx context.Context, write func() error, child command, updates []plumbing.RefUpdate, input []byte) (failed, err error) {
	s, failed := child.Session(ctx)
	if failed != nil {
		return failed, nil
	}
	if err := write(); err != nil {
		_ = s.End(ctx) // without input it does nothing
		return nil, err
	}
	var tidied sync.WaitGroup
	tidied.Go(func() { r.tidyKept(ctx) }) // while git works
	defer tidied.Wait()
	return s.Commit(ctx, input, func() error { return r.still(updates) }), nil
}

// explain finds out what became of updates that git did not acknowledge. settled reports whether
// the answer is final.
func (r *Repo) explain(ctx context.Context, updates []plumbing.RefUpdate, failed error) (err error, settled bool) {
	// Do this even if the caller's context has ended: the update may have happened just before.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), explainPatience)
	defer cancel()
	done := true
	var moved error
	for _, u := range updates {
		now, err := r.exactRef(ctx, u.Ref)
		if err != nil {
			return fmt.Errorf("%w (and reading %s again: %w)", failed, u.Ref, err), true
		}
		old, to := u.Old.OrZero(), u.New.OrZero()
		done = done && now == to
		if now != old && moved == nil {
			moved = fmt.Errorf("%w: %s is at %s, not at %s", ErrRefMoved, u.Ref, now, old)
		}
	}
	names := append([]string{"HEAD.lock"}, locks.Whole...)
	for _, u := range updates {
		names = append(names, u.Ref+".lock")
	}
	held := r.Locks().Find(names...)
	switch {
	case done && slices.ContainsFunc(updates, func(u plumbing.RefUpdate) bool { return u.Old.OrZero() != u.New.OrZero() }):
		return nil, true
	case child.ExitCode(failed) < 0:
		return failed, false // killed before it did anything
	case moved != nil && !r.Locks().Outlasts(held):
		return moved, true
	case held != nil:
		return held, true
	}
	if err := cmp.Or(r.probe(), r.probeRefs(updates)); err != nil {
		return err, true
	}
	return fmt.Errorf("update %s: %w", updates[0].Ref, failed), false
}
