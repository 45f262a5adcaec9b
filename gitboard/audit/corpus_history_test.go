package audit_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// corpusHistory writes the history that is recorded: every row of the table of transitions from
// each of its states, then cases that the rows do not distinguish, then every operation that is not
// about a task. It ends twice: with the goal completed, and on a separate branch with an abort.
func (w *world) corpusHistory() {
	w.begin()
	w.do(planner, &board.AlignmentEntry{Event: "planned", Summary: "every row of the table"})
	w.do(planner, &board.AlignmentEntry{Event: "reworded", Summary: "who is greeted", Wording: "Greet everybody"})
	w.do(planner, &board.Usage{CLI: "claude", Model: "m-1", Cost: board.Cost{Requests: 3, Input: 900, Cached: 500, Output: 40, Seconds: 12, MicroDollars: 70_000}})
	w.ready("omega") // keeps the sprint open
	n := 0
	for _, row := range board.Transitions() {
		for _, from := range row.From {
			n++
			who := row.Who[n%len(row.Who)]
			if who == roles.System || who == roles.Coder && slices.Contains([]string{"claim-review", "comment", "verdict"}, row.Op) {
				who = roles.CodeReviewer // coders review nothing unless a stage of the team says so
			}
			w.row(row, from, who, fmt.Sprintf("row-%d", n))
		}
	}
	w.claims()
	w.blocks()
	w.beside()
	w.settings()
	w.signatures()
	w.ends()
}

// fine adds a claimable task with its own limits.
func (w *world) fine(id string, iterations, cycles int) {
	d := w.definition()
	d.MaxIterations, d.MaxReviewCycles = iterations, cycles
	w.do(ada, &board.AddTask{About: about(id), Definition: d, Ready: true, Stretch: true})
}

// reach brings a new task into a state. coder-1 works on it and code-reviewer-1 reviews it.
func (w *world) reach(state board.Status, id string, iterations, cycles int) {
	if state == board.None {
		return
	}
	if state == board.Draft {
		w.do(planner, &board.AddTask{About: about(id), Definition: w.definition(), Stretch: true})
		return
	}
	w.fine(id, iterations, cycles)
	if state == board.Unclaimed {
		return
	}
	w.claim(coder1, id)
	if state == board.Claimed {
		return
	}
	if state == board.Blocked {
		w.do(coder1, &board.Block{About: about(id), Reason: "which one?", Questions: []string{"this one?", "or that one?"}, Attempted: []string{"both"}})
		return
	}
	w.preExec(coder1, id)
	w.submit(coder1, id)
	switch state {
	case board.Rejected:
		w.judge(judge1, id, board.VerdictRejected)
	case board.Approved, board.IntegrationFailed:
		w.judge(judge1, id, board.VerdictApproved)
	}
	if state == board.IntegrationFailed {
		w.fails(id, board.FailConflict)
	}
}

func (w *world) task(id string) *board.Task { return w.snapshot(w.tip()).State.Task(id) }

func (w *world) fails(id, how string) {
	p := &board.Merge{About: about(id), ReviewCommit: w.task(id).ReviewCommit, Before: string(w.integration), Failure: how, Drift: 2}
	if how == board.FailConflict {
		p.Files = []string{"main.go", "ümlaut.go"}
	} else {
		p.Test, p.Log = "go test ./...", "--- FAIL: TestHello\n\tno hello\n"
	}
	w.do(judge1, p)
}

func (w *world) lapsed(holder string) board.Evidence {
	at := w.now
	return board.Evidence{Lease: &board.Lease{Agent: holder, Session: "session-of-" + holder, Expires: at.Add(-time.Minute), Heartbeat: at.Add(-6 * time.Minute)}}
}

// actor returns an actor of a role that is otherwise idle.
func actor(role roles.Role) board.Actor {
	switch role {
	case roles.Planner:
		return planner
	case roles.Coder:
		return coder1
	case roles.CodeReviewer:
		return judge1
	}
	return ada
}

// row carries out a row of the table and then finishes the task.
func (w *world) row(row board.Transition, from board.Status, who roles.Role, id string) {
	a, iterations, cycles := actor(who), 0, 0
	if row.Op == "iteration-limit" {
		iterations = 1
	}
	if row.Op == "verdict" && row.To == board.Blocked {
		cycles = 1
	}
	if row.Op == "retry-merge" && from == board.Blocked {
		w.reach(board.IntegrationFailed, id, 0, 0)
		w.do(ada, &board.Block{About: about(id), Reason: board.HumanOverride})
	} else {
		w.reach(from, id, iterations, cycles)
	}
	t := w.task(id)
	switch row.Op {
	case "add-task":
		p := &board.AddTask{About: about(id), Definition: w.definition(), Ready: row.To == board.Unclaimed, NoSpecFile: true, Stretch: true}
		p.SpecOID = ""
		w.do(a, p)
	case "finalize":
		if row.To == board.Unclaimed && who != roles.CodeReviewer {
			w.do(a, &board.Finalize{About: about(id), SpecOID: w.specOID()})
		} else {
			w.reviewed(row, a, id)
		}
	case "reject-draft":
		w.reviewed(row, a, id)
	case "amend-task":
		if row.To == board.Draft {
			w.do(ada, planReviewed())
			defer w.do(ada, &board.SetTeam{Team: *board.BuiltinTeam()})
		}
		w.do(a, &board.AmendTask{About: about(id), Definition: board.Definition{Scope: "IN: hello.go", Priority: 2}, Set: []string{"scope", "priority"}, Reason: "narrower"})
	case "abandon":
		w.do(a, &board.Abandon{About: about(id), Reason: "not needed", Kept: t.BaseCommit})
	case "supersede":
		w.do(a, &board.Supersede{About: about(id), By: []string{"omega"}, Reason: "Omega does it, too."})
	case "claim":
		if from == board.Claimed {
			w.do(coder1, &board.HandOff{About: about(id), Summary: "half of it", NextAction: "the rest", ContextUsed: "80%", Approach: "top down", Blockers: "none", FilesModified: []string{"a.go"}, NextSteps: []string{"b.go"}})
			a = coder2
		}
		w.claim(a, id)
	case "iteration-limit":
		p := &board.IterationLimit{About: about(id)}
		if from == board.Unclaimed {
			w.claim(coder1, id)
			w.do(coder1, &board.Release{About: about(id)})
		}
		if from == board.Claimed {
			p.Evidence = w.lapsed(coder1.ID)
		}
		w.do(a, p)
	case "pre-exec":
		w.preExec(a, id)
	case "handoff":
		if from == board.ReadyForReview {
			w.do(a, &board.ClaimReview{About: about(id)})
		}
		w.do(a, &board.HandOff{About: about(id), Summary: "half of it", NextAction: "the rest"})
	case "release":
		w.release(a, from, id)
	case "submit":
		w.preExec(a, id)
		w.submit(a, id)
	case "block":
		w.do(a, &board.Block{About: about(id), Reason: "it needs a plan", Questions: []string{"which?"}})
	case "claim-review":
		w.do(a, &board.ClaimReview{About: about(id)})
	case "withdraw":
		w.do(a, &board.Withdraw{About: about(id), Reason: "one more thing"})
	case "comment":
		if a == judge1 {
			w.do(a, &board.ClaimReview{About: about(id)})
		}
		w.comment(a, id)
	case "verdict":
		verdict := board.VerdictRejected
		if row.To == board.Approved {
			verdict = board.VerdictApproved
		}
		if row.To == board.None {
			verdict = board.VerdictApproved
			w.approvals(2)
			defer w.approvals(0)
		}
		w.judge(a, id, verdict)
	case "merge":
		if row.To == board.IntegrationFailed {
			w.fails(id, board.FailTest)
			break
		}
		m, at := w.mergeCommit(id, plumbing.OID(t.ReviewCommit))
		w.do(a, m, w.lands(at))
	case "finish-merge":
		m, at := w.mergeCommit(id, plumbing.OID(t.ReviewCommit))
		w.move(at)
		w.do(a, &board.FinishMerge{About: about(id), ReviewCommit: t.ReviewCommit, Before: m.Before, MergeCommit: m.MergeCommit, MergeType: m.MergeType, Drift: 1})
	case "retry-merge":
		w.do(a, &board.RetryMerge{About: about(id), ReviewCommit: t.ReviewCommit, Onto: string(w.integration)})
	case "unblock":
		p := &board.Unblock{About: about(id), Assessment: "this one"}
		if row.To == board.Claimed {
			p.Mode = board.UnblockSameCoder
		} else {
			p.Mode, p.Kept = board.UnblockFresh, t.BaseCommit
		}
		w.do(a, p)
	case "answer":
		w.do(a, &board.Answer{About: about(id), Text: "this one"})
	case "reassign":
		if t.Status == board.Unclaimed {
			w.do(ada, &board.Write{Path: board.RecordPath(board.TaskDir, id), Fields: []board.FieldEdit{{Field: "reserved_for", Value: coder2.ID}}, Reason: "for its author"})
		}
		w.do(a, &board.Reassign{About: about(id), Reason: "fresh eyes"})
	case "pause":
		w.do(a, &board.Pause{About: about(id), Reason: "a question"})
		w.do(a, &board.Resume{About: about(id), Reason: "answered"})
	case "resume":
		w.do(a, &board.Pause{About: about(id)})
		w.do(a, &board.Resume{About: about(id)})
	case "usage":
		w.exhaust(from, id)
	default:
		w.t.Fatalf("the corpus has no scene for %s", row.Op)
	}
	w.finish(id)
}

// planReviewed is the built-in team with a review of plans.
func planReviewed() *board.SetTeam {
	team := board.BuiltinTeam()
	team.PlanReview = "code-reviewer"
	return &board.SetTeam{Team: *team}
}

// reviewed proposes a draft and, unless that is the row, has it judged.
func (w *world) reviewed(row board.Transition, a board.Actor, id string) {
	w.do(ada, planReviewed())
	finalize := &board.Finalize{About: about(id), SpecOID: w.specOID()}
	w.do(planner, finalize)
	switch {
	case row.Op == "reject-draft":
		w.do(a, &board.RejectDraft{About: about(id), Reason: "it is two tasks"})
	case row.To == board.Unclaimed:
		w.do(a, finalize)
	}
	w.do(ada, &board.SetTeam{Team: *board.BuiltinTeam()})
}

// exhaust uses up the budget of a task, or of its reviewer's run.
func (w *world) exhaust(from board.Status, id string) {
	a, key := coder1, board.KeyBudgetTask
	if from == board.ReadyForReview {
		a, key = judge1, board.KeyBudgetRun
		w.do(judge1, &board.ClaimReview{About: about(id)})
	}
	w.do(ada, &board.SetConfig{Key: key, Value: "900"})
	w.do(a, &board.Usage{Task: id, Iteration: 2, CLI: "codex", Model: "m-2", Cost: board.Cost{Input: 890, Output: 10, Seconds: 60}, Estimated: true})
	w.do(ada, &board.SetConfig{Key: key, Value: "0"})
	w.do(ada, &board.Unblock{About: about(id), Budget: 5000})
}

// release releases a claim: by its holder, by force, or in a sweep.
func (w *world) release(a board.Actor, from board.Status, id string) {
	p := &board.Release{About: about(id), Reason: "back to the pool"}
	holder := coder1.ID
	if from == board.ReadyForReview {
		w.do(judge1, &board.ClaimReview{About: about(id)})
		holder = judge1.ID
	} else {
		p.Kept = w.task(id).BaseCommit
	}
	switch {
	case a.ID == holder:
	case a.Role == roles.Human:
		p.Force = true
	default:
		p.Evidence = w.lapsed(holder)
	}
	w.do(a, p)
}

// finish brings a task from any state into a terminal one.
func (w *world) finish(id string) {
	t := w.task(id)
	if t.Status.Terminal() {
		return
	}
	if !slices.Contains([]board.Status{board.Draft, board.Unclaimed, board.Blocked}, t.Status) {
		w.do(ada, &board.Block{About: about(id), Reason: board.HumanOverride})
	}
	w.do(ada, &board.Abandon{About: about(id), Reason: "the scene is over"})
	w.idle()
}

// idle lets agents continue that handed off or wait.
func (w *world) idle() {
	for _, a := range []board.Actor{coder1, coder2, judge1} {
		switch w.snapshot(w.tip()).State.Agent(a.ID).Status {
		case board.HandedOff:
			w.do(a, &board.AgentStatusChange{Status: board.Starting, ContextPercent: 1})
			w.do(a, &board.AgentStatusChange{Status: board.Idle})
		case board.Waiting:
			w.do(a, &board.AgentStatusChange{Status: board.Idle})
		}
	}
}

// approvals sets how many reviewers have to approve.
func (w *world) approvals(n int) {
	team := board.BuiltinTeam()
	team.Stages[0].Review.Approvals = n
	w.do(ada, &board.SetTeam{Team: *team})
}
