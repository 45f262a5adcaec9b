package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/landed"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/worktrees"
)

// RevertRequest asks to take the work of a MERGED task off integration.
type RevertRequest struct {
	gitboard.Request
	Task   string
	Reason string
	Out    io.Writer // the output of the integration test, as it comes; nil discards it
}

// Revert takes the work of a MERGED task off integration. It merges a commit that undoes the work on
// top of the task's merge commit, so that later work stays; the merge is tested as those of tasks
// are, and lands only if the test passes.
func Revert(ctx context.Context, b *gitboard.Board, r RevertRequest) (*Landed, error) {
	if done, err := b.Lookup(ctx, r.Request); done != nil || err != nil {
		if err != nil {
			return nil, err
		}
		landed, err := landedAs(done)
		if err != nil {
			return nil, err
		}
		return landed, landed.catchUp(ctx, b)
	}
	since := b.Sharing().Moment()
	if _, err := Follow(ctx, b, gitboard.Moment{}); err != nil {
		return nil, err
	}
	l := &lander{b: b, r: r.Request, since: since, out: r.Out}
	l.prepare = func(ctx context.Context, v *gitboard.View, tip plumbing.OID) error { return l.undone(ctx, v, tip, r) }
	return l.land(ctx)
}

// undone prepares the revert of a task.
func (l *lander) undone(ctx context.Context, v *gitboard.View, tip plumbing.OID, r RevertRequest) error {
	t, err := v.State.FindTask(r.Task)
	if err != nil {
		return err
	}
	// The refusals that need no commit come first.
	placeholder := string(plumbing.EmptyTree)
	p := &board.Revert{About: board.About{Task: t.ID}, Before: string(tip), Commit: placeholder, Merged: placeholder, Reason: r.Reason}
	if err := v.Plan(ctx, l.r, p); err != nil && !refusedAs(err, board.CodeTests) {
		return err
	}
	before, err := l.b.Repo().Object(ctx, t.MergedOn()+"^{tree}")
	if errors.Is(err, git.ErrNotFound) {
		return board.Refusef(board.CodeMissing, "%.10s, where integration was before the merge of %s, is not in this clone", t.MergedOn(), t.ID).Way(board.ActOn("sync"))
	}
	if err != nil {
		return err
	}
	title := text.Line(t.Description, 100)
	undo, err := l.write(ctx, plumbing.Commit{
		Tree: before.OID, Parents: []plumbing.OID{plumbing.OID(t.MergeCommit)},
		Message: fmt.Sprintf("Undo task %s: %s\n\nThis reverts %s.\n", t.ID, title, t.MergeCommit),
	})
	if err != nil {
		return err
	}
	c, err := l.compute(ctx, v, tip, undo, "", t, described(fmt.Sprintf("Revert task %s: %s", t.ID, title), r.Reason))
	if err != nil {
		return err
	}
	if len(c.conflicts) > 0 {
		refusal := board.Refusef(board.CodeConflict, "later work on integration changed the same lines as %s: %s", t.ID, worktrees.Listed(c.conflicts)).
			Advise("resolve it on a branch: git switch -c undo %s && git merge %s, then: %s", v.State.Config().IntegrationBranch, undo.Short(), board.ActOn("land", "undo"))
		refusal.Task = t.ID
		return refusal
	}
	p.Commit, p.Merged, p.Test, l.p = string(c.commit), string(undo), c.command, p
	return l.prove(ctx, v, c)
}

// merged prepares the merge of a commit.
func (l *lander) merged(ctx context.Context, v *gitboard.View, tip, commit plumbing.OID, r LandRequest) error {
	branch := v.State.Config().IntegrationBranch
	as, stand, err := l.landedAs(ctx, tip, commit)
	if err != nil {
		return err
	}
	c, err := l.compute(ctx, v, tip, commit, stand, &board.Task{ID: "land"}, described(fmt.Sprintf("Merge %s into %s", text.Line(r.Commit, 100), branch), r.Reason))
	if err != nil {
		return err
	}
	if len(c.conflicts) > 0 {
		return board.Refusef(board.CodeConflict, "%s conflicts with %s: %s", text.Line(r.Commit, 60), branch, worktrees.Listed(c.conflicts)).
			Advise("resolve it on a branch: git switch -c both %s && git merge %s, then: %s", branch, text.Quote(r.Commit), board.ActOn("land", "both").With("merge", ""))
	}
	l.p = &board.Land{Commit: string(c.commit), Before: string(tip), Reason: r.Reason, Merged: string(commit), As: as, Test: c.command}
	return l.prove(ctx, v, c)
}

// landedAs finds out how earlier work of integration landed on a commit's branch in another form,
// and writes the commit that stands for it in the merge: a merge of the commit itself would bring that
// work a second time, with conflicts.
func (l *lander) landedAs(ctx context.Context, tip, commit plumbing.OID) (*board.LandedAs, plumbing.OID, error) {
	repo := l.b.Repo()
	if forward, err := repo.History().IsAncestor(ctx, tip, commit); forward || err != nil {
		return nil, "", err
	}
	head, found, err := landed.Newest(ctx, repo, tip, commit, 0)
	if errors.Is(err, git.ErrNotFound) { // unrelated histories: the merge reports that
		return nil, "", nil
	}
	if err != nil || !found.Done() {
		return nil, "", err
	}
	object, err := repo.Object(ctx, string(found.From))
	if err != nil {
		return nil, "", err
	}
	first, err := plumbing.DecodeCommit(object)
	if err != nil {
		return nil, "", err
	}
	o, err := repo.Object(ctx, string(commit)+"^{tree}")
	if err != nil {
		return nil, "", err
	}
	stand := landed.StandIn(o.OID, head, first.Parents[0])
	as := &board.LandedAs{Head: string(head), Landed: string(found.To), Before: string(first.Parents[0]), Kind: string(found.Kind)}
	return as, stand.OID, repo.WriteObjects(ctx, []plumbing.Object{stand})
}

// compute makes the candidate of a merge into integration at tip: of the commit itself, if that
// descends from it. stand, unless "", is merged in its place. task is the one that is undone; its test, or that of tasks without a stage, tests
// the candidate.
func (l *lander) compute(ctx context.Context, v *gitboard.View, tip, commit, stand plumbing.OID, task *board.Task, message string) (c *candidate, err error) {
	history := l.b.Repo().History()
	c = &candidate{view: v, task: task, base: tip}
	if has, err := history.IsAncestor(ctx, commit, tip); has || err != nil {
		if has {
			err = board.Refusef(board.CodeEmpty, "%s has %s already", v.State.Config().IntegrationBranch, commit.Short()).Way(board.ActOn("status"))
		}
		return nil, err
	}
	forward, err := history.IsAncestor(ctx, tip, commit)
	if err != nil {
		return nil, err
	}
	if forward {
		c.commit = commit
	} else {
		c.commit, err = git.KeptWhole(func() (plumbing.OID, error) {
			tree, conflicts, err := history.MergeTree(ctx, tip, cmp.Or(stand, commit))
			if err != nil || len(conflicts) > 0 {
				c.conflicts = distinct(conflicts)
				return "", err
			}
			merge, err := l.write(ctx, plumbing.Commit{Tree: tree, Parents: []plumbing.OID{tip, commit}, Message: message})
			if err != nil {
				return "", err
			}
			return merge, l.b.Repo().Upkeep().Keep(ctx, merge) // its tree was written by git
		})
	}
	if err == nil && len(c.conflicts) == 0 {
		c.command, err = testOf(ctx, l.b, c)
	}
	return c, err
}

// prove tests a candidate under the merge lease, which ends with the landing.
func (l *lander) prove(ctx context.Context, v *gitboard.View, c *candidate) (err error) {
	l.commit = c.commit
	if err := v.Plan(ctx, l.r, l.p); err != nil {
		return err
	}
	if err := l.whole(ctx, v); err != nil {
		return err
	}
	if err := l.b.Sharing().Upload(ctx, c.base, c.commit); err != nil || c.command == "" {
		return err
	}
	if _, err := following(ctx, l.b, v, c.base, c.commit); err != nil {
		return err
	}
	if l.held == nil {
		l.held, err = hold(ctx, l.b, l.r.Actor, c.commit)
	} else {
		err = l.held.lost(l.held.show(ctx, nil, nil, c.commit))
	}
	if err != nil {
		return err
	}
	t := &train{b: l.b, tests: testsOf(l.b, false)}
	var failed *failure
	err = l.held.during(ctx, renewEvery, func(ctx context.Context) (err error) {
		failed, err = t.test(ctx, &testRun{c: c, held: l.held, place: testPlace, out: l.out})
		return err
	})
	if err != nil || failed == nil {
		return l.held.lost(err)
	}
	return &TestError{Test: failed.how, Log: filepath.Join(l.b.Dir(), "logs", "merge-"+c.task.ID+".log")}
}

// TestError is the error of a landing whose test failed. The board does not record it.
type TestError struct {
	Test *worktrees.FailedError
	Log  string // the file with its output
}

func (e *TestError) Error() string { return "it is not on integration: " + e.Test.Error() }

// described is the message of a commit.
func described(title, reason string) string { return strings.TrimSpace(title+"\n\n"+reason) + "\n" }
