package audit_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
)

// begin creates the board and registers the team.
func (w *world) begin() { w.beginAt("") }

// beginAt is begin where integration is known to be at a commit, "" if it is unknown.
func (w *world) beginAt(start plumbing.OID) {
	w.do(ada, &board.Init{Goal: "A greeter", SpecRef: "specs/vision.md", IntegrationBranch: "integration", Start: string(start)})
	for _, a := range []board.Actor{planner, coder1, coder2, judge1, judge2} {
		w.do(a, &board.Register{Session: a.Session, Clone: "clone-1", Host: "here", PID: 1})
		w.do(a, &board.AgentStatusChange{Status: board.Idle})
	}
}

func (w *world) definition() board.Definition {
	return board.Definition{
		Description: "Say hello", DoneWhen: "hello prints hello", Scope: "IN: main.go", SpecRef: "specs/vision.md",
		SpecOID: w.specOID(), Kind: board.Code, Priority: 3,
	}
}

// ready adds a claimable task.
func (w *world) ready(id string, needs ...string) {
	d := w.definition()
	d.DependsOn = needs
	w.do(planner, &board.AddTask{About: board.About{Task: id}, Definition: d})
	w.do(planner, &board.Finalize{About: board.About{Task: id}, SpecOID: w.specOID()})
}

func (w *world) claim(a board.Actor, id string) {
	c := &board.Claim{About: board.About{Task: id}, Clone: "clone-1"}
	if board.KindOfClaim(w.snapshot(w.tip()).State.Task(id), a.ID).Fresh {
		c.BaseCommit = string(w.integration)
	}
	w.do(a, c)
}

func (w *world) preExec(a board.Actor, id string) {
	w.checkpoint(a, id, w.snapshot(w.tip()).State.Task(id).BaseCommit)
}

// starts adds a task that a coder claims and begins to work on.
func (w *world) starts(a board.Actor, id string) {
	w.ready(id)
	w.claim(a, id)
	w.preExec(a, id)
}

// checkpoint writes a pre-execution checkpoint. head is the commit that the task's branch is at.
func (w *world) checkpoint(a board.Actor, id, head string) {
	w.do(a, &board.PreExec{About: board.About{Task: id}, Checkpoint: board.Checkpoint{
		Intent: "say it", Validation: "go test: ok", FilesToModify: []string{id + ".go"}, Assumptions: []string{"there is a console"},
		Head: head, Clock: w.now,
	}})
}

// submit commits work on a task's branch and submits it.
func (w *world) submit(a board.Actor, id string) plumbing.OID {
	base := plumbing.OID(w.snapshot(w.tip()).State.Task(id).BaseCommit)
	work := w.project([]plumbing.OID{base}, a, map[string]string{id + ".go": "// " + string(w.now), id + "_test.go": "//"})
	n := w.snapshot(w.tip()).State.Task(id).Submissions() + 1
	w.do(a, &board.Submit{
		About: board.About{Task: id}, Commit: string(work), Tree: w.tree(work), ReviewBase: string(base), Commits: 1, Files: 2, Tests: []string{id + "_test.go"},
		Verified: &board.Validation{Command: "go test ./...", Exit: 1, Output: "FAIL"},
	}, plumbing.RefUpdate{Ref: fmt.Sprintf("refs/liza/review/%s/%d", id, n), New: work})
	return work
}

var rejection = &board.Rejection{
	Blockers: []board.Finding{{Where: "main.go:1", Issue: "it says nothing", Why: "done_when", Suggestion: "print hello"}},
	Overall:  "not yet", Spec: "n/a", Anomaly: "none", Prior: []string{"RESOLVED: all of it"},
}

// comment comments on a line of a submission.
func (w *world) comment(a board.Actor, id string) {
	commit := w.snapshot(w.tip()).State.Task(id).ReviewCommit
	w.do(a, &board.Comment{About: about(id), Commit: commit, Path: id + ".go", Line: 1, Lines: 1, Text: "it says nothing"})
}

func (w *world) judge(a board.Actor, id, verdict string) {
	w.do(a, &board.ClaimReview{About: board.About{Task: id}})
	p := &board.Verdict{About: board.About{Task: id}, Verdict: verdict, Checked: "tests", Commit: w.snapshot(w.tip()).State.Task(id).ReviewCommit}
	if verdict == board.VerdictRejected {
		r := *rejection
		r.Blockers = slices.Clone(r.Blockers)
		r.Blockers[0].Where = id + ".go:1"
		p.Rejection = &r
	}
	w.do(a, p)
}

// approved brings a task from claim to APPROVED.
func (w *world) approved(a board.Actor, id string) plumbing.OID {
	w.claim(a, id)
	w.preExec(a, id)
	work := w.submit(a, id)
	w.judge(judge1, id, board.VerdictApproved)
	return work
}

// mergeCommit returns the payload of a merge by a merge commit, and that commit.
func (w *world) mergeCommit(id string, work plumbing.OID) (*board.Merge, plumbing.OID) {
	m := w.project([]plumbing.OID{w.integration, work}, coder1, nil)
	return &board.Merge{
		About: board.About{Task: id}, ReviewCommit: string(work), Before: string(w.integration), MergeCommit: string(m),
		MergeType: board.MergeCommitType, Drift: 1, Test: "go test ./...",
	}, m
}

// merge has a reviewer merge approved work.
func (w *world) merge(id string, work plumbing.OID) {
	m, at := w.mergeCommit(id, work)
	w.do(judge1, m, w.lands(at))
}

// undo returns the payload of a revert of a MERGED task, and the commit that it lands.
func (w *world) undo(id string) (*board.Revert, plumbing.OID) {
	merge, before := plumbing.OID(w.task(id).MergeCommit), plumbing.OID(w.task(id).MergedOn())
	changes := maps.Clone(w.files[before])
	for file := range w.files[merge] {
		if _, had := changes[file]; !had {
			changes[file] = gone
		} else if changes[file] == w.files[merge][file] {
			delete(changes, file)
		}
	}
	undo := w.project([]plumbing.OID{merge}, ada, changes)
	at := undo
	if w.integration != merge {
		at = w.project([]plumbing.OID{w.integration, undo}, ada, changes)
	}
	return &board.Revert{About: about(id), Before: string(w.integration), Commit: string(at), Merged: string(undo), Test: "go test ./...", Reason: "it breaks old clients"}, at
}

// merged returns the payload of a landing that merges a commit beside integration, and the merge.
func (w *world) merged(from plumbing.OID, file string) (*board.Land, plumbing.OID) {
	beside := w.project([]plumbing.OID{from}, ada, map[string]string{file: "// main"})
	at := w.project([]plumbing.OID{w.integration, beside}, ada, nil)
	return &board.Land{Before: string(w.integration), Commit: string(at), Merged: string(beside), Test: "go test ./..."}, at
}

func about(id string) board.About { return board.About{Task: id} }

// everyOperation writes a history that contains each operation at least once.
func (w *world) everyOperation() {
	w.begin()
	w.do(planner, &board.AlignmentEntry{Event: "planned", Summary: "three tasks"})

	w.ready("omega") // keeps the sprint open

	// A task's whole life, with every detour of its coder and reviewer.
	w.do(planner, &board.AddTask{About: about("alpha"), Definition: board.Definition{Description: "Alpha", Priority: 2, Kind: board.Code}})
	d := w.definition()
	w.do(planner, &board.AmendTask{About: about("alpha"), Definition: d, Set: []string{"done_when", "scope", "spec_ref"}})
	w.reviewed(board.Transition{Op: "reject-draft"}, ada, "alpha")
	w.do(planner, &board.Finalize{About: about("alpha"), SpecOID: w.specOID()})
	w.claim(coder1, "alpha")
	w.preExec(coder1, "alpha")
	w.submit(coder1, "alpha")
	w.do(coder1, &board.Withdraw{About: about("alpha"), Reason: "one more thing"})
	w.submit(coder1, "alpha")
	w.do(judge1, &board.ClaimReview{About: about("alpha")})
	w.do(judge1, &board.Release{About: about("alpha"), Reason: "out of time"})
	w.comment(ada, "alpha")
	w.judge(judge1, "alpha", board.VerdictRejected)
	w.do(planner, &board.Reassign{About: about("alpha"), Reason: "fresh eyes"})
	w.claim(coder2, "alpha")
	w.preExec(coder2, "alpha")
	w.do(coder2, &board.HandOff{About: about("alpha"), Summary: "half of it", NextAction: "the other half"})
	w.claim(coder1, "alpha")
	work := w.submit(coder1, "alpha")
	w.judge(judge2, "alpha", board.VerdictApproved)
	w.do(judge2, &board.Merge{
		About: about("alpha"), ReviewCommit: string(work), Before: string(w.integration), MergeCommit: string(work), MergeType: board.FastForward,
	}, w.lands(work))

	// A merge that fails, is retried, and lands after another one.
	w.ready("beta", "alpha")
	w.ready("gamma")
	beta, gamma := w.approved(coder1, "beta"), w.approved(coder2, "gamma")
	w.merge("gamma", gamma)
	w.do(judge1, &board.Merge{About: about("beta"), ReviewCommit: string(beta), Before: string(w.integration), Failure: board.FailConflict, Files: []string{"main.go"}})
	w.do(ada, &board.RetryMerge{About: about("beta"), ReviewCommit: string(beta), Onto: string(w.integration)})
	m, at := w.mergeCommit("beta", beta)
	w.move(at) // integration moves without the board
	w.do(coder2, &board.FinishMerge{About: about("beta"), ReviewCommit: string(beta), Before: m.Before, MergeCommit: m.MergeCommit, MergeType: m.MergeType, Drift: 1})

	// A human takes merged work off integration, and brings main in.
	undo, at := w.undo("gamma")
	w.do(ada, undo, w.lands(at))
	land, at := w.merged(work, "main.txt")
	w.do(ada, land, w.lands(at))

	// Blocks, limits, and how a planner resolves them.
	d = w.definition()
	d.MaxIterations = 1
	w.do(ada, &board.AddTask{About: about("delta"), Definition: d, Ready: true, Stretch: true})
	w.claim(coder1, "delta")
	w.do(coder1, &board.Block{About: about("delta"), Reason: "which language?", Questions: []string{"English?"}})
	w.do(ada, &board.Answer{About: about("delta"), Text: "English"})
	w.claim(coder1, "delta")
	w.do(coder1, &board.Block{About: about("delta"), Reason: "whose English?", Questions: []string{"British?"}})
	w.do(planner, &board.Unblock{About: about("delta"), Mode: board.UnblockSameCoder, Assessment: "British"})
	w.preExec(coder1, "delta")
	w.submit(coder1, "delta")
	w.judge(judge1, "delta", board.VerdictRejected)
	w.do(coder1, &board.IterationLimit{About: about("delta")})
	w.ready("epsilon")
	w.claim(coder2, "epsilon")
	w.claim(coder1, "epsilon") // from coder-2, which has no lease
	w.do(ada, &board.Release{About: about("epsilon"), Reason: "not now", Force: true})
	w.do(planner, &board.Supersede{About: about("delta"), By: []string{"epsilon"}, Reason: "Two languages in one task."})
	w.do(coder1, &board.Discover{During: "epsilon", Description: "No licence", Severity: "low", Urgency: "deferred"})
	w.do(coder1, &board.Discover{Description: "No tests at all", Severity: "high", Urgency: "immediate"})
	w.do(planner, &board.ConvertDiscovery{Discovery: "disc-2", Task: "epsilon"})
	w.do(planner, &board.SettleDiscovery{Discovery: "disc-1", How: "deferred", Reason: "later"})

	// The circuit breaker, modes, notes, settings and edits.
	for _, task := range []string{"epsilon", "alpha"} {
		w.do(coder1, &board.LogAnomaly{Type: "external_blocker", Task: task, Details: map[string]board.Scalar{"blocker_service": "registry"}})
	}
	w.do(coder1, &board.Usage{Task: "epsilon", Iteration: 1, CLI: "claude", Model: "m-1", Cost: board.Cost{Requests: 2, Input: 900, Cached: 500, Output: 40, Seconds: 12}})
	w.do(planner, &board.Trip{Pattern: "external_service_outage", Severity: "EXTERNAL_DEPENDENCY"})
	w.do(ada, &board.Resolve{Text: "the registry is back"})
	w.do(ada, &board.Resume{Decision: "CONTINUE"})
	w.do(ada, &board.AddNote{For: "epsilon", Message: "mind the Umlauts: ä, ö, ü"})
	w.do(planner, &board.Ack{IDs: []string{"note-1", "anomaly-1"}})
	w.do(planner, &board.RecordSpecChange{Spec: "specs/vision.md", Change: "English only", TriggeredBy: "delta"})
	w.do(ada, &board.Pause{Reason: "lunch"})
	w.do(ada, &board.Resume{})
	w.do(ada, &board.Pause{About: about("epsilon")})
	w.do(ada, &board.Resume{About: about("epsilon")})
	w.do(ada, &board.SetConfig{Key: "max_review_cycles", Value: "3"})
	w.do(ada, &board.Write{Path: "tasks/epsilon.yaml", Fields: []board.FieldEdit{{Field: "priority", Value: "1"}}, Reason: "urgent"})
	spec := w.project([]plumbing.OID{w.integration}, ada, map[string]string{"specs/vision.md": "# Vision\n\nEnglish.\n"})
	w.do(ada, &board.Land{Before: string(w.integration), Commit: string(spec), Reason: "the new spec"}, w.lands(spec))
	w.do(ada, &board.Attest{SHA256: strings.Repeat("c", 64), Commit: string(spec), Type: "provenance"})

	w.teams()
	w.addKey(coder1, false)
	w.do(ada, &board.KeysRevoke{Key: board.KeyID(w.key(coder1).Public()), Reason: "lost"})

	// A long text gets its own file, which the next operation removes.
	long := make([]byte, 0, 9000)
	for i := 0; len(long) < 8900; i++ {
		long = fmt.Appendf(long, "line %d of a long text\n", i)
	}
	w.do(ada, &board.AddNote{Message: string(long)})

	// Sprints, and the end of the goal.
	w.do(planner, &board.SetCheckpoint{Reason: "look at it"})
	w.do(ada, &board.Resume{Decision: "ADJUST", Reason: "fine"})
	w.do(ada, &board.SprintEnd{Reason: "enough"})
	w.do(ada, &board.SprintStart{Deadline: w.now.Add(60e9), Planned: []string{"epsilon"}})
	w.do(ada, &board.Archive{Sprint: "sprint-1", Tasks: []string{"delta"}})
	w.now = w.now.Add(100e9)
	w.do(planner, &board.Deadline{})
	w.do(ada, &board.Resume{Decision: "STOP"})
	w.do(ada, &board.Retrospective{Text: "Ask for the language first."})
	w.do(planner, &board.Abandon{About: about("epsilon"), Reason: "the goal is met"})
	w.do(planner, &board.Abandon{About: about("omega"), Reason: "the goal is met"})
	w.do(coder2, &board.Deregister{})
	before := w.tip()
	w.do(ada, &board.Abort{Reason: "or not"})
	w.rewind(before)
	w.imports()
	w.goals("alpha")
	w.do(planner, &board.GoalComplete{Summary: "it says hello"})
}
