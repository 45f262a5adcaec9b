package audit

import (
	"context"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/oplog"
)

// Landing is what an operation says of a commit on integration: that it moved there from Before to After, or,
// when Found, that integration has After already.
type Landing struct {
	Commit        git.OID // of the board
	Before, After git.OID // Before is zero when Found
	Found         bool
}

// Push is what operations that are about to join a board say.
type Push struct {
	*Report
	State    *board.State // after the last of them
	Landings []Landing    // the oldest first
}

// Examine replays the operations of a range as Verify does, and checks what they say against what is here: what
// Verify would call a violation afterwards, for ever, is one now. integration is where that branch will be, zero
// when it is not here. The objects may be in a push's quarantine. What a board brings that is here for the first
// time stands in a history that others have verified.
//
// It stops at the first operation that is wrong, whatever else was pushed, and of a few operations it reads of the
// board before them, in log, what they need and no more. So what it costs to receive an operation does not grow with
// the board.
func Examine(ctx context.Context, repo *gitio.Repo, log *oplog.Log, r Range, integration git.OID) (*Push, error) {
	p, err := prove(ctx, repo, repo, log, r, nil)
	if err != nil {
		return nil, err
	}
	if !r.From.IsZero() && !repo.Shallow() && p.report.OK() {
		err = p.backed(ctx, repo, integration)
	}
	return &Push{Report: p.report, State: p.state, Landings: p.landings}, err
}

// backed is recheck before the refs have moved. That integration moves with what is said to have landed is not asked
// here.
func (p *replay) backed(ctx context.Context, repo *gitio.Repo, integration git.OID) error {
	missing, err := p.lookUp(ctx, repo)
	if err != nil {
		return err
	}
	var merges, submissions, comments []evidence
	for i, e := range p.evidence {
		switch {
		case len(missing[i]) > 0:
			p.lacks(e, missing[i])
			continue
		case e.lands != nil:
			sound, err := p.landed(ctx, repo, &line{}, e)
			if err != nil {
				return err
			}
			if sound && e.lands.mergeType == board.MergeCommitType {
				merges = append(merges, e)
			}
		}
		if e.handed != nil {
			submissions = append(submissions, e)
		}
		if e.comment != nil {
			comments = append(comments, e)
		}
	}
	if err := p.commented(ctx, repo, comments); err != nil {
		return err
	}
	if err := p.mergeAgain(ctx, repo, merges); err != nil {
		return err
	}
	return p.work(ctx, repo, &line{tip: integration}, submissions)
}

// Landings lists the recorded moves of integration in a range that was examined before, the oldest first.
func Landings(ctx context.Context, repo *gitio.Repo, r Range) ([]Landing, error) {
	chain, err := history(ctx, repo, repo, r)
	if err != nil {
		return nil, err
	}
	for i, oid := range chain {
		if oid == r.From {
			chain = chain[i+1:]
			break
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	batches, wait := read(ctx, repo, chain)
	defer wait()
	defer cancel()
	var all []Landing
	for promise := range batches {
		b := <-promise
		if b.err != nil {
			return nil, b.err
		}
		for _, l := range b.links {
			if landing, is := recorded(&l); is {
				all = append(all, landing)
			}
		}
	}
	return all, ctx.Err()
}

// recorded is the landing that a commit of the board records, if it does.
func recorded(l *link) (Landing, bool) {
	if l.err != nil || l.opErr != nil {
		return Landing{}, false
	}
	switch o := l.op.Payload.(type) {
	case *board.Merge:
		return Landing{l.oid, git.OID(o.Before), git.OID(o.MergeCommit), false}, o.Failure == ""
	case *board.FinishMerge:
		return Landing{l.oid, git.ZeroOID, git.OID(o.MergeCommit), true}, true
	case *board.Land:
		return Landing{l.oid, git.OID(o.Before), git.OID(o.Commit), false}, true
	}
	return Landing{}, false
}
