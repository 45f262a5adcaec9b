package remote

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
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/oplog"
)

// Store is a repository whose board may be shared. While it is not, it is the repository and no more.
type Store struct {
	repo   *gitio.Repo
	dir    string // this clone's own files
	now    func() time.Time
	remote atomic.Pointer[gitio.Remote]

	mu     sync.Mutex
	branch string  // the integration branch in full, as the board had it
	at     git.OID // at that commit
}

// New is the store of a repository. dir is where this clone keeps what is its own, now its clock.
func New(repo *gitio.Repo, dir string, now func() time.Time) *Store {
	return &Store{repo: repo, dir: dir, now: now}
}

// Local is the repository itself, whatever the remote says.
func (s *Store) Local() *gitio.Repo { return s.repo }

// Object implements oplog.Store.
func (s *Store) Object(ctx context.Context, name string) (git.Object, error) {
	return s.repo.Object(ctx, name)
}

// Objects implements oplog.Store.
func (s *Store) Objects(ctx context.Context, names []string) ([]git.Object, error) {
	return s.repo.Objects(ctx, names)
}

// WriteObjects implements oplog.Store.
func (s *Store) WriteObjects(ctx context.Context, objects []git.Object) error {
	return s.repo.WriteObjects(ctx, objects)
}

// Refs implements oplog.Store.
func (s *Store) Refs(ctx context.Context, prefixes ...string) ([]git.Ref, error) {
	return s.repo.Refs(ctx, prefixes...)
}

// Log implements oplog.Store.
func (s *Store) Log(ctx context.Context, from, to git.OID) ([]git.Commit, error) {
	return s.repo.Log(ctx, from, to)
}

// RequestCommit implements oplog.Store.
func (s *Store) RequestCommit(ctx context.Context, tip git.OID, request string, depth int) (git.OID, error) {
	return s.repo.RequestCommit(ctx, tip, request, depth)
}

// Sharing returns the remote that the board is shared by, nil while there is none. Somebody may share it at any
// time, so whoever is about to write asks again.
func (s *Store) Sharing(ctx context.Context) (*gitio.Remote, error) {
	if known := s.remote.Load(); known != nil {
		return known, nil
	}
	by, err := s.repo.Shared(ctx)
	if err == nil && by != nil {
		s.remote.Store(by)
	}
	return by, err
}

// Name is the name of the remote that the board is known to be shared by, "" for none.
func (s *Store) Name() string {
	if known := s.remote.Load(); known != nil {
		return known.Name
	}
	return ""
}

func (s *Store) tracking(what string) string { return git.TrackingRef(s.Name(), what) }

// peoples is the remote-tracking branch that people look at.
func (s *Store) peoples(branch string) string {
	return git.RemoteRef(s.Name(), branch)
}

// Task is the ref that remembers where the remote has a task's branch. To move it in a transaction is to publish
// the branch.
func (s *Store) Task(task string) string { return s.tracking("task/" + task) }

// integration is the full name of the integration branch, "" while there is no board.
func (s *Store) integration(ctx context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	tip, err := s.repo.Ref(ctx, git.BoardRef)
	if err != nil || tip == s.at {
		return s.branch, err
	}
	if tip.IsZero() {
		return "", nil
	}
	now, err := oplog.New(s.repo, "").At(ctx, tip)
	if err != nil {
		return "", err
	}
	config := now.State.Config()
	if err := now.State.Err(); err != nil {
		return "", err
	}
	s.branch, s.at = git.BranchRef(config.IntegrationBranch), tip
	return s.branch, nil
}

// Ref is a ref's value. Integration is where the remote has it: the branch here follows when no checkout of it is in
// the way, and a human may have commits of their own on it.
func (s *Store) Ref(ctx context.Context, name string) (git.OID, error) {
	if s.Name() != "" && strings.HasPrefix(name, git.HeadsPrefix) && name != git.BoardRef && !strings.HasPrefix(name, git.TaskPrefix) {
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

// UpdateRefs moves refs as WriteAndUpdate does.
func (s *Store) UpdateRefs(ctx context.Context, updates []git.RefUpdate, reflog string) error {
	return s.WriteAndUpdate(ctx, nil, updates, reflog)
}

// WriteAndUpdate stores objects and moves refs: those that are shared at the remote first, in one push, which takes
// along what else of this clone is pending. It returns nil when they stand there, whatever else could not be moved here.
// gitio.ErrRefMoved says that the race was lost; a *gitio.NetworkError that the remote could not be asked, or refused. A
// mirror of another repository is refused: the next fetch would take away what was written.
func (s *Store) WriteAndUpdate(ctx context.Context, objects []git.Object, updates []git.RefUpdate, reflog string) error {
	for try := 1; ; try++ {
		err := s.Append(ctx, objects, updates, reflog, nil)
		if !errors.Is(err, ErrAlone) || try == tries {
			return err
		}
		if err := s.Flush(ctx); err != nil {
			return err
		}
	}
}

func orMoved(err error, ref string) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: %s", gitio.ErrRefMoved, ref)
}

func orZero(oid git.OID) git.OID {
	if oid.IsZero() {
		return git.ZeroOID
	}
	return oid
}

// plan is what of a transaction the remote gets.
type plan struct {
	pushes  []gitio.Push
	retired []retired       // branches of tasks that can't go forward to where they shall be
	moves   []git.RefUpdate // the updates that are pushed
}

// retired is a task's branch at the remote that is taken away before it is published anew.
type retired struct {
	task string
	from git.OID
}

func (s *Store) plan(ctx context.Context, updates []git.RefUpdate) (*plan, error) {
	p := &plan{}
	branch, err := s.integration(ctx)
	if err != nil {
		return nil, err
	}
	for _, u := range updates {
		push := gitio.Push{Ref: u.Ref, New: u.New}
		task, published := strings.CutPrefix(u.Ref, s.Task(""))
		switch {
		case !s.isShared(u, branch):
			continue
		case strings.HasPrefix(u.Ref, git.LeasePrefix):
			push.Exactly, push.Old = true, u.Old
		case published:
			push.Ref = git.PublishedRef(task)
			if err := s.publish(ctx, p, task, &push, u, updates); err != nil {
				return nil, err
			}
		}
		p.pushes, p.moves = append(p.pushes, push), append(p.moves, u)
	}
	return p, nil
}

// publish sees to it that a task's branch at the remote is never moved by force: what can't go forward is taken
// away first, and kept in the remote's attic like what is taken away for good.
func (s *Store) publish(ctx context.Context, p *plan, task string, push *gitio.Push, u git.RefUpdate, all []git.RefUpdate) error {
	if u.Old.IsZero() {
		return nil
	}
	if u.New.IsZero() {
		push.Exactly, push.Old = true, u.Old
		held, err := s.held(ctx, task, u.Old, all)
		if !held {
			p.pushes = append(p.pushes, keep(task, u.Old))
		}
		return err
	}
	forward, err := s.repo.IsAncestor(ctx, u.Old, u.New)
	if err == nil && !forward {
		p.retired = append(p.retired, retired{task, u.Old})
	}
	return err
}

// held reports whether a commit stays at the remote without its branch: it was submitted, or integration has it when
// the updates are made.
func (s *Store) held(ctx context.Context, task string, commit git.OID, updates []git.RefUpdate) (bool, error) {
	submitted, err := s.repo.Refs(ctx, git.ReviewPrefix+task)
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
	return s.repo.IsAncestor(ctx, commit, landed)
}

// keep puts a commit into the remote's attic. Named after the commit, it is nobody else's.
func keep(task string, commit git.OID) gitio.Push {
	return gitio.Push{Ref: git.AtticPrefix + task + "/" + string(commit), New: commit}
}

// file is one of this clone's own files.
func (s *Store) file(name string) string { return filepath.Join(s.dir, name) }

// isNetwork reports whether an error is of the network or the remote.
func isNetwork(err error) bool { return errors.As(err, new(*gitio.NetworkError)) }
