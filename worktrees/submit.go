package worktrees

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

// SubmitRequest hands the work of a task to review.
type SubmitRequest struct {
	Actor          board.Actor
	Task           string
	Commit         string // any revision; "" for the worktree's HEAD, which it must be
	NoTestsBecause string
	Request        string
	AllowSecret    bool
}

// maxTests is how many changed tests a submission names.
const maxTests = 20

// Submit hands the commit of a task's clean worktree to review, and keeps it under refs/liza/review. The
// warnings don't stop it.
func Submit(ctx context.Context, b *gitboard.Board, r SubmitRequest) (*gitboard.Done, []string, error) {
	s, err := at(ctx, b)
	if err != nil {
		return nil, nil, err
	}
	var warnings []string
	worktree := &ahead{s: s, task: r.Task}
	request := gitboard.Request{Actor: r.Actor, ID: r.Request, AllowSecret: r.AllowSecret, Ahead: worktree.begin}
	request.Intent = func(ctx context.Context, v *gitboard.View) (board.Payload, []gitio.RefUpdate, error) {
		p := &board.Submit{About: board.About{Task: r.Task}, NoTestsBecause: r.NoTestsBecause}
		t, err := v.State.FindTask(r.Task)
		if err != nil {
			return nil, nil, err
		}
		commit, err := s.submittable(ctx, v, t, worktree.get(), r.Commit, p)
		if err != nil {
			return nil, nil, unless(ctx, b, v, request, p, err)
		}
		refs, err := s.reviewRefs(ctx, t, commit)
		if err != nil {
			return nil, nil, err
		}
		published, err := b.Publish(ctx, t.ID, commit)
		warnings = nil
		if c := v.State.Config(); c.RequireTests == "warn" && t.Kind == board.Code && len(p.Tests) == 0 {
			warnings = append(warnings, fmt.Sprintf("%s is code, and nothing that it changes is a test", t.ID))
		}
		return p, append(refs, published...), err
	}
	done, err := b.Do(ctx, request)
	return done, warnings, err
}

// submittable gathers the evidence of a submission into its payload, and returns its commit.
func (s *site) submittable(ctx context.Context, v *gitboard.View, t *board.Task, g glance, rev string, p *board.Submit) (gitio.OID, error) {
	head, err := s.work(t, g)
	if err != nil {
		return "", err
	}
	if rev != "" && rev != "HEAD" {
		commit, err := s.named(ctx, rev, head)
		if err != nil {
			return "", err
		}
		if commit != head {
			return "", refusal("stale", t.ID, "submit what is checked out there: git liza submit "+t.ID,
				"task/%s is at %s, not at %s", t.ID, head.Short(), commit.Short())
		}
	}
	tip, err := s.integration(ctx, v)
	if err != nil {
		return "", err
	}
	var uncounted error
	var beside sync.WaitGroup
	beside.Go(func() { p.Commits, uncounted = s.repo.CountCommits(ctx, gitio.OID(t.BaseCommit), head) })
	base, changed, err := s.changed(ctx, tip, head)
	beside.Wait()
	if errors.Is(err, gitio.ErrNotFound) {
		return "", refusal("unrelated", t.ID, "begin from "+v.State.Config().IntegrationBranch, "task/%s has no commit in common with integration", t.ID)
	}
	if err != nil {
		return "", err
	}
	if base == head && string(head) != t.BaseCommit {
		return "", refusal("empty", t.ID, "commit your work in "+t.Worktree+" first", "everything on task/%s is on integration already", t.ID)
	}
	if uncounted != nil {
		return "", uncounted
	}
	p.Commit, p.ReviewBase, p.Files = string(head), string(base), len(changed)
	var tests []string
	for _, file := range changed {
		if board.IsTest(v.State.Config().TestGlobs, file) {
			tests = append(tests, file)
		}
	}
	p.Tests = Recordable(tests, maxTests)
	return head, nil
}

// changed lists the files that a commit changes since it left integration, and where that was.
func (s *site) changed(ctx context.Context, tip, head gitio.OID) (base gitio.OID, files []string, err error) {
	if base, err = s.repo.MergeBase(ctx, tip, head); err != nil {
		return "", nil, err
	}
	files, err = s.repo.ChangedFiles(ctx, base, head)
	return base, files, err
}

// reviewRefs keeps a submission, and holds the branch where it is. A ref that a crash left without its
// operation goes to the attic.
func (s *site) reviewRefs(ctx context.Context, t *board.Task, commit gitio.OID) ([]gitio.RefUpdate, error) {
	ref := reviewRef(t.ID, t.Submissions()+1)
	old, err := s.repo.Ref(ctx, ref)
	if err != nil {
		return nil, err
	}
	refs := []gitio.RefUpdate{{Ref: Branch(t.ID), Old: commit, New: commit}, {Ref: ref, Old: old, New: commit}}
	if old.IsZero() || old == commit {
		return refs, nil
	}
	attic, err := s.attic(ctx, t.ID)
	return append(refs, gitio.RefUpdate{Ref: atticRef(t.ID, attic.next), Old: gitio.ZeroOID, New: old}), err
}
