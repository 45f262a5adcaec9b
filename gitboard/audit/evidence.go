package audit

import (
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// evidence is what one operation claims about the repository.
type evidence struct {
	commit  plumbing.OID // of the board
	subject string
	needs   []need
	lands   *landingEvidence
	clean   [2]plumbing.OID // commits that should merge without a conflict
	handed  *handed         // the submitted work
	comment *comment
	rejects *rejection
}

// rejection is a verdict whose blockers name places of the submission.
type rejection struct {
	says *board.Verdict
	base plumbing.OID // of the review
}

// need is an object that an operation refers to.
type need struct {
	field string
	oid   plumbing.OID
	kind  plumbing.ObjectType
}

// comment is a comment on a line of a submission.
type comment struct {
	says *board.Comment
	base plumbing.OID // of the review
}

// landingEvidence is a recorded move of integration, with the evidence needed to check it.
type landingEvidence struct {
	before, after plumbing.OID
	review        plumbing.OID    // the commit that was merged, zero for a plain landing
	human         bool            // a human landed it; otherwise it was approved
	undoes        [2]plumbing.OID // of a revert: a merge commit, and where integration was before it
	base          plumbing.OID    // the commit that its review began at; it has to be on integration before
	mergeType     string
	as            *board.LandedAs // of a merge whose branch has earlier work of integration in another form
	files         []string        // all files that a human's landing changes; empty for any
}

// handed is a submission.
type handed struct {
	task         string
	commit, base plumbing.OID
	claimed      plumbing.OID // the commit that the claim began on
	says         *board.Submit
	globs        []string           // what counted as a test then
	policy       board.ReviewPolicy // of then
	of           *board.Task        // once it was submitted
}

// collect collects what an operation, just applied to p.state, claims about the repository.
func (p *replay) collect(l *entry) {
	e := evidence{commit: l.oid, subject: subject(l.commit)}
	commit := func(field, oid string) {
		if oid != "" {
			e.needs = append(e.needs, need{field, plumbing.OID(oid), plumbing.CommitObject})
		}
	}
	spec := func(oid string, notLooked bool) {
		if oid != "" {
			e.needs = append(e.needs, need{"spec_oid", plumbing.OID(oid), plumbing.BlobObject})
		} else if notLooked {
			p.report.Attested[AttestedSpec]++
		}
	}
	if holder := board.LeaseWanted(p.state, l.op); holder != "" && p.state.Agent(holder) != nil {
		p.report.Attested[AttestedLease]++
		p.shows(holder, l.op)
	}
	switch o := l.op.Payload.(type) {
	case *board.Init:
		p.begun = plumbing.OID(o.Start)
	case *board.AddTask:
		spec(o.SpecOID, o.NoSpecFile)
	case *board.Finalize:
		spec(o.SpecOID, o.NoSpecFile)
	case *board.AmendTask:
		spec(o.SpecOID, false)
	case *board.Claim:
		commit("base_commit", o.BaseCommit)
	case *board.Submit:
		commit("commit", o.Commit)
		commit("review_base", o.ReviewBase)
		e.handed = &handed{o.Task, plumbing.OID(o.Commit), plumbing.OID(o.ReviewBase), plumbing.OID(p.state.Task(o.Task).BaseCommit), o, p.state.Config().TestGlobs, p.state.Team().ReviewPolicy(p.state.Task(o.Task).InStage()), p.state.Task(o.Task)}
		p.report.Attested[AttestedWorktree]++
	case *board.Comment:
		commit("commit", o.Commit)
		e.comment = &comment{o, plumbing.OID(p.state.Task(o.Task).ReviewBase)}
	case *board.HandOff:
		p.report.Attested[AttestedWorktree]++
	case *board.Verdict:
		p.report.Attested[AttestedWorktree]++
		if o.Rejection != nil && len(o.Rejection.Blockers) > 0 {
			commit("commit", o.Commit)
			e.rejects = &rejection{o, plumbing.OID(p.state.Task(o.Task).ReviewBase)}
		}
	case *board.Merge:
		commit("review_commit", o.ReviewCommit)
		commit("before", o.Before)
		commit("merge_commit", o.MergeCommit)
		if o.Test != "" || o.Failure == board.FailTest {
			p.report.Attested[AttestedTest]++
		}
	case *board.FinishMerge:
		commit("review_commit", o.ReviewCommit)
		commit("merge_commit", o.MergeCommit)
		commit("before", o.Before)
		p.report.Attested[AttestedFound]++
	case *board.RetryMerge:
		commit("onto", o.Onto)
		e.clean = [2]plumbing.OID{plumbing.OID(o.Onto), plumbing.OID(o.ReviewCommit)}
	case *board.Land:
		commit("before", o.Before)
		commit("commit", o.Commit)
		commit("merged", o.Merged)
		if o.As != nil {
			commit("as.head", o.As.Head)
			commit("as.landed", o.As.Landed)
			commit("as.before", o.As.Before)
		}
	case *board.Revert:
		commit("before", o.Before)
		commit("commit", o.Commit)
		commit("merged", o.Merged)
	case *board.Attest:
		commit("commit", o.Commit)
	}
	e.lands = landingEvidenceOf(l.op, p.state)
	if len(e.needs) > 0 {
		p.evidence = append(p.evidence, e)
	}
}

// shows notes whether an operation shows the lease of the agent whose claim it takes. A lease that
// an earlier operation showed and ended no longer counts for later ones.
func (p *replay) shows(holder string, op board.Operation) {
	switch {
	case holder == op.Actor.ID:
	case op.Payload.(interface{ ShownLease() *board.Lease }).ShownLease() != nil: // each that may take a claim has it
		p.shown[holder] = true
	case !p.shown[holder]:
		p.unshown = append(p.unshown, holder)
	}
}

// landingEvidenceOf returns the move of integration that an operation on the board s records, with
// what proves it; nil for none.
func landingEvidenceOf(op board.Operation, s *board.State) *landingEvidence {
	l := op.Landing()
	if l == nil {
		return nil
	}
	e := &landingEvidence{before: plumbing.OID(l.Before), after: plumbing.OID(l.After)}
	switch p := op.Payload.(type) {
	case *board.Merge:
		e.review, e.base, e.mergeType = plumbing.OID(p.ReviewCommit), reviewBase(s, p.Task), p.MergeType
	case *board.FinishMerge:
		e.before, e.review, e.base, e.mergeType = plumbing.OID(p.Before), plumbing.OID(p.ReviewCommit), reviewBase(s, p.Task), p.MergeType
		if p.MergeType == board.FastForward && e.base != "" {
			e.before = e.base // the commits after it were reviewed
		}
	case *board.Land:
		e.files, e.as = p.Files, p.As
		e.computed(p.Commit, p.Merged)
	case *board.Revert:
		e.computed(p.Commit, p.Merged)
		if t := s.Task(p.Task); t != nil {
			e.undoes = [2]plumbing.OID{plumbing.OID(t.MergeCommit), plumbing.OID(t.MergedOn())}
		}
	}
	return e
}

// computed notes that a human's landing is the merge of a commit, if it is.
func (e *landingEvidence) computed(commit, merged string) {
	e.human, e.review = true, plumbing.OID(merged)
	if merged != "" && commit != merged {
		e.mergeType = board.MergeCommitType
	}
}

// brought is the merged commit in words.
func (e *landingEvidence) brought() string {
	if e.human {
		return "the commit " + string(e.review)
	}
	return "the approved commit " + string(e.review)
}

func reviewBase(s *board.State, task string) plumbing.OID {
	if t := s.Task(task); t != nil {
		return plumbing.OID(t.ReviewBase)
	}
	return ""
}

// position is where integration was when an operation was recorded, zero if unknown.
func (e evidence) position() plumbing.OID {
	if e.lands != nil {
		return e.lands.before
	}
	for _, n := range e.needs {
		if n.field == "base_commit" || n.field == "before" {
			return n.oid
		}
	}
	return plumbing.ZeroOID
}
