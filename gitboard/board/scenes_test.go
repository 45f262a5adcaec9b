package board_test

import (
	"fmt"

	"github.com/git-liza/git-liza/gitboard/board"
)

var (
	baseCommit   = sha("b")
	workCommit   = sha("c")
	mergedCommit = sha("d")
)

// workOf returns the commit of a task's nth submission.
func workOf(n int) string {
	if n == 1 {
		return workCommit
	}
	return fmt.Sprintf("%040x", n)
}

func about(id string) board.About { return board.About{Task: id} }

func definition(depends ...string) board.Definition {
	return board.Definition{
		Description: "Add a login form", DoneWhen: "POST /login answers 200", Scope: "login/ only", SpecRef: "specs/login.md",
		Kind: board.Code, Priority: 3, DependsOn: depends,
	}
}

func add(id string, depends ...string) *board.AddTask {
	return &board.AddTask{About: about(id), Definition: definition(depends...)}
}

func finalize(id string) *board.Finalize {
	return &board.Finalize{About: about(id), SpecOID: sha("5")}
}

func claim(id string) *board.Claim {
	return &board.Claim{About: about(id), Clone: "here", BaseCommit: baseCommit}
}

// goOn claims a task and keeps its work.
func goOn(id string) *board.Claim { return &board.Claim{About: about(id), Clone: "here"} }

func preExec(id string) *board.PreExec {
	return &board.PreExec{About: about(id), Checkpoint: board.Checkpoint{
		Intent: "Write the handler", Validation: "go test ./login: ok", FilesToModify: []string{"login/login.go"},
	}}
}

func submit(id string) *board.Submit {
	return &board.Submit{About: about(id), Commit: workCommit, ReviewBase: baseCommit, Commits: 1, Files: 2, Tests: []string{"login/login_test.go"}}
}

func review(id string) *board.ClaimReview { return &board.ClaimReview{About: about(id)} }

func approve(id string) *board.Verdict {
	return &board.Verdict{About: about(id), Verdict: "APPROVED", Checked: "tests", Commit: workCommit}
}

const rejection = "Blockers: 1\n- [blocker] login/login.go:12 \u2014 an empty name is accepted\n  Why it matters: anybody gets in\n" +
	"  Suggestion: answer 400\n\nConcerns: 0\n\nOverall: not yet.\nSpec: n/a\nAnomaly: none\n"

const secondRejection = rejection + "\nPrior Feedback Status:\n- STILL PRESENT: the empty name\n"

func reject(id string) *board.Verdict {
	return &board.Verdict{About: about(id), Verdict: "REJECTED", Commit: workCommit, Rejection: parsed(secondRejection)}
}

// parsed is a rejection from its text.
func parsed(text string) *board.Rejection {
	r, err := board.ParseRejection(text)
	if err != nil {
		panic(err)
	}
	return &r
}

func merge(id string) *board.Merge {
	return &board.Merge{About: about(id), ReviewCommit: workCommit, Before: baseCommit, MergeCommit: mergedCommit, MergeType: board.MergeCommitType, Drift: 2}
}

func conflict(id string) *board.Merge {
	return &board.Merge{About: about(id), ReviewCommit: workCommit, Before: baseCommit, Failure: board.FailConflict, Files: []string{"login/login.go"}, Drift: 2}
}

func block(id string) *board.Block {
	return &board.Block{About: about(id), Reason: "the spec names no port", Questions: []string{"Which port?"}, Attempted: []string{"8080"}}
}

func (s *script) ready(id string, depends ...string) *script {
	s.t.Helper()
	return s.once(fmt.Sprint("ready ", id, depends), func(s *script) {
		s.do(planner, add(id, depends...)).do(planner, finalize(id))
	})
}

func (s *script) claimed(id string) *script {
	s.t.Helper()
	return s.once("claimed "+id, func(s *script) { s.ready(id).do(coder1, claim(id)) })
}

func (s *script) submitted(id string) *script {
	s.t.Helper()
	return s.once("submitted "+id, func(s *script) { s.claimed(id).do(coder1, preExec(id)).do(coder1, submit(id)) })
}

func (s *script) rejected(id string) *script {
	s.t.Helper()
	return s.once("rejected "+id, func(s *script) { s.submitted(id).do(reviewer1, review(id)).do(reviewer1, reject(id)) })
}

func (s *script) approved(id string) *script {
	s.t.Helper()
	return s.once("approved "+id, func(s *script) { s.submitted(id).do(reviewer1, review(id)).do(reviewer1, approve(id)) })
}

// resubmit submits new work on a task that was submitted before.
func (s *script) resubmit(id string) *board.Submit {
	p := submit(id)
	p.Commit = workOf(s.task(id).Submissions() + 1)
	return p
}

// judge sets the commit of a verdict to the submitted one.
func (s *script) judge(v *board.Verdict) *board.Verdict {
	v.Commit = s.task(v.Task).ReviewCommit
	return v
}

// again runs one more iteration of a coder that has the task: checkpoint, submission, rejection.
func (s *script) again(coder board.Actor, id string) *script {
	s.t.Helper()
	s.do(coder, preExec(id)).do(coder, s.resubmit(id)).do(reviewer1, review(id))
	return s.do(reviewer1, s.judge(reject(id)))
}

// in adds a task and brings it into a state.
func (s *script) in(status board.Status, id string) *script {
	s.t.Helper()
	switch status {
	case board.Draft:
		return s.do(planner, add(id))
	case board.Unclaimed:
		return s.ready(id)
	case board.Claimed:
		return s.claimed(id)
	case board.ReadyForReview:
		return s.submitted(id)
	case board.Rejected:
		return s.rejected(id)
	case board.Approved:
		return s.approved(id)
	case board.IntegrationFailed:
		return s.approved(id).do(reviewer1, conflict(id))
	case board.Blocked:
		return s.claimed(id).do(coder1, block(id))
	case board.Merged:
		return s.approved(id).do(reviewer1, merge(id))
	case board.Superseded:
		return s.ready(id).do(planner, add(id+"-2")).do(planner, &board.Supersede{About: about(id), By: []string{id + "-2"}, Reason: "Too large."})
	case board.Abandoned:
		return s.ready(id).do(planner, &board.Abandon{About: about(id), Reason: "Not needed."})
	}
	s.t.Fatalf("no way to %s", status)
	return nil
}
