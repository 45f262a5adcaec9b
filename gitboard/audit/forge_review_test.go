package audit_test

import (
	"testing"

	"github.com/git-liza/git-liza/gitboard/audit"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/codec"
	"github.com/git-liza/git-liza/gitboard/git"
)

// TestForgedReviews forges approvals that a review policy forbids. verify and a server must find
// each.
func TestForgedReviews(t *testing.T) {
	w := memoryWorld(t)
	w.begin()
	team := board.BuiltinTeam()
	team.Stages[0].Review = board.ReviewPolicy{Approvals: 2, Paths: []string{"*.sql"}}
	w.do(ada, &board.SetTeam{Team: *team})
	w.ready("alpha")
	w.claim(coder1, "alpha")
	w.preExec(coder1, "alpha")
	work := w.submit(coder1, "alpha")
	w.judge(judge1, "alpha", board.VerdictApproved)
	once := w.tip()
	approval := func(a board.Actor) board.Operation {
		return board.Operation{Actor: a, Request: "f", Payload: &board.Verdict{About: about("alpha"), Verdict: "APPROVED", Commit: string(work)}}
	}
	claim := func(a board.Actor) board.Operation {
		return board.Operation{Actor: a, Request: "f", Payload: &board.ClaimReview{About: about("alpha")}}
	}
	edited := func(change func(*board.Task)) map[string][]byte {
		task := *w.snapshot(w.tip()).State.Task("alpha")
		change(&task)
		data, err := codec.Encode(&task)
		check(t, err)
		return map[string][]byte{"tasks/alpha.yaml": data}
	}
	m, _ := w.mergeCommit("alpha", work)
	for name, f := range map[string]forgery{
		"twice by one agent":      {op: claim(judge1)},
		"by its coder":            {op: approval(coder1)},
		"by who did not claim it": {op: approval(judge2)},
		"merged with too few":     {op: board.Operation{Actor: judge1, Request: "f", Payload: m}},
		"finished with too few": {op: board.Operation{Actor: judge1, Request: "f", Payload: &board.FinishMerge{
			About: about("alpha"), ReviewCommit: m.ReviewCommit, Before: m.Before, MergeCommit: m.MergeCommit, MergeType: m.MergeType}}},
		"approved with too few": {op: noteOf("f"), files: edited(func(t *board.Task) { t.Status, t.ApprovedBy = board.Approved, "code-reviewer-1" })},
		"an approval too many": {op: noteOf("f"), files: edited(func(t *board.Task) {
			t.Approvals = append(t.Approvals, board.Approval{Time: "2026-02-03T08:00:00Z", By: "code-reviewer-2"})
		})},
	} {
		t.Run(name, func(t *testing.T) {
			f.parent = once
			w.caught(t, once, w.forge(f), board.CodeWrongState, board.CodePermission, audit.CodeTree)
		})
	}

	// The second agent's verdict, with the record of an APPROVED task though a human has to approve.
	w.rewind(once)
	w.do(judge2, &board.ClaimReview{About: about("alpha")})
	w.do(judge2, approval(judge2).Payload)
	if got := w.snapshot(w.tip()).State.Task("alpha").Status; got != board.Approved {
		t.Fatal(got)
	}
	w.ready("beta")
	w.claim(coder1, "beta")
	w.preExec(coder1, "beta")
	w.submitSQL("beta")
	w.judge(judge1, "beta", board.VerdictApproved)
	w.judge(judge2, "beta", board.VerdictApproved)
	tip := w.tip()
	beta := w.snapshot(tip).State.Task("beta")
	if beta.Status != board.ReadyForReview {
		t.Fatal(beta.Status)
	}
	merge, _ := w.mergeCommit("beta", git.OID(beta.ReviewCommit))
	w.caught(t, tip, w.forge(forgery{parent: tip, op: board.Operation{Actor: judge1, Request: "g", Payload: merge}}), board.CodeWrongState)
	approved := *beta
	approved.Status, approved.ApprovedBy = board.Approved, "code-reviewer-2"
	data, err := codec.Encode(&approved)
	check(t, err)
	w.caught(t, tip, w.forge(forgery{parent: tip, op: noteOf("h"), files: map[string][]byte{"tasks/beta.yaml": data}}), audit.CodeTree)
	w.judge(ada, "beta", board.VerdictApproved)
	w.clean()
}

// submitSQL submits work for which a human has to approve.
func (w *world) submitSQL(id string) {
	base := git.OID(w.snapshot(w.tip()).State.Task(id).BaseCommit)
	work := w.project([]git.OID{base}, coder1, map[string]string{"up.sql": "--", id + "_test.go": "//"})
	w.do(coder1, &board.Submit{
		About: about(id), Commit: string(work), Tree: w.tree(work), ReviewBase: string(base), Commits: 1, Files: 2,
		Tests: []string{id + "_test.go"}, HumanPaths: []string{"*.sql"},
	})
}
