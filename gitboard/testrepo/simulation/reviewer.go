package simulation

import (
	"context"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// review continues a review, lands approved work, or looks for something to review.
func (a *player) review() {
	s := a.s
	if t := s.eye.held(a.id); t != nil {
		if !a.letGo(t) {
			a.judge(t.ID)
		}
		return
	}
	if s.chance(s.leave) {
		a.quit(false)
		return
	}
	if a.halted() || !a.news() {
		a.poll(a.live)
		return
	}
	var due []string
	for _, b := range s.eye.state().Tasks() {
		mine := b.ApprovedBy == a.id || s.now.Sub(b.StatusChangedAt.Std()) > time.Minute
		switch {
		case !s.eye.state().Runs(b.Goal):
		case b.Status == board.Approved && mine && !b.Paused:
			due = append(due, b.ID)
		case len(due) == 0 && b.Status == board.IntegrationFailed && s.chance(30):
			a.retry(b.ID)
			return
		}
	}
	if len(due) > 1 || len(due) == 1 && s.chance(400) { // a lone task waits for others
		a.after(s.span(time.Second, 5*time.Minute), func() { a.mergeDue(due) })
		return
	}
	if board.NextReview(s.eye.state(), a.id, nil, a.lapsed) == "" {
		a.poll(a.live)
		return
	}
	v := a.view()
	id := board.NextReview(v.State, a.id, nil, takeable(v))
	if id == "" {
		a.poll(a.live)
		return
	}
	a.soon(func() {
		a.do(func(context.Context, *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
			return &board.ClaimReview{About: board.About{Task: id}}, nil, nil
		}, a.orAnew(func() { a.judge(id) }))
	})
}

// judge reads for a while and then ends in one of the ways in which a review ends.
func (a *player) judge(id string) {
	s := a.s
	read := s.span(s.workMin, s.workMax/4)
	if s.chance(50) {
		a.after(read/2, func() { a.just(a.aside(id), func(*gitboard.Done, error) {}) })
	}
	switch {
	case s.chance(s.crash):
		a.after(read/2, func() { a.crash("crashes over a review") })
		return
	case s.chance(s.hang):
		a.after(read/2, a.hang)
	case s.chance(20):
		a.after(read, func() { a.quit(false) })
		return
	}
	verdict := board.VerdictApproved
	if s.chance(150 + 450*s.truth[id]) {
		verdict = board.VerdictRejected
	}
	seen := ""
	if t := s.eye.state().Task(id); t != nil {
		seen = t.ReviewCommit
	}
	a.after(read, func() {
		p := &board.Verdict{About: board.About{Task: id}, Verdict: verdict, Checked: "tests", Commit: seen}
		if verdict == board.VerdictRejected {
			p.Rejection = rejection
		}
		a.just(p, a.orAnew(a.liveSoon))
	})
}

var rejection = &board.Rejection{
	Blockers: []board.Finding{{Where: "main.go:1", Issue: "it does nothing", Why: "done_when", Suggestion: "do it"}},
	Overall:  "not yet", Spec: "n/a", Anomaly: "none", Prior: []string{"PARTIAL: half of it"},
}

// mergeDue merges the tasks that are due, as a train if there are several.
func (a *player) mergeDue(due []string) {
	if len(due) == 1 || a.s.chance(300) {
		a.merge(due[0])
		return
	}
	a.train(due[:min(len(due), a.s.eye.state().Config().MergeBatch)])
}

// errOffTheTrain says that no task is left on a train, which ends it like a refusal.
var errOffTheTrain = &board.Refusal{Code: board.CodeEmpty, Message: "no task is APPROVED"}

// train brings several tasks to integration in one transaction. Each is built on the one before it;
// the first that fails its test is recorded together with those before it. Tasks that are no longer
// approved, or that integration already has, are skipped.
func (a *player) train(ids []string) {
	s := a.s
	bad := map[string]bool{}
	for _, id := range ids {
		bad[id] = s.chance(120 * s.truth[id])
	}
	a.doAll(func(_ context.Context, v *gitboard.View) (all []board.Payload, refs []plumbing.RefUpdate, err error) {
		before := s.integration()
		tip := before
		var landed []*board.Merge
		for _, id := range ids {
			t, err := v.State.FindTask(id)
			if err != nil {
				return nil, nil, err
			}
			if _, there := s.holds(t.ReviewCommit); there || t.Status != board.Approved || t.Paused || !v.State.Runs(t.Goal) {
				continue
			}
			p := &board.Merge{About: board.About{Task: id}, ReviewCommit: t.ReviewCommit, Before: string(tip), Test: "go test ./..."}
			all = append(all, p)
			if bad[id] {
				p.Failure, p.Log = board.FailTest, "it failed"
				break
			}
			after := s.commit("merge")
			s.landed[after] = landing{tip, plumbing.OID(t.ReviewCommit)}
			p.MergeCommit, p.MergeType = string(after), board.MergeCommitType
			landed, tip = append(landed, p), after
		}
		if len(all) == 0 {
			return nil, nil, errOffTheTrain
		}
		if len(landed) > 1 {
			for _, p := range landed {
				p.Train = string(tip)
			}
			s.met["train"]++
		}
		return all, []plumbing.RefUpdate{{Ref: integrationRef, Old: before, New: tip}}, nil
	}, func(*gitboard.Done, error) { a.soon(a.live) })
}

// merge brings approved work into integration: integration and board move in one transaction.
func (a *player) merge(id string) {
	s := a.s
	failure := ""
	switch {
	case s.chance(120 * s.truth[id]):
		failure = board.FailConflict
	case s.chance(120 * s.truth[id]):
		failure = board.FailTest
	}
	a.do(func(_ context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		t, err := v.State.FindTask(id)
		if err != nil {
			return nil, nil, err
		}
		if at, there := s.holds(t.ReviewCommit); there && t.Status == board.Approved {
			return &board.FinishMerge{About: board.About{Task: id}, ReviewCommit: t.ReviewCommit, Before: string(s.landed[at].parent), MergeCommit: string(at), MergeType: board.MergeCommitType}, nil, nil
		}
		before := s.integration()
		p := &board.Merge{About: board.About{Task: id}, ReviewCommit: t.ReviewCommit, Before: string(before), Failure: failure}
		if failure != "" {
			p.Files, p.Log = []string{"main.go"}, "it failed"
			return p, nil, nil
		}
		after := s.commit("merge")
		s.landed[after] = landing{before, plumbing.OID(t.ReviewCommit)}
		p.MergeCommit, p.MergeType, p.Test = string(after), board.MergeCommitType, "go test ./..."
		return p, []plumbing.RefUpdate{{Ref: integrationRef, Old: before, New: after}}, nil
	}, func(*gitboard.Done, error) { a.soon(a.live) })
}

func (a *player) retry(id string) {
	a.do(func(_ context.Context, v *gitboard.View) (board.Payload, []plumbing.RefUpdate, error) {
		t, err := v.State.FindTask(id)
		if err != nil {
			return nil, nil, err
		}
		return &board.RetryMerge{About: board.About{Task: id}, ReviewCommit: t.ReviewCommit, Onto: string(a.s.integration())}, nil, nil
	}, func(*gitboard.Done, error) { a.soon(a.live) })
}

// inReview reports whether a task waits for the review of the plan.
func inReview(s *board.State, b board.Brief) bool {
	return b.Plan == board.PlanProposed && s.Team().PlanReviewer() != ""
}

// drafts lists the drafts that are not paused and wait for the review of the plan, or do not.
func drafts(s *board.State, proposed bool) []string {
	return slices.DeleteFunc(stuck(s, board.Draft), func(id string) bool {
		b, _ := s.BriefOf(id)
		return inReview(s, b) != proposed
	})
}

// stuck lists the tasks in one of the given states that are not paused.
func stuck(s *board.State, in ...board.Status) []string {
	var ids []string
	for _, b := range s.Tasks() {
		if slices.Contains(in, b.Status) && !b.Paused {
			ids = append(ids, b.ID)
		}
	}
	return ids
}
