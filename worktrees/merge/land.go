package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/worktrees"
)

// LandRequest moves integration forward to a human's commit.
type LandRequest struct {
	gitboard.Request
	Commit string   // any revision
	Files  []string // only these, as they are in that commit; none for the whole commit
	Merge  bool     // bring the commit in by a merge, which is tested
	Reason string
	Out    io.Writer // the output of the integration test, as it comes; nil discards it
}

// Land moves integration forward to a commit, in one transaction with the board. The commit must be
// a fast-forward, and no checkout of integration may have changes in the way. If only some files
// are asked for, a new commit on top of integration brings them. If a merge is asked for, it is
// computed and tested as the merges of tasks are, and lands only if the test passes.
func Land(ctx context.Context, b *gitboard.Board, r LandRequest) (*Landed, error) {
	done, err := b.Lookup(ctx, r.Request)
	if err != nil {
		return nil, err
	}
	if done != nil {
		landed, err := landedAs(done)
		if err != nil {
			return nil, err
		}
		return landed, landed.catchUp(ctx, b) // the process that landed it may have died before
	}
	commit, err := b.Repo().ResolveCommit(ctx, r.Commit)
	if errors.Is(err, git.ErrNotFound) {
		return nil, board.Refuse(board.CodeInvalid, fmt.Sprintf("%q is not a commit here", text.Line(r.Commit, 60)), "git log")
	}
	if err != nil {
		return nil, err
	}
	since := b.Sharing().Moment()
	if _, err := Follow(ctx, b, gitboard.Moment{}); err != nil {
		return nil, err
	}
	v, err := b.View(ctx)
	if err != nil {
		return nil, err
	}
	tip, err := v.Integration(ctx)
	if err != nil {
		return nil, err
	}
	if err := incomplete(b.Repo().History().WholeSince(ctx, tip, commit), commit.Short(),
		board.Advice("git fetch --refetch URL REF, from a clone or a backup that has it"), board.Advice("land a commit without it, and without it in its history")); err != nil {
		return nil, err
	}
	if err := b.Sharing().Upload(ctx, tip, commit); err != nil {
		return nil, err
	}
	l := &lander{b: b, r: r.Request, since: since, out: r.Out, commit: commit}
	l.prepare = func(ctx context.Context, v *gitboard.View, tip plumbing.OID) error { return l.plain(ctx, v, tip, r) }
	switch {
	case r.Merge:
		l.prepare = func(ctx context.Context, v *gitboard.View, tip plumbing.OID) error {
			return l.merged(ctx, v, tip, commit, r)
		}
	case len(r.Files) > 0:
		l.prepare = func(ctx context.Context, v *gitboard.View, tip plumbing.OID) error {
			return l.onTop(ctx, tip, commit, r)
		}
	}
	return l.land(ctx)
}

// landedAs returns a landing as the board records it.
func landedAs(done *gitboard.Done) (*Landed, error) {
	l := done.Op.Landing()
	if l == nil || l.Found || done.Op.Actor.Role != roles.Human {
		return nil, board.Refuse(board.CodeExists, fmt.Sprintf("the request %s was carried out before, as %s", done.Op.Request, done.Op.Name()), "use another request id")
	}
	return &Landed{Done: done, Commit: plumbing.OID(l.After)}, nil
}

// lander lands one commit.
type lander struct {
	b     *gitboard.Board
	r     gitboard.Request
	since gitboard.Moment // when it was requested
	out   io.Writer       // the output of its test
	// prepare computes the commit to land and its record for integration at tip, and refuses what
	// can't land there.
	prepare func(ctx context.Context, v *gitboard.View, tip plumbing.OID) error

	tip    plumbing.OID // integration, when that was prepared
	commit plumbing.OID
	p      board.Payload
	held   *holding // while it is tested
}

// plain prepares to land a commit itself. It refuses a commit that does not descend from integration.
func (l *lander) plain(ctx context.Context, v *gitboard.View, tip plumbing.OID, r LandRequest) error {
	l.p = &board.Land{Commit: string(l.commit), Before: string(tip), Reason: r.Reason}
	if err := v.Plan(ctx, l.r, l.p); err != nil {
		return err
	}
	descends, err := l.b.Repo().History().IsAncestor(ctx, tip, l.commit)
	if err != nil || descends {
		return err
	}
	older, err := l.b.Repo().History().IsAncestor(ctx, l.commit, tip)
	if err != nil {
		return err
	}
	from := text.Quote(r.Commit)
	hint := board.Advice("just some of its files: %s", board.ActOn("land").With("spec", "PATH", "from", from))
	if !older {
		hint = board.Advice("merge the two, and test that: %s; %s", board.ActOn("land", from).With("merge", ""), hint)
	}
	return board.Refusef(board.CodeNotForward, "%s does not descend from %s (%s)", l.commit.Short(), v.State.Config().IntegrationBranch, tip.Short()).Advise("%s", hint)
}

// land prepares and records the landing, again if integration moved in between.
func (l *lander) land(ctx context.Context) (*Landed, error) {
	ctx, retries := l.b.Retries(ctx)
	for {
		done, err := l.attempt(ctx)
		switch {
		case errors.Is(err, errMoved) && retries.Spend():
			continue
		case errors.Is(err, errMoved):
			err = gitboard.Lost("land", retries, err)
		}
		if err != nil {
			_, _ = catchUpNow(ctx, l.b) // a process that died may have landed it; doctor reports what still has to follow
			return nil, errors.Join(err, l.held.release(ctx))
		}
		landed, err := landedAs(done) // perhaps by another call
		if err != nil {
			return nil, err
		}
		ctx, cancel := worktrees.Steady(ctx)
		defer cancel()
		landed.BroughtForward, landed.Warnings = follow(ctx, l.b, done.View)
		return landed, nil
	}
}

func (l *lander) attempt(ctx context.Context) (*gitboard.Done, error) {
	v, err := l.b.View(ctx)
	if err != nil {
		return nil, err
	}
	if l.tip, err = v.Integration(ctx); err != nil {
		return nil, err
	}
	if err := l.prepare(ctx, v, l.tip); err != nil {
		return nil, err
	}
	if err := l.whole(ctx, v); err != nil {
		return nil, err
	}
	if err := announced(ctx, l.b, v, l.tip, l.commit); err != nil {
		return nil, err
	}
	return l.b.Do(ctx, l.r, l.decide, gitboard.Since(l.since), gitboard.On(v))
}

// decide is the intent: integration is where it was when the landing was prepared.
func (l *lander) decide(ctx context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
	tip, err := v.Integration(ctx)
	if err != nil {
		return nil, nil, err
	}
	if tip != l.tip {
		return nil, nil, errMoved
	}
	if err := l.whole(ctx, v); err != nil {
		return nil, nil, err
	}
	free := unheld
	if l.held != nil {
		free = func(ctx context.Context, _ *gitboard.Board) (plumbing.RefUpdate, error) { return l.held.giveBack(ctx) }
	}
	lease, err := free(ctx, l.b)
	return l.p, []plumbing.RefUpdate{{Ref: v.IntegrationRef(), Old: tip, New: l.commit}, lease}, err
}

// whole refuses a commit that lacks the last landing: integration was set back, and the way back
// comes first.
func (l *lander) whole(ctx context.Context, v *gitboard.View) error {
	back := v.SetBack(ctx)
	if !refusedAs(back, board.CodeSetBack) {
		return back
	}
	has, err := l.b.Repo().History().IsAncestor(ctx, plumbing.OID(v.State.Meta().Landed), l.commit)
	if has {
		return nil
	}
	return cmp.Or(err, back)
}

// onTop prepares a commit on top of integration with only some files of another.
func (l *lander) onTop(ctx context.Context, tip, from plumbing.OID, r LandRequest) error {
	o := &overlay{repo: l.b.Repo()}
	before, err := o.treeOf(ctx, tip)
	if err != nil {
		return err
	}
	tree := before
	for _, path := range r.Files {
		file, err := o.file(ctx, from, path)
		if err != nil {
			return err
		}
		if tree, err = o.put(ctx, tree, path, file); err != nil {
			return err
		}
	}
	if tree == before {
		return board.Refusef(board.CodeEmpty, "integration has %s as %s has it already", text.Line(strings.Join(r.Files, ", "), 120), from.Short()).Way(board.ActOn("status"))
	}
	l.commit, err = l.write(ctx, plumbing.Commit{
		Tree: tree, Parents: []plumbing.OID{tip},
		Message: fmt.Sprintf("%s, as of %s\n\n%s\n", text.Line(strings.Join(r.Files, ", "), 60), from.Short(), cmp.Or(r.Reason, "Brought to integration by git liza land --spec.")),
	}, o.written...)
	l.p = &board.Land{Commit: string(l.commit), Before: string(tip), Reason: r.Reason, Files: r.Files}
	return err
}

// write stores a commit of the human, with other objects.
func (l *lander) write(ctx context.Context, c plumbing.Commit, others ...plumbing.Object) (plumbing.OID, error) {
	who, err := l.b.Repo().Settings().Identity(ctx)
	if err != nil {
		return "", gitboard.NoIdentity(err)
	}
	who.When = l.b.Now()
	c.Author, c.Committer = who, who
	commit := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(c))
	return commit.OID, l.b.Repo().WriteObjects(ctx, append(others, commit))
}
