package recovery

import (
	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
)

// recentOperations is how far back Unrecorded looks.
const recentOperations = 2000

// Unrecorded finds agents' commits on integration that no merge or land records. Nobody repairs them without a decision
// of a human. Approved work that came there in a merge cut in half is another finding, which doctor repairs.
func Unrecorded(c *edge.Call) ([]Finding, error) {
	v, err := c.View()
	if err != nil {
		return nil, err
	}
	store := c.Opened.Log().Store()
	commits, err := store.Log(c.Ctx, git.ZeroOID, v.Commit)
	if err != nil {
		return nil, err
	}
	r := audit.Range{To: v.Commit}
	if old := len(commits) - recentOperations; old > 0 {
		r.From = commits[old-1].OID
	}
	report, err := audit.Verify(c.Ctx, store, c.Opened.Repo(), r, nil)
	if err != nil {
		return nil, err
	}
	approved, err := approvedWork(c, v.State)
	if err != nil {
		return nil, err
	}
	var found []Finding
	for _, f := range report.Findings {
		if f.Code == audit.CodeIntegration && !approved[f.Commit] {
			found = append(found, Finding{
				Kind: "unrecorded", Text: f.String(),
				Hint: "let a human look at it (git show " + f.Commit.Short() + "): nothing that continues from here can be trusted to be reviewed",
			})
		}
	}
	return found, nil
}

// approvedWork are the commits of tasks that are APPROVED.
func approvedWork(c *edge.Call, s *board.State) (map[git.OID]bool, error) {
	work := map[git.OID]bool{}
	for _, b := range s.Tasks() {
		if b.Status != board.Approved {
			continue
		}
		t := s.Task(b.ID)
		if t == nil {
			return nil, s.Err()
		}
		commits, err := c.Opened.Repo().Log(c.Ctx, git.OID(t.ReviewBase), git.OID(t.ReviewCommit))
		if err != nil {
			return nil, err
		}
		for _, commit := range commits {
			work[commit.OID] = true
		}
	}
	return work, s.Err()
}
