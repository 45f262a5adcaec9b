package gitio

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
)

// refSettings are settings of git-update-ref.
//
// The first two say how long it waits for another process's lock, in
// milliseconds. The last keeps it from looking for refs that are named like
// the ids it is given: doing so, it reads packed-refs before it has the lock,
// and takes that for current as long as the file's size, inode and second
// are the same. Beside a busy `git pack-refs` that lost acknowledged updates
// (TestRacers, git 2.39).
var refSettings = []string{
	"-c", fmt.Sprintf("core.filesRefLockTimeout=%d", lockPatience.Milliseconds()),
	"-c", fmt.Sprintf("core.packedRefsTimeout=%d", lockPatience.Milliseconds()),
	"-c", "core.warnAmbiguousRefs=false",
}

// linger is how long an update may go on when its context has ended. It takes
// milliseconds, and killed at the wrong one git leaves a lock behind.
const linger = 3 * time.Second

// lockPatience is how long git waits for another's lock, as refSettings has it.
const lockPatience = time.Second

// attempts is how often an update is tried that failed although every ref is
// where it should be and nobody holds a lock: somebody held one until just now.
const attempts = 3

// explainPatience bounds the search for the truth after a failure.
const explainPatience = 10 * time.Second

// lingering returns a context that ends a while after ctx does.
func lingering(ctx context.Context, while time.Duration) (context.Context, context.CancelFunc) {
	later, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(while, func() { cancel(ctx.Err()) })
	})
	return later, func() { stop(); cancel(nil) }
}

// UpdateRefs makes all updates in one transaction of `git update-ref --stdin`,
// in the given order, flushed to disk; or none. reflog is the reflog's line,
// "" for none. Hooks do not run: callers have checked what they write.
//
// The result is judged by reading the refs again, so it is nil also when the
// updates are found to be in place after an unclear failure. Errors:
//   - ErrRefMoved, with the ref: one of them was not at Old. This includes the
//     rare state in which a crash let only the first updates happen;
//   - ErrBusy, with the lock's path: another process kept its lock;
//   - a StorageError: the common directory cannot be written;
//   - a CommandError: git refuses for another reason, such as a name that
//     collides with another ref's directory, or a missing object.
func (r *Repo) UpdateRefs(ctx context.Context, updates []git.RefUpdate, reflog string) error {
	return r.WriteAndUpdate(ctx, nil, updates, reflog)
}

// WriteAndUpdate is WriteObjects and then, if that succeeds, UpdateRefs. It is
// faster than the two: git starts while the objects are being flushed, and is
// told what to do when they are safe. Errors as for both.
func (r *Repo) WriteAndUpdate(ctx context.Context, objects []git.Object, updates []git.RefUpdate, reflog string) error {
	if len(updates) == 0 {
		return r.WriteObjects(ctx, objects)
	}
	input, err := transaction(updates)
	if err != nil {
		return err
	}
	args := flags(durable, refSettings, []string{"update-ref", "--stdin", "-z"})
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
	for attempt := 1; ; attempt++ {
		failed, err := r.writeThenMove(patient, func() error { return r.writeLoose(patient, objects) }, update, updates, input)
		if err != nil {
			return err
		}
		if failed == nil {
			return r.settle(objects, kept)
		}
		err, settled := r.explain(ctx, updates, failed)
		if err == nil {
			return r.settle(objects, kept)
		}
		if settled && r.awaitBusy(ctx, err) {
			settled = false
		}
		if settled || attempt == attempts || ctx.Err() != nil {
			return err
		}
	}
}

// writeThenMove starts a child, lets write write objects, and tells the child
// what to move when they are flushed. failed is how that ended; after an error
// of writing nothing was moved.
func (r *Repo) writeThenMove(ctx context.Context, write func() error, child command, updates []git.RefUpdate, input []byte) (failed, err error) {
	s, failed := child.session(ctx)
	if failed != nil {
		return failed, nil
	}
	if err := write(); err != nil {
		_ = s.end() // told nothing, it does nothing
		return nil, err
	}
	var tidied sync.WaitGroup
	tidied.Go(func() { r.tidyKept(ctx) }) // while git works
	defer tidied.Wait()
	return s.commit(input, func() error { return r.still(updates) }), nil
}

// explain finds out what became of updates that git did not acknowledge, and
// whether that is the last word.
func (r *Repo) explain(ctx context.Context, updates []git.RefUpdate, failed error) (err error, settled bool) {
	// Also when the caller's context has ended the truth can be told: the
	// update may have happened just before.
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
	locks := append([]string{"HEAD.lock"}, wholeLocks...)
	for _, u := range updates {
		locks = append(locks, u.Ref+".lock")
	}
	held := r.locked(locks...)
	switch {
	case done && slices.ContainsFunc(updates, func(u git.RefUpdate) bool { return u.Old.OrZero() != u.New.OrZero() }):
		return nil, true
	case exitCode(failed) < 0:
		return failed, false // killed before it could do anything
	case moved != nil && !outlasts(held):
		return moved, true
	case held != nil:
		return held, true
	}
	if err := r.probe(); err != nil {
		return err, true
	}
	return fmt.Errorf("update %s: %w", updates[0].Ref, failed), false
}
