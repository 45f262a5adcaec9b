package audit

import (
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
)

// evidence is what one operation says about the repository.
type evidence struct {
	commit  gitio.OID // of the board
	subject string
	needs   []need
	lands   *landing
	clean   [2]gitio.OID // commits that are said to merge without a conflict
	handed  *handed      // work that was handed to review
}

// need is an object that an operation names.
type need struct {
	field string
	oid   gitio.OID
	kind  gitio.ObjectType
}

// landing is a recorded move of integration.
type landing struct {
	before, after gitio.OID // before is zero where it was not recorded
	review        gitio.OID // the approved commit, zero for a human's landing
	mergeType     string
	computed      bool // the merge is the commit that git liza made, or the approved one; not one that was found
}

// handed is a submission.
type handed struct {
	task         string
	commit, base gitio.OID
}

// collect notes what an operation, just carried out on p.state, says beyond the board.
func (p *replay) collect(l *link) {
	e := evidence{commit: l.oid, subject: subject(l.commit)}
	commit := func(field, oid string) {
		if oid != "" {
			e.needs = append(e.needs, need{field, gitio.OID(oid), gitio.CommitObject})
		}
	}
	spec := func(oid string, notLooked bool) {
		if oid != "" {
			e.needs = append(e.needs, need{"spec_oid", gitio.OID(oid), gitio.BlobObject})
		} else if notLooked {
			p.report.Attested[AttestedSpec]++
		}
	}
	if holder := board.LeaseWanted(p.state, l.op); holder != "" && p.state.Agent(holder) != nil {
		p.report.Attested[AttestedLease]++
	}
	switch o := l.op.Payload.(type) {
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
		e.handed = &handed{o.Task, gitio.OID(o.Commit), gitio.OID(o.ReviewBase)}
		p.report.Attested[AttestedWorktree]++
	case *board.HandOff, *board.Verdict:
		p.report.Attested[AttestedWorktree]++
	case *board.Merge:
		commit("review_commit", o.ReviewCommit)
		commit("before", o.Before)
		commit("merge_commit", o.MergeCommit)
		if o.Test != "" || o.Failure == board.FailTest {
			p.report.Attested[AttestedTest]++
		}
		if o.Failure == "" {
			e.lands = &landing{gitio.OID(o.Before), gitio.OID(o.MergeCommit), gitio.OID(o.ReviewCommit), o.MergeType, true}
		}
	case *board.FinishMerge:
		commit("review_commit", o.ReviewCommit)
		commit("merge_commit", o.MergeCommit)
		base := gitio.OID(p.state.Task(o.Task).ReviewBase)
		if o.MergeType == board.MergeCommitType {
			base = gitio.ZeroOID // its first parent
		}
		e.lands = &landing{base, gitio.OID(o.MergeCommit), gitio.OID(o.ReviewCommit), o.MergeType, false}
	case *board.RetryMerge:
		commit("onto", o.Onto)
		e.clean = [2]gitio.OID{gitio.OID(o.Onto), gitio.OID(o.ReviewCommit)}
	case *board.Land:
		commit("before", o.Before)
		commit("commit", o.Commit)
		e.lands = &landing{before: gitio.OID(o.Before), after: gitio.OID(o.Commit)}
	}
	if len(e.needs) > 0 {
		p.evidence = append(p.evidence, e)
	}
}

// position is where integration was when an operation was recorded, zero when it doesn't say.
func (e evidence) position() gitio.OID {
	if e.lands != nil {
		return e.lands.before
	}
	for _, n := range e.needs {
		if n.field == "base_commit" || n.field == "before" {
			return n.oid
		}
	}
	return gitio.ZeroOID
}
