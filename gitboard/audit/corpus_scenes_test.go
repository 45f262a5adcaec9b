package audit_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// takes claims a task whose holder's lease has expired.
func (w *world) takes(a board.Actor, holder, id string) {
	p := &board.Claim{About: about(id), Clone: "clone-2", Evidence: w.lapsed(holder)}
	if t := w.task(id); board.KindOfClaim(t, a.ID).Fresh {
		p.BaseCommit, p.Kept = string(w.integration), t.BaseCommit
	}
	w.do(a, p)
}

// claims covers the ways in which work changes hands.
func (w *world) claims() {
	// The same coder claims again after its lease expired, then another one does.
	w.reach(board.Claimed, "expired", 0, 0)
	w.takes(coder1, coder1.ID, "expired")
	w.takes(coder2, coder1.ID, "expired")
	w.finish("expired")

	// After a rejection the author returns. Then others may take the task: because it was freed, or
	// because its author is gone.
	w.reach(board.Rejected, "rejected", 0, 0)
	w.claim(coder1, "rejected")
	w.preExec(coder1, "rejected")
	w.submit(coder1, "rejected")
	w.judge(judge2, "rejected", board.VerdictRejected)
	w.do(planner, &board.Reassign{About: about("rejected")})
	w.claim(coder2, "rejected")
	w.preExec(coder2, "rejected")
	w.submit(coder2, "rejected")
	w.judge(judge1, "rejected", board.VerdictRejected)
	w.takes(coder1, coder2.ID, "rejected")
	w.finish("rejected")

	// A review is taken over after the review lease expired, and a submission is withdrawn during
	// the review.
	w.reach(board.ReadyForReview, "review", 0, 0)
	w.do(judge1, &board.ClaimReview{About: about("review")})
	w.do(judge2, &board.ClaimReview{About: about("review"), Evidence: w.lapsed(judge1.ID)})
	w.do(coder1, &board.Withdraw{About: about("review"), Evidence: w.lapsed(judge2.ID)})
	w.finish("review")

	// An integration fix, from the conflict to the merge.
	w.reach(board.IntegrationFailed, "fix", 0, 0)
	w.claim(coder2, "fix")
	w.preExec(coder2, "fix")
	work := w.submit(coder2, "fix")
	w.judge(judge2, "fix", board.VerdictApproved)
	w.merge("fix", work)
	undo, at := w.undo("fix")
	w.do(ada, undo, w.lands(at))

	// A commit made before the checkpoint is flagged for the reviewer if the board is configured
	// so.
	w.do(ada, &board.SetConfig{Key: "early_commits", Value: "flag"})
	w.reach(board.Claimed, "early", 0, 0)
	w.handIn("early", func(p *board.Submit) {
		check(w.t, w.store.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: "refs/liza/review/early/1", New: plumbing.OID(p.Commit)}}, ""))
	})
	w.do(ada, &board.SetConfig{Key: "early_commits", Value: "refuse"})
	w.finish("early")

	// A resumed hand-off keeps its checkpoint and its iteration.
	w.fine("handed", 0, 0)
	w.claim(coder1, "handed")
	w.preExec(coder1, "handed")
	w.do(coder1, &board.HandOff{About: about("handed"), Summary: "half", NextAction: "the rest"})
	w.claim(coder2, "handed")
	work = w.submit(coder2, "handed")
	w.judge(judge1, "handed", board.VerdictApproved)
	w.merge("handed", work)
	w.idle()

	// Released by the holder, by force, and in a sweep.
	for i, p := range []*board.Release{{Reason: "out of time"}, {Reason: "I need it", Force: true}, {Reason: "its lease had expired", Evidence: w.lapsed(coder1.ID)}} {
		p.Task = fmt.Sprintf("released-%d", i+1)
		w.reach(board.Claimed, p.Task, 0, 0)
		p.Kept = w.task(p.Task).BaseCommit
		w.do([]board.Actor{coder1, ada, judge1}[i], p)
		w.finish(p.Task)
	}

	// After registering again over an expired lease, the agent still owns its work.
	w.reach(board.Claimed, "again", 0, 0)
	w.do(board.Actor{ID: coder1.ID, Role: coder1.Role, Session: "another"}, &board.Register{Session: "another", Clone: "clone-1", Evidence: w.lapsed(coder1.ID)})
	w.do(coder1, &board.Register{Session: coder1.Session, Clone: "clone-1"})
	w.finish("again")
}

// blocks covers the limits and the ways to continue after each.
func (w *world) blocks() {
	// Hypothesis exhaustion: two attempts fail.
	w.reach(board.Unclaimed, "exhausted", 0, 0)
	for _, coder := range []board.Actor{coder1, coder2} {
		w.claim(coder, "exhausted")
		w.preExec(coder, "exhausted")
		w.submit(coder, "exhausted")
		w.judge(judge1, "exhausted", board.VerdictRejected)
		w.claim(coder, "exhausted")
		w.do(coder, &board.Block{About: about("exhausted"), Reason: "I don't see it", Questions: []string{"is it possible?"}})
		if coder == coder1 {
			w.do(planner, &board.Unblock{About: about("exhausted")})
		}
	}
	w.do(planner, &board.AmendTask{About: about("exhausted"), Definition: board.Definition{DoneWhen: "hello prints goodbye"}, Set: []string{"done_when"}, Reason: "the other way round"})
	w.do(planner, &board.Unblock{About: about("exhausted"), Assessment: "it is clear now"})
	w.finish("exhausted")

	// A checkpoint with too many assumptions.
	w.reach(board.Claimed, "assumed", 0, 0)
	w.do(coder1, &board.PreExec{About: about("assumed"), Checkpoint: board.Checkpoint{
		Intent: "greet", Validation: "hello", FilesToModify: []string{"a.go"}, Assumptions: []string{"a", "b", "c", "d"}}})
	w.do(planner, &board.Answer{About: about("assumed"), Text: "all four hold"})
	w.finish("assumed")

	// A review deadlock, resolved in each way.
	for i, mode := range []string{board.UnblockFresh, board.UnblockKeepWork, board.UnblockSameCoder} {
		id := fmt.Sprintf("deadlock-%d", i+1)
		w.reach(board.ReadyForReview, id, 0, 2)
		w.judge(judge1, id, board.VerdictRejected)
		w.claim(coder1, id)
		w.preExec(coder1, id)
		w.submit(coder1, id)
		w.judge(judge1, id, board.VerdictRejected)
		p := &board.Unblock{About: about(id), Mode: mode, Assessment: "the reviewer is right"}
		if mode == board.UnblockKeepWork {
			p.To = coder2.ID
		}
		w.do(planner, p)
		if mode == board.UnblockKeepWork {
			w.do(planner, &board.Reassign{About: about(id), Reason: "anybody may continue"})
			w.claim(coder2, id)
			w.preExec(coder2, id)
			w.submit(coder2, id)
		}
		w.finish(id)
	}

	// A superseded task, whose dependents then depend on the replacement.
	w.do(planner, &board.AddTask{About: about("large"), Definition: w.definition(), Stretch: true})
	d := w.definition()
	d.DependsOn = []string{"large", "omega"}
	w.do(planner, &board.AddTask{About: about("dependent"), Definition: d, Stretch: true})
	w.do(planner, &board.AddTask{About: about("small-1"), Definition: w.definition(), Stretch: true})
	w.do(planner, &board.AddTask{About: about("small-2"), Definition: w.definition(), Stretch: true})
	w.do(planner, &board.Supersede{About: about("large"), By: []string{"small-1", "small-2"}, Reason: "Too large for one."})
	for _, id := range []string{"dependent", "small-1", "small-2"} {
		w.finish(id)
	}
}

// beside covers the records other than tasks.
func (w *world) beside() {
	w.reach(board.Claimed, "epsilon", 0, 0)
	for _, row := range board.AnomalyTypes {
		details := map[string]board.Scalar{"note": "a: \"b\"\n#c", "number": "007"}
		for _, name := range row.Details {
			details[name] = map[string]board.Scalar{"count": "3", "debt_created": "true"}[name]
			if details[name] == "" {
				details[name] = board.Scalar("the " + name)
			}
		}
		w.do(actor(row.Who[0]), &board.LogAnomaly{Type: row.Type, Task: "epsilon", Details: details})
	}
	w.do(coder1, &board.LogAnomaly{Type: "external_blocker", Details: map[string]board.Scalar{"blocker_service": "the blocker_service"}})
	w.do(planner, &board.Trip{Pattern: "external_service_outage", Severity: "EXTERNAL_DEPENDENCY", ReportFile: "report.md"})
	w.do(ada, &board.Resolve{Text: "it is back"})
	w.do(ada, &board.Resume{Decision: "CONTINUE"})
	for i, severity := range board.Severities {
		w.do(coder1, &board.Discover{During: "epsilon", Description: "No licence", Severity: severity, Urgency: board.Urgencies[i%2], Recommendation: "MIT"})
	}
	w.do(planner, &board.ConvertDiscovery{Discovery: "disc-1", Task: "omega"})
	w.do(planner, &board.SettleDiscovery{Discovery: "disc-2", How: "deferred", Reason: "later"})
	w.do(ada, &board.SettleDiscovery{Discovery: "disc-3", How: "rejected", Reason: "never"})
	for _, to := range []string{"", "epsilon", coder1.ID, "planner", "human"} {
		w.do(ada, &board.AddNote{For: to, Message: "mind the Umlauts: ä, ö, ü\n\n\tand 漢字 \u00a0\u2028 \U0001f600\n"})
	}
	w.do(planner, &board.AddNote{For: "human", Message: "\n leading, trailing \n"})
	w.do(ada, &board.Answer{Note: "note-6", Text: "as you like"})
	w.do(planner, &board.Ack{IDs: []string{"note-1", "anomaly-1", "note-2"}})
	w.do(planner, &board.RecordSpecChange{Spec: "specs/vision.md", Change: "English only", TriggeredBy: "epsilon"})

	// A long text gets its own file, which the next operation removes or replaces.
	long := strings.Repeat("a long line of text, of which there are many\n", 200)
	w.do(ada, &board.AddNote{Message: long})
	w.do(ada, &board.AddNote{Message: long + "the end"})
	w.doSecret(ada, &board.AddNote{Message: "an example of a key: AKIAIOSFODNN7EXAMPLQ"})
	w.do(coder1, &board.HandOff{About: about("epsilon"), Summary: "half", NextAction: "the rest"})
	w.finish("epsilon")
}

// doSecret appends an operation with text that looks like a credential and is allowed.
func (w *world) doSecret(a board.Actor, p board.Payload) {
	w.allowSecret = true
	w.do(a, p)
	w.allowSecret = false
}

// settings covers modes, sprints, configuration and edits.
func (w *world) settings() {
	w.do(ada, &board.Pause{Reason: "lunch"})
	w.do(ada, &board.Resume{})
	w.do(planner, &board.SetCheckpoint{Reason: "look at it"})
	w.do(ada, &board.Resume{Decision: "ADJUST", Reason: "fine"})
	for _, c := range [][2]string{
		{"max_coder_iterations", "7"}, {"max_review_cycles", "3"}, {"lease_duration", "600"}, {"integration_test", "go test ./..."},
		{"merge_style", "no-ff"}, {"test_globs", "**/*_test.go,test/**"}, {"require_tests", "warn"}, {"early_commits", "flag"},
		{"escalation_webhook", "https://example.org/hook"}, {"worktree_setup", "npm ci"}, {"require_integration_test", "true"},
	} {
		w.do(ada, &board.SetConfig{Key: c[0], Value: c[1]})
	}
	for _, e := range [][3]string{
		{"tasks/omega.yaml", "priority", "1"}, {"tasks/omega.yaml", "extra", "{a: [1, \"2.5\", ~], b: {c: true}}"}, {"goals/goal-1.yaml", "description", "A better greeter"},
		{"sprint.yaml", "extra", "a note"}, {"notes/0/0/note-1.yaml", "message", "another"}, {"discovered/0/0/disc-4.yaml", "severity", "high"},
		{"control.yaml", "extra", "x"}, {"agents/coder-1.yaml", "extra", "[a]"}, {"board.yaml", "extra", "{n: 1}"},
	} {
		w.do(ada, &board.Write{Path: e[0], Fields: []board.FieldEdit{{Field: e[1], Value: e[2]}}, Reason: "by hand"})
	}
	w.teams()
	spec := w.project([]plumbing.OID{w.integration}, ada, map[string]string{"specs/vision.md": "# Vision\n\nEnglish.\n"})
	w.do(ada, &board.Land{Before: string(w.integration), Commit: string(spec), Files: []string{"specs/vision.md"}, Reason: "the new spec"}, w.lands(spec))
	w.do(ada, &board.Attest{SHA256: strings.Repeat("c", 64), Commit: string(spec), Type: "provenance"})
	w.do(planner, &board.HandOff{Summary: "half of the plan", NextAction: "the other half", Approach: "small tasks", Blockers: "none", NextSteps: []string{"finalize"}})
}

// writer is an agent of a role that only a team of the board has.
var writer = board.Actor{ID: "docs-writer-1", Role: roles.Coder, Session: "session-of-docs-writer-1"}

// teams gives the board a team with a role of its own, and takes it back.
func (w *world) teams() {
	t := board.BuiltinTeam()
	t.Roles = append(t.Roles, board.Role{Name: "docs-writer", Kind: board.CoderKind, CLI: "claude", Model: "m-1", Instructions: "specs/vision.md", Blob: w.specOID(), Skills: []string{"prose"}, Max: 2, Idle: 60, Tokens: 1000})
	t.Stages = append(t.Stages, board.Stage{Name: "docs", Role: "docs-writer", Test: "make docs"})
	t.Stages[0].Next = []string{"docs"}
	w.do(ada, &board.SetTeam{Team: *t})
	w.do(writer, &board.Register{Session: writer.Session, Clone: "clone-1", Host: "here", PID: 2})
	w.do(writer, &board.Deregister{})
	w.do(ada, &board.SetTeam{Team: *board.BuiltinTeam()})
}

// signatures requires signatures for a while. Keys are added, replaced and revoked.
func (w *world) signatures() {
	w.addKey(ada, false)
	w.addKey(coder1, false)
	w.do(ada, &board.SetConfig{Key: "require_signatures", Value: "true"})
	w.do(coder1, &board.Discover{Description: "It is signed", Severity: "low", Urgency: "deferred"})
	w.keys = map[string]string{coder1.ID: "a second key of coder-1"}
	w.addKey(coder1, true)
	w.do(coder1, &board.Discover{Description: "It is signed with another key", Severity: "low", Urgency: "deferred"})
	w.do(ada, &board.KeysRevoke{Key: board.KeyID(w.key(coder1).Public()), Reason: "its machine is gone"})
	w.do(ada, &board.SetConfig{Key: "require_signatures", Value: "false"})
	w.do(coder1, &board.Discover{Description: "It is not signed", Severity: "low", Urgency: "deferred"})
}

// goals covers a second goal at the same time as the first, and one that waits for it.
func (w *world) goals(needs string) {
	w.do(ada, &board.GoalStart{ID: "farewell", Text: "Say goodbye", Vision: "Guests leave, too", SpecRef: "specs/vision.md", Priority: 2})
	w.do(ada, &board.GoalStart{ID: "goal-2", Text: "Say it in French", After: "farewell", Issue: &board.Issue{Host: "git.example.org", Repo: "ada/greeter", Number: 3}})
	w.do(planner, &board.Plan{Goal: "farewell"})
	d := w.definition()
	d.DependsOn = []string{needs} // of the first goal
	w.do(planner, &board.AddTask{About: about("wave"), Definition: d})
	w.do(ada, &board.AddTask{About: about("bow"), Goal: "goal-1", Definition: w.definition()})
	w.do(planner, &board.AlignmentEntry{Goal: "farewell", Event: "planned", Summary: "one task"})
	w.do(planner, &board.Usage{Goal: "farewell", CLI: "claude", Cost: board.Cost{Input: 90, Output: 4}})
	w.do(ada, &board.GoalPriority{Goal: "farewell", Priority: 1})
	w.do(planner, &board.Abandon{About: about("wave"), Reason: "guests see themselves out"})
	w.do(planner, &board.GoalComplete{})
	w.do(ada, &board.GoalReopen{Goal: "farewell", Reason: "they stayed"})
	w.offers("farewell")
	w.do(ada, &board.GoalAbort{Goal: "farewell", Reason: "they may stay"})
	w.do(ada, &board.GoalAbort{Goal: "goal-2"})
	w.do(planner, &board.Abandon{About: about("bow"), Reason: "too much"})
}

// offers covers the pull request of a goal.
func (w *world) offers(goal string) {
	head := string(w.tip())
	w.do(ada, &board.PROpen{Goal: goal, Kind: "gitea", Host: "git.example.org", Repo: "ada/greeter", Number: 7, Base: "main", Branch: "goal/" + goal, Head: head, Draft: true, Body: "0a1b"})
	w.do(planner, &board.PRUpdate{Goal: goal, State: board.RequestOpen})
	w.do(planner, &board.PRFeedback{Goal: goal, Items: []board.Feedback{{Source: "review:1", Author: "bob", Text: "wave with the left hand"}}})
	w.do(planner, &board.PRMerged{Goal: goal, Commit: head, Kind: "squash", Head: head})
}

// ends covers the ends of sprints and of the goal.
func (w *world) ends() {
	w.do(ada, &board.SprintEnd{Reason: "enough"})
	w.do(ada, &board.Archive{Sprint: "sprint-1", Tasks: board.ToArchive(w.snapshot(w.tip()).State, "", "")})
	w.do(ada, &board.SprintStart{Deadline: w.now.Add(time.Minute), Planned: []string{"omega"}})
	w.now = w.now.Add(2 * time.Minute)
	w.do(planner, &board.Deadline{})
	w.do(ada, &board.Resume{Decision: "STOP"})
	w.do(ada, &board.Retrospective{Text: "Ask for the language first.\n\n- and early\n"})
	work := w.approved(coder1, "omega") // its merge completes the sprint
	w.merge("omega", work)
	w.do(ada, &board.SprintStart{Stretch: []string{"omega"}})
	w.idle()
	w.do(coder2, &board.Deregister{})
	fork := w.tip()
	w.do(ada, &board.Abort{Reason: "or not"})
	w.do(judge2, &board.Deregister{})
	w.do(ada, &board.Retrospective{Text: "it is over"})
	check(w.t, w.store.UpdateRefs(w.ctx, []plumbing.RefUpdate{{Ref: abortedRef, New: w.tip()}}, ""))
	w.rewind(fork)
	w.imports()
	w.goals("omega")
	w.do(planner, &board.GoalComplete{Summary: "it says hello"})
	w.do(ada, &board.Retrospective{Text: "Well done."})
}
