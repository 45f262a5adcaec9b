package audit

import (
	"context"
	"slices"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/log/codec"
)

// Strays is how far integration has been compared with the board's records, and the agents' commits
// that came to it unrecorded. Each comparison continues from the previous one.
type Strays struct {
	Board       plumbing.OID `json:"board"`
	Integration plumbing.OID `json:"integration"`
	Found       []Stray      `json:"found,omitempty"`
}

// Stray is an agent's commit that no merge or land records.
type Stray struct {
	Commit plumbing.OID `json:"commit"`
	Text   string       `json:"text"`
}

// recentOperations is how many operations the first comparison covers.
const recentOperations = 2000

// Compare looks for agents' commits that came to integration without a record since the previous
// comparison, the first time within the last 2000 operations. If integration has not moved it reads
// only one ref. It doesn't replay anything; that is for Verify. It ignores approved work: a merge
// that was interrupted or is in progress has brought it. read reads an operation.
func Compare(ctx context.Context, store log.Store, repo *git.Repo, at *log.Snapshot, since Strays, read func(context.Context, plumbing.OID) (board.Operation, error)) (Strays, error) {
	config := at.State.Config()
	if config == nil {
		return since, at.State.Err()
	}
	tip, err := store.Ref(ctx, plumbing.BranchRef(config.IntegrationBranch))
	if tip.IsZero() || tip == since.Integration { // also if it can't be read
		return since, err
	}
	if since.Integration != "" {
		o, err := repo.Objects(ctx, []string{string(since.Integration)})
		if err != nil {
			return since, err
		}
		if o[0].OID == "" {
			since = Strays{Found: since.Found} // its previous position no longer exists
		}
	}
	commits, err := operationsSince(ctx, store, repo, since.Board, at.Commit)
	if err != nil {
		return since, err
	}
	p := &replay{store: store, report: &Report{}, state: at.State}
	for _, c := range commits {
		h, err := codec.ParseHead(c.Message)
		if err != nil || !slices.Contains(positioned, h.Op) {
			continue // Verify reports commits that are not operations
		}
		op, err := read(ctx, c.OID)
		if err != nil {
			return since, err
		}
		p.evidence = append(p.evidence, evidence{commit: c.OID, lands: landingEvidenceOf(op, at.State), needs: beginnings(op.Payload)})
	}
	l := &line{branch: config.IntegrationBranch, start: since.Integration, tip: tip, end: tip, commits: map[plumbing.OID]plumbing.Commit{}, order: map[plumbing.OID]int{}}
	for i := 0; l.start.IsZero(); i++ {
		if i == len(p.evidence) {
			return Strays{Board: at.Commit, Integration: tip}, nil // the board doesn't mention it yet
		}
		at := p.evidence[i].position()
		if at.IsZero() {
			continue
		}
		o, err := repo.Objects(ctx, []string{string(at)})
		if err != nil {
			return since, err
		}
		if o[0].Type == plumbing.CommitObject {
			l.start = at
		}
	}
	if err := l.read(ctx, repo, at.State); err != nil {
		return since, err
	}
	p.moves(l)
	return p.strays(ctx, repo, at, since, tip)
}

// positioned are the operations that record where integration was.
var positioned = []string{"init", "claim", "merge", "finish-merge", "land", "revert"}

// beginnings returns the commits of integration on which an operation began.
func beginnings(p board.Payload) []need {
	switch p := p.(type) {
	case *board.Init:
		return []need{{"before", plumbing.OID(p.Start), plumbing.CommitObject}}
	case *board.Claim:
		return []need{{"base_commit", plumbing.OID(p.BaseCommit), plumbing.CommitObject}}
	}
	return nil
}

// operationsSince lists the operations after from, oldest first.
func operationsSince(ctx context.Context, store log.Store, repo *git.Repo, from, to plumbing.OID) ([]plumbing.Commit, error) {
	if from != "" {
		switch on, err := repo.History().IsAncestor(ctx, from, to); {
		case err != nil && !lacking(err):
			return nil, err
		case on:
			return store.Log(ctx, from, to)
		}
	}
	chain, err := repo.History().FirstParents(ctx, to, recentOperations)
	if err != nil {
		return nil, err
	}
	slices.Reverse(chain)
	return commitsOf(ctx, repo, chain)
}

// strays returns the newly found strays and the earlier ones that integration still has.
func (p *replay) strays(ctx context.Context, repo *git.Repo, at *log.Snapshot, since Strays, tip plumbing.OID) (Strays, error) {
	now := Strays{Board: at.Commit, Integration: tip}
	for _, s := range since.Found {
		switch still, err := repo.History().IsAncestor(ctx, s.Commit, tip); {
		case err != nil && !lacking(err):
			return since, err
		case still:
			now.Found = append(now.Found, s)
		}
	}
	if len(p.report.Findings) == 0 {
		return now, nil
	}
	approved, err := approvedWork(ctx, repo, at.State)
	if err != nil {
		return since, err
	}
	for _, f := range p.report.Findings {
		known := slices.ContainsFunc(now.Found, func(s Stray) bool { return s.Commit == f.Commit })
		if known || approved[f.Commit] {
			continue
		}
		c, err := commitOf(ctx, repo, f.Commit)
		if err != nil {
			return since, err
		}
		if len(c.Parents) > 1 && approved[c.Parents[1]] {
			continue // the merge of approved work
		}
		now.Found = append(now.Found, Stray{f.Commit, f.Text})
	}
	return now, nil
}

// approvedWork returns the commits of APPROVED tasks.
func approvedWork(ctx context.Context, repo *git.Repo, s *board.State) (map[plumbing.OID]bool, error) {
	work := map[plumbing.OID]bool{}
	for _, b := range s.Tasks() {
		if b.Status != board.Approved {
			continue
		}
		t := s.Task(b.ID)
		if t == nil {
			return nil, s.Err()
		}
		commits, err := repo.History().RevList(ctx, plumbing.OID(t.ReviewBase), plumbing.OID(t.ReviewCommit))
		if err != nil {
			return nil, err
		}
		for _, commit := range commits {
			work[commit] = true
		}
	}
	return work, s.Err()
}
