package audit

import (
	"context"
	"errors"

	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// brings reports whether an operation hands in or lands commits that no earlier operation did.
func (e evidence) brings() bool {
	return e.handed != nil || e.lands != nil && (e.lands.human || e.lands.review.IsZero())
}

// wellFormed reports submissions and a human's landings that bring malformed objects or files in a
// folder of git liza's own. A submission that was made again, or will not land, is only noted.
func (p *replay) wellFormed(ctx context.Context, repo *git.Repo, all []evidence) error {
	since := make([][2]plumbing.OID, len(all))
	for i, e := range all {
		if e.handed != nil {
			since[i] = [2]plumbing.OID{e.handed.base, e.handed.commit}
		} else {
			since[i] = [2]plumbing.OID{e.lands.before, e.lands.after}
		}
	}
	failed, err := repo.History().AllWellFormed(ctx, since)
	if err != nil {
		return err
	}
	for i, e := range all {
		malformed := (*git.MalformedError)(nil)
		if !errors.As(failed[i], &malformed) {
			if err := unlessLacking(failed[i]); err != nil {
				return err
			}
			continue // missing objects are reported otherwise
		}
		f := Finding{e.commit, e.subject, CodeEvidence, malformed.Error()}
		if e.handed != nil && p.superseded(e.handed) {
			p.report.note(f)
		} else {
			p.report.add(f)
		}
	}
	return nil
}

// superseded reports whether a submission is no longer the one of its task that may land.
func (p *replay) superseded(h *handed) bool {
	t := p.state.Task(h.task)
	return t == nil || plumbing.OID(t.ReviewCommit) != h.commit
}
