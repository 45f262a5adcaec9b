//go:build linux

package git

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// TestLeftLocks checks that a lock left by a killed git does not stop a writer, even if unrelated
// programs are named git.
func TestLeftLocks(t *testing.T) {
	ctx := context.Background() // the cases outlive this function
	move := func(r *Repo, commit plumbing.OID) error {
		return r.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/heads/liza/y", New: commit}}, "")
	}
	drop := func(r *Repo, commit plumbing.OID) error {
		return r.UpdateRefs(ctx, []plumbing.RefUpdate{{Ref: "refs/heads/liza/x", Old: commit}}, "")
	}
	one := func(r *Repo) string { return filepath.Join(r.TopLevel(), ".worktrees", "one") }
	linked := []string{"worktrees/one/HEAD.lock", "worktrees/one/index.lock", "worktrees/one/ORIG_HEAD.lock"}
	for _, c := range []struct {
		locks []string
		write func(r *Repo, commit plumbing.OID) error
	}{
		{[]string{"refs/heads/liza/y.lock"}, move},
		{[]string{"refs/heads/liza/y.lock", "packed-refs.lock"}, move},
		{[]string{"packed-refs.new"}, drop},
		{[]string{"config.lock"}, func(r *Repo, _ plumbing.OID) error { return r.Settings().Set(ctx, "liza.x", "y") }},
		{[]string{"config.lock"}, func(r *Repo, _ plumbing.OID) error {
			return r.Settings().Edit(func(text []byte) ([]byte, error) { return append(text, "# x\n"...), nil })
		}},
		{[]string{"index.lock"}, func(r *Repo, commit plumbing.OID) error {
			head := plumbing.OID(strings.TrimSpace(native(t, r.TopLevel(), "rev-parse", "HEAD")))
			return r.Worktree(r.TopLevel()).Advance(ctx, head, head)
		}},
		{linked, func(r *Repo, _ plumbing.OID) error { return r.Worktree(one(r)).AttachHead(ctx, "other") }},
		{linked, func(r *Repo, commit plumbing.OID) error { return r.Worktree(one(r)).CheckoutDetached(ctx, commit) }},
		{linked, func(r *Repo, _ plumbing.OID) error {
			later := native(t, r.TopLevel(), "commit-tree", "-p", "main", "-m", "later", "main^{tree}")
			_, err := r.Worktree(one(r)).MergeInto(ctx, plumbing.OID(strings.TrimSpace(later)), "merge", plumbing.Signature{Name: "A", Email: "a@x"})
			return err
		}},
	} {
		r, _, commit := written(t)
		t.Run(strings.Join(c.locks, " "), func(t *testing.T) {
			t.Parallel()
			native(t, r.TopLevel(), "worktree", "add", "-q", "--detach", one(r), "main")
			asGit(t, r.TopLevel(), "log")
			asGit(t, t.TempDir(), "gc")
			native(t, r.TopLevel(), "pack-refs", "--all")
			for _, lock := range c.locks {
				leave(t, r, lock)
			}
			check(t, c.write(hurry(r), commit))
		})
	}
}

// TestLeftLockOnASlowMachine checks that a lock left on the settings goes although the first try to
// write them took longer than a writer waits for locks.
func TestLeftLockOnASlowMachine(t *testing.T) {
	_, r := scratch(t)
	r.patience = Patience{Git: time.Nanosecond, Watch: time.Nanosecond}
	leave(t, r, "config.lock")
	check(t, r.Settings().Set(t.Context(), "liza.x", "y"))
}

// TestLockBesideAMove checks that a lock is noticed even if another ref of the transaction has
// moved. Otherwise a writer whose own heartbeat moves its lease would lose every race.
func TestLockBesideAMove(t *testing.T) {
	r, _, commit := written(t)
	lock := leave(t, r, "refs/heads/liza/y.lock")
	err := hurry(r).UpdateRefs(t.Context(), []plumbing.RefUpdate{
		{Ref: "refs/heads/liza/y", New: commit}, {Ref: "refs/heads/liza/x", Old: plumbing.OID(strings.Repeat("1", 40)), New: commit},
	}, "")
	if !errors.Is(err, ErrRefMoved) {
		t.Errorf("%v", err)
	}
	if _, err := os.Stat(lock); err == nil {
		t.Error("the lock is still there")
	}
}

// TestLockOfASilentFetch checks that a left lock stops no fetch that is given up on before git
// gives up waiting for the lock.
func TestLockOfASilentFetch(t *testing.T) {
	testrun.NotShort(t)
	r, _, commit := written(t)
	hub := t.TempDir()
	native(t, hub, "init", "-q", "--bare")
	native(t, r.TopLevel(), "push", "-q", hub, string(commit)+":refs/heads/y")
	native(t, r.TopLevel(), "remote", "add", "hub", hub)
	hurry(r).patience.Git = time.Minute
	m := must[*Remote](t)(r.Remote(t.Context(), "hub"))
	m.patience = 5 * time.Second
	leave(t, r, "refs/liza/y.lock")
	check(t, m.Fetch(t.Context(), false, false, "refs/heads/y:refs/liza/y"))
}
