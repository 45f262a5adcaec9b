package share

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
)

// Store is a repository whose board may be shared. While it is not shared, a Store is just the
// repository.
type Store struct {
	repo   *git.Repo
	dir    string // this clone's own files
	log    *log.Reader
	now    func() time.Time
	remote atomic.Pointer[git.Remote]
	// Learned, if not nil, is called when the answer to a push has brought the operations after on, up
	// to tip. They were proven by replay.
	Learned func(on, tip plumbing.OID)

	shareWait time.Duration // see there
	beat      time.Duration // see aBeat

	mu     sync.Mutex
	branch string       // full name of the integration branch
	at     plumbing.OID // the board's commit that branch was read at
}

// New returns the store of a repository. dir holds this clone's own files; now is its clock.
func New(repo *git.Repo, dir string, now func() time.Time) *Store {
	return &Store{repo: repo, dir: dir, log: log.NewReader(repo, ""), now: now, shareWait: shareWait, beat: aBeat}
}

// Local is the repository itself, without the remote.
func (s *Store) Local() *git.Repo { return s.repo }

// Object implements log.Store.
func (s *Store) Object(ctx context.Context, name string) (plumbing.Object, error) {
	return s.repo.Object(ctx, name)
}

// Objects implements log.Store.
func (s *Store) Objects(ctx context.Context, names []string) ([]plumbing.Object, error) {
	return s.repo.Objects(ctx, names)
}

// WriteObjects implements log.Store.
func (s *Store) WriteObjects(ctx context.Context, objects []plumbing.Object) error {
	return s.repo.WriteObjects(ctx, objects)
}

// Refs implements log.Store.
func (s *Store) Refs(ctx context.Context, prefixes ...string) ([]plumbing.Ref, error) {
	return s.repo.Refs(ctx, prefixes...)
}

// Log implements log.Store.
func (s *Store) Log(ctx context.Context, from, to plumbing.OID) ([]plumbing.Commit, error) {
	return s.repo.Log(ctx, from, to)
}

// RequestCommit implements log.Store.
func (s *Store) RequestCommit(ctx context.Context, tip plumbing.OID, request string, depth int) (plumbing.OID, error) {
	return s.repo.RequestCommit(ctx, tip, request, depth)
}

// Sharing returns the remote through which the board is shared, nil if there is none, or with an
// error. Sharing may start at any time, so a caller that is about to write asks again.
func (s *Store) Sharing(ctx context.Context) (*git.Remote, error) {
	if known := s.remote.Load(); known != nil {
		return known, nil
	}
	by, err := s.repo.Shared(ctx)
	if err == nil && by != nil {
		s.remote.Store(by)
	}
	return by, err
}

// Name is the name of the remote through which the board is known to be shared, "" if none.
func (s *Store) Name() string {
	if known := s.remote.Load(); known != nil {
		return known.Name
	}
	return ""
}

func (s *Store) tracking(what string) string { return plumbing.TrackingRef(s.Name(), what) }

// peoples is git's usual remote-tracking branch, which humans look at.
func (s *Store) peoples(branch string) string {
	return plumbing.RemoteRef(s.Name(), branch)
}

// Task is the ref that remembers where the remote has a task's branch. Moving it in a transaction
// publishes the branch.
func (s *Store) Task(task string) string { return s.tracking("task/" + task) }

// integration is the full name of the integration branch, "" while there is no board.
func (s *Store) integration(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tip, err := s.repo.Ref(ctx, plumbing.BoardRef)
	if err != nil || tip == s.at {
		return s.branch, err
	}
	if tip.IsZero() {
		return "", nil
	}
	now, err := s.log.At(ctx, tip)
	if err != nil {
		return "", err
	}
	config := now.State.Config()
	if err := now.State.Err(); err != nil {
		return "", err
	}
	s.branch, s.at = plumbing.BranchRef(config.IntegrationBranch), tip
	return s.branch, nil
}

// Ref is the value of a ref. For integration it is where the remote has it: the local branch
// follows only when no checkout is in the way, and a human may have local commits on it.
func (s *Store) Ref(ctx context.Context, name string) (plumbing.OID, error) {
	if s.Name() != "" && strings.HasPrefix(name, plumbing.HeadsPrefix) && name != plumbing.BoardRef {
		branch, err := s.integration(ctx)
		if err != nil {
			return "", err
		}
		if name == branch {
			if tip, err := s.repo.Ref(ctx, s.tracking("integration")); err != nil || !tip.IsZero() {
				return tip, err
			}
		}
	}
	return s.repo.Ref(ctx, name)
}

// there is the name at the remote of one of this clone's refs.
func (s *Store) there(ref string) string {
	if task, published := strings.CutPrefix(ref, s.Task("")); published {
		return plumbing.PublishedRef(task)
	}
	return named(s.remote.Load(), ref)
}

// named is the name at a remote of a ref of the board.
func named(by *git.Remote, ref string) string {
	if by.OnlyBranches {
		return plumbing.AsBranch(ref)
	}
	return ref
}

func orMoved(err error, ref string) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: %s", git.ErrRefMoved, ref)
}

// plan is the part of a transaction that goes to the remote.
type plan struct {
	reset    plumbing.OID // see Store.Lacking
	pushes   []git.Push
	absent   []string             // leases that must not be there, by their names there
	retired  []retired            // task branches that can't be fast-forwarded
	moves    []plumbing.RefUpdate // the updates that are pushed
	carriers []plumbing.RefUpdate // what this clone remembers of the carriers that are pushed
}

// retired is a task's branch that is deleted at the remote before it is published again.
type retired struct {
	task string
	from plumbing.OID
}

func (s *Store) plan(ctx context.Context, updates []plumbing.RefUpdate) (*plan, error) {
	branch, err := s.integration(ctx)
	if err != nil {
		return nil, err
	}
	p := &plan{}
	for _, u := range updates {
		if !s.isShared(u, branch) {
			continue
		}
		push := git.Push{Ref: s.there(u.Ref), New: u.New, Old: u.Old}
		task, published := strings.CutPrefix(u.Ref, s.Task(""))
		switch {
		case s.carries(u.Ref):
			push, err = s.carry(ctx, p, u)
		case strings.HasPrefix(u.Ref, plumbing.LeasePrefix):
			push.Exactly = true
		case published:
			err = s.publish(ctx, p, task, &push, u, updates)
		}
		if err != nil {
			return nil, err
		}
		p.moves = append(p.moves, u)
		if push.Old.OrZero() == plumbing.ZeroOID && push.New.OrZero() == plumbing.ZeroOID {
			p.absent = append(p.absent, push.Ref)
			continue
		}
		p.pushes = append(p.pushes, push)
	}
	return p, nil
}

// unseen asks the remote for the leases that a plan takes to be absent, since git can't push that a
// ref must not exist. An operation that takes over a claim without its lease may have been decided
// on a view in which the lease is missing.
func (s *Store) unseen(ctx context.Context, p *plan) error {
	if len(p.absent) == 0 {
		return nil
	}
	var there map[string]plumbing.OID
	err := again(ctx, func() (err error) {
		there, err = s.remote.Load().List(ctx, p.absent...)
		return err
	})
	for ref := range there {
		return orMoved(s.Fetch(ctx), ref)
	}
	return err
}

// publish makes sure that a task's branch at the remote is never force-pushed: a branch that can't
// be fast-forwarded is deleted first and kept in the remote's attic, like a branch that is deleted
// for good.
func (s *Store) publish(ctx context.Context, p *plan, task string, push *git.Push, u plumbing.RefUpdate, all []plumbing.RefUpdate) error {
	if u.Old.IsZero() {
		return nil
	}
	if u.New.IsZero() {
		push.Exactly = true
		held, err := s.held(ctx, task, u.Old, all)
		if !held {
			p.pushes = append(p.pushes, keep(task, u.Old))
		}
		return err
	}
	forward, err := s.repo.History().IsAncestor(ctx, u.Old, u.New)
	if err == nil && !forward {
		p.retired = append(p.retired, retired{task, u.Old})
	}
	return err
}

// held reports whether the remote keeps a commit without its branch, because it was submitted or
// integration contains it after the updates.
func (s *Store) held(ctx context.Context, task string, commit plumbing.OID, updates []plumbing.RefUpdate) (bool, error) {
	submitted, err := s.repo.Refs(ctx, plumbing.ReviewPrefix+task)
	if err != nil {
		return false, err
	}
	for _, r := range submitted {
		if r.OID == commit {
			return true, nil
		}
	}
	branch, err := s.integration(ctx)
	if err != nil {
		return false, err
	}
	landed, err := s.Ref(ctx, branch)
	for _, u := range updates {
		if u.Ref == branch {
			landed = u.New
		}
	}
	if err != nil || commit == landed || landed.IsZero() {
		return commit == landed, err
	}
	return s.repo.History().IsAncestor(ctx, commit, landed)
}

// keep pushes a commit to the remote's attic, under its own name so that it can't collide.
func keep(task string, commit plumbing.OID) git.Push {
	return git.Push{Ref: plumbing.AtticPrefix + task + "/" + string(commit), New: commit}
}

// file is the path of one of this clone's own files.
func (s *Store) file(name string) string { return filepath.Join(s.dir, name) }

// isNetwork reports whether an error comes from the network or the remote.
func isNetwork(err error) bool { return errors.As(err, new(*git.NetworkError)) }
