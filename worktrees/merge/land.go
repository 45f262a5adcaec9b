package merge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/worktrees"
)

// LandRequest moves integration forward to a human's commit.
type LandRequest struct {
	gitboard.Request
	Commit string   // any revision
	Files  []string // only these, as they are in that commit; none for the whole commit
	Reason string
}

// Land moves integration forward to a commit, in one transaction with the board. The commit must be
// a fast-forward, and no checkout of integration may have changes in the way. If only some files
// are asked for, a new commit on top of integration brings them.
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
	l := &lander{b: b, r: r, since: since, commit: commit, from: commit}
	return l.land(ctx)
}

// landedAs returns a landing as the board records it.
func landedAs(done *gitboard.Done) (*Landed, error) {
	p, is := done.Op.Payload.(*board.Land)
	if !is {
		return nil, board.Refuse(board.CodeExists, fmt.Sprintf("the request %s was carried out before, as %s", done.Op.Request, done.Op.Name()), "use another request id")
	}
	return &Landed{Done: done, Commit: plumbing.OID(p.Commit)}, nil
}

type lander struct {
	b      *gitboard.Board
	r      LandRequest
	since  gitboard.Moment // when it was requested
	commit plumbing.OID
	from   plumbing.OID // the commit whose files are requested
}

// decide is the intent: the commit to land descends from the current integration, and no obstacle
// exists.
func (l *lander) decide(ctx context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
	tip, err := v.Integration(ctx)
	if err != nil {
		return nil, nil, err
	}
	if len(l.r.Files) > 0 {
		if l.commit, err = l.onTop(ctx, tip); err != nil {
			return nil, nil, err
		}
	}
	p := &board.Land{Commit: string(l.commit), Before: string(tip), Reason: l.r.Reason, Files: l.r.Files}
	if err := v.Plan(ctx, l.r.Request, p); err != nil {
		return nil, nil, err
	}
	if err := l.forward(ctx, v, tip); err != nil {
		return nil, nil, err
	}
	if err := l.whole(ctx, v); err != nil {
		return nil, nil, err
	}
	if err := announced(ctx, l.b, v, tip, l.commit); err != nil {
		return nil, nil, err
	}
	lease, err := unheld(ctx, l.b)
	if err != nil {
		return nil, nil, err
	}
	return p, []plumbing.RefUpdate{{Ref: v.IntegrationRef(), Old: tip, New: l.commit}, lease}, nil
}

// forward refuses a commit that does not descend from integration.
func (l *lander) forward(ctx context.Context, v *gitboard.View, tip plumbing.OID) error {
	descends, err := l.b.Repo().History().IsAncestor(ctx, tip, l.commit)
	if err != nil || descends {
		return err
	}
	older, err := l.b.Repo().History().IsAncestor(ctx, l.commit, tip)
	if err != nil {
		return err
	}
	branch, from := v.State.Config().IntegrationBranch, text.Quote(l.r.Commit)
	hint := board.Advice("just some of its files: %s", board.Do("land").With("spec", "PATH", "from", from))
	if !older {
		hint = board.Advice("on %s: git merge %s && %s; %s", from, branch, board.Do("land", "HEAD"), hint)
	}
	return board.Refusef(board.CodeNotForward, "%s does not descend from %s (%s)", l.commit.Short(), branch, tip.Short()).Advise("%s", hint)
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

// onTop writes a commit on top of integration with only the requested files.
func (l *lander) onTop(ctx context.Context, tip plumbing.OID) (plumbing.OID, error) {
	repo := l.b.Repo()
	o := &overlay{repo: repo}
	before, err := o.treeOf(ctx, tip)
	if err != nil {
		return "", err
	}
	tree := before
	for _, path := range l.r.Files {
		file, err := o.file(ctx, l.from, path)
		if err != nil {
			return "", err
		}
		if tree, err = o.put(ctx, tree, path, file); err != nil {
			return "", err
		}
	}
	if tree == before {
		return "", board.Refusef(board.CodeEmpty, "integration has %s as %s has it already", text.Line(strings.Join(l.r.Files, ", "), 120), l.from.Short()).Way(board.Do("status"))
	}
	who, err := repo.Settings().Identity(ctx)
	if err != nil {
		return "", gitboard.NoIdentity(err)
	}
	who.When = l.b.Now()
	commit := plumbing.NewObject(plumbing.CommitObject, plumbing.EncodeCommit(plumbing.Commit{
		Tree: tree, Parents: []plumbing.OID{tip}, Author: who, Committer: who,
		Message: fmt.Sprintf("%s, as of %s\n\n%s\n", text.Line(strings.Join(l.r.Files, ", "), 60), l.from.Short(), cmp.Or(l.r.Reason, "Brought to integration by git liza land --spec.")),
	}))
	return commit.OID, repo.WriteObjects(ctx, append(o.written, commit))
}

func (l *lander) land(ctx context.Context) (*Landed, error) {
	done, err := l.b.Do(ctx, l.r.Request, l.decide, gitboard.Since(l.since))
	if err != nil {
		_, _ = catchUpNow(ctx, l.b) // a process that died may have landed it; doctor reports what still has to follow
		return nil, err
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
