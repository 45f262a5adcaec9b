package board_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/golden"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// The files of these tests hold what the rules decide: which outcome each operation has, and what
// becomes of it when one field of its payload, or of a record, is another. They notice a rule that
// no other test asks about. `go test ./gitboard/board -run Decisions -update` rewrites them; they
// have the texts of refusals as well.

// decision is an operation in a situation in which it is allowed.
type decision struct {
	on  *script
	who board.Actor
	p   board.Payload
}

// attempt returns the lines of an operation's result: the refusal, or its message and the records that
// it changes.
func (d decision) attempt(who board.Actor, p board.Payload) []string {
	before := d.on.state()
	op := board.Operation{Actor: who, Time: d.on.now.Add(time.Minute), Request: "r", Payload: p}
	after, err := board.Step(before, op)
	if r := (*board.Refusal)(nil); errors.As(err, &r) {
		return []string{fmt.Sprintf("%s: %s | %s", r.Code, r.Message, cmdline.Hint(r.Hint))}
	}
	if err != nil {
		return []string{err.Error()}
	}
	line, body := p.Subject(before, after, op)
	lines := append([]string{"ok: " + line}, strings.Split(strings.TrimSpace(body), "\n")...)
	lines = append(lines, fmt.Sprintf("decided by %v; if it was refused, by %v", board.DecidedBy(op, after), board.DecidedBy(op, nil)))
	for _, path := range slices.Sorted(maps.Keys(after.Changes())) {
		was, _ := before.Record(path)
		is := after.Changes()[path]
		lines = append(lines, changedLines(path, linesOf(was), linesOf(is))...)
	}
	return lines
}

func linesOf(record any) []string {
	if record == nil {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(encode(record))), "\n")
}

// changedLines are the lines of a record that are new, and those that are gone.
func changedLines(path string, was, is []string) (lines []string) {
	for _, l := range without(is, was) {
		lines = append(lines, path+" + "+l)
	}
	for _, l := range without(was, is) {
		lines = append(lines, path+" - "+l)
	}
	return lines
}

// without returns the lines that another list does not have as often.
func without(lines, others []string) (more []string) {
	count := map[string]int{}
	for _, l := range others {
		count[l]++
	}
	for _, l := range lines {
		if count[l]--; count[l] < 0 {
			more = append(more, l)
		}
	}
	return more
}

// otherTexts are what may take the place of a text.
func otherTexts(string) []string { return []string{"", "other"} }

func TestDecisions(t *testing.T) {
	var b strings.Builder
	for _, d := range decisions() {
		fmt.Fprintf(&b, "\n%s by %s\n", d.p.Op(), d.who.ID)
		usual := d.attempt(d.who, d.p)
		for _, l := range usual {
			fmt.Fprintf(&b, "    %s\n", l)
		}
		for _, who := range somebody {
			if who != d.who && board.May(who.Role, d.p.Op()) {
				tell(&b, "by "+who.ID, usual, d.attempt(who, d.p))
			}
		}
		names, copies := testrun.Bend(d.p, otherTexts)
		for _, name := range names {
			tell(&b, name, usual, d.attempt(d.who, copies[name].(board.Payload)))
		}
	}
	golden.Check(t, "testdata/decisions.txt", b.String())
}

// tell writes how an outcome differs from the usual one.
func tell(b *strings.Builder, what string, usual, lines []string) {
	differ := changedLines("", usual, lines)
	switch {
	case len(differ) == 0:
		fmt.Fprintf(b, "  %s: the same\n", what)
	case !strings.HasPrefix(lines[0], "ok"):
		fmt.Fprintf(b, "  %s: %s\n", what, lines[0])
	case strings.HasSuffix(what, `="other"`) || strings.HasSuffix(what, "=1073741824"):
		fmt.Fprintf(b, "  %s: ok\n", what) // what changes is the field
	default:
		fmt.Fprintf(b, "  %s:\n", what)
		for _, l := range differ {
			fmt.Fprintf(b, "      %s\n", l)
		}
	}
}

// TestDecisionsOnSettings writes which values each setting takes.
func TestDecisionsOnSettings(t *testing.T) {
	var b strings.Builder
	s := begun(t)
	for _, k := range board.ConfigKeys {
		for _, v := range []string{k.Value(board.DefaultConfig()), "", "-1", "0", "1", "1000000000", "true", "false", "human", "a,b", "https://example.org/hook", "file://x", "http://", ":"} {
			p := &board.SetConfig{Key: k.Name, Value: v}
			fmt.Fprintf(&b, "%s %q: %s\n", k.Name, v, decision{s, human, p}.attempt(human, p)[0])
		}
	}
	golden.Check(t, "testdata/settings.txt", b.String())
}

// TestDecisionsOnRecords writes every record of a board with one field changed, and which
// invariants that breaks. Changes that break none are left out.
func TestDecisionsOnRecords(t *testing.T) {
	var b strings.Builder
	s := everything(t)
	for _, path := range s.mem.Paths() {
		r, _ := s.mem.Record(path)
		names, copies := testrun.Bend(r, otherTexts)
		for _, name := range names {
			changed := board.NewState(s.mem, s.last)
			changed.Changes()[path] = copies[name]
			for _, v := range board.Violations(changed) {
				fmt.Fprintf(&b, "%s %s: %s\n", path, name, v)
			}
		}
	}
	golden.Check(t, "testdata/violations.txt", b.String())
}

// TestDecisionsOnSteps writes what everybody may do next with a task in each state, and with the
// board.
func TestDecisionsOnSteps(t *testing.T) {
	var b strings.Builder
	write := func(s *script, what string) {
		for _, who := range somebody {
			a := board.Asker{Actor: who, Now: s.now}
			var lines []string
			for _, step := range board.StepsOn(s.state(), a, "login") {
				fmt.Fprintf(&b, "%s, %s: %s %s\n", what, who.ID, step.Do.Name, cmdline.Hint(step.Hint()))
			}
			for _, op := range board.Ops() {
				if step, ok := board.StepOf(s.state(), a, op, ""); ok {
					fmt.Fprintf(&b, "%s, %s, the board: %s %s\n", what, who.ID, step.Do.Name, cmdline.Hint(step.Hint()))
				}
			}
			takeable := func(holder string, _ board.Brief) bool { return holder != who.ID }
			skip := func(id string) bool { return id == "login" }
			for how, next := range map[string]func(*board.State, string, func(string) bool, func(string, board.Brief) bool) string{"claims": board.NextClaim, "reviews": board.NextReview} {
				state := s.state()
				if free, all, most := next(state, who.ID, nil, never), next(state, who.ID, nil, takeable), next(state, who.ID, skip, takeable); free+all+most != "" {
					lines = append(lines, fmt.Sprintf("%s, %s %s: %q, of all %q, of others %q\n", what, who.ID, how, free, all, most))
				}
			}
			slices.Sort(lines)
			b.WriteString(strings.Join(lines, ""))
		}
	}
	write(begun(t), "at first")
	for _, status := range board.Statuses {
		write(begun(t).in(status, "login"), string(status))
	}
	bare := add("login")
	bare.DoneWhen, bare.Scope, bare.SpecRef = "", "", ""
	write(begun(t).do(planner, bare), "without a definition")
	write(proposed(t, "code-reviewer"), "proposed")
	write(deadlocked(t), "deadlocked")
	write(side(t).in(board.ReadyForReview, "login"), "two goals")
	write(begun(t).do(human, &board.SetConfig{Key: "integration_test", Value: "make"}).do(human, &board.SetConfig{Key: "require_integration_test", Value: "true"}).in(board.Approved, "login"), "tested")
	write(begun(t).in(board.ReadyForReview, "login").do(human, on("login", 1, "why?")).do(reviewer1, review("login")), "commented")
	write(begun(t).in(board.Claimed, "login").do(human, &board.Pause{About: about("login")}), "paused")
	write(begun(t).in(board.Unclaimed, "login").do(human, &board.Pause{}), "the board paused")
	write(everything(t), "everything")
	write(deadlocked(t).do(planner, &board.Unblock{About: about("login"), To: "coder-2", Assessment: "a"}), "reserved")
	write(underPolicy(t, board.ReviewPolicy{Differ: "cli"}), "another CLI")
	write(begun(t).submitted("login").do(reviewer1, review("login")), "reviewed")
	leased := begun(t).claimed("login")
	for _, left := range []time.Duration{-time.Hour, time.Hour} {
		a := board.Asker{Actor: coder2, Now: leased.now, Leases: map[string]board.Lease{"coder-1": *leased.lease("coder-1", left).Lease}}
		var lines []string
		for _, step := range board.StepsOn(leased.state(), a, "login") {
			lines = append(lines, cmdline.Hint(step.Hint()))
		}
		fmt.Fprintf(&b, "coder-2, a lease with %s left: %v\n", left, lines)
	}
	golden.Check(t, "testdata/steps.txt", b.String())
}

// everything is a board with a record of every kind, and a task in nearly every state.
func everything(t failer) *script { return begun(t).once("everything", furnish) }

// furnish adds what everything has.
func furnish(s *script) {
	bill(s)
	for _, a := range []string{"coder-4", "coder-5"} {
		s.do(agent(a), &board.Register{Session: "s-" + a, Clone: "here", Terminal: "tty1", Host: "there", PID: 7, CLI: "claude", Model: "m-1"})
	}
	s.do(human, &board.KeysAdd{Principal: "ada@example.org", Public: public('a')})
	for _, status := range []board.Status{board.Merged, board.Superseded, board.Abandoned, board.IntegrationFailed, board.Approved, board.Blocked, board.ReadyForReview} {
		s.in(status, strings.ToLower(strings.ReplaceAll(string(status), "_", "-")))
	}
	s.do(human, on("ready-for-review", 3, "why?")).do(reviewer2, review("ready-for-review"))
	s.ready("claimed", "merged").do(coder2, claim("claimed")).do(coder2, preExec("claimed"))
	s.do(coder2, &board.HandOff{About: about("claimed"), Summary: "half", NextAction: "the rest"})
	s.do(coder3, &board.Discover{During: "claimed", Description: "No licence", Severity: "high", Urgency: "immediate", Recommendation: "MIT"})
	s.do(planner, &board.Discover{Description: "No tests", Severity: "low", Urgency: "deferred"})
	s.do(coder3, &board.LogAnomaly{Type: "retry_loop", Task: "claimed", Details: map[string]board.Scalar{"count": "3", "error_pattern": "no: such file"}})
	s.do(human, &board.AddNote{For: "claimed", Message: "Mind the spec"}).do(planner, &board.AddNote{For: "human", Message: "Which port?"})
	s.do(planner, &board.RecordSpecChange{Spec: "specs/vision.md", Change: "English only", TriggeredBy: "claimed"})
	s.outage().do(planner, outage)
	s.do(human, &board.Resolve{Text: "it is back"}).do(human, &board.Resume{Decision: "CONTINUE"})
	s.do(human, plansReviewedBy("human")).do(planner, of("goal-1", "draft", "merged")).do(planner, finalize("draft"))
	s.outage()
	s.do(coder1, goOn("integration-failed")).do(coder1, preExec("integration-failed"))
}

// decisions are operations of every kind, where they are allowed. Their boards are made once.
var decisions = sync.OnceValue(func() (all []decision) {
	t := panics{}
	made := map[board.Status]*script{}
	in := func(status board.Status) *script {
		if made[status] == nil {
			made[status] = begun(t).ready("other").in(status, "login")
		}
		return made[status]
	}
	where := func(s *script, who board.Actor, payloads ...board.Payload) {
		for _, p := range payloads {
			all = append(all, decision{s, who, p})
		}
	}
	login := about("login")
	fresh, full := newScript(t), everything(t)
	where(fresh, human, &board.Init{Goal: "Ship it", SpecRef: "specs/vision.md", IntegrationBranch: "integration", Key: public('a'), PlanReview: "human"})
	where(begun(t), agent("coder-4"), &board.Register{Session: "s-coder-4", Clone: "here", Terminal: "tty1", Host: "there", PID: 7, CLI: "claude", Model: "m-1"})
	again := coder1
	again.Session = "again"
	where(in(board.Claimed), again, &board.Register{Session: "again", Clone: "here", Evidence: in(board.Claimed).lease("coder-1", -time.Hour)})
	where(full, coder3, &board.Deregister{}, &board.AgentStatusChange{Status: board.Idle, ContextPercent: 70, WaitingFor: "a limit"})

	// The life of a task.
	more := definition("other")
	more.Scope = "login/ and users/"
	more.MaxReviewCycles, more.LeaseDurationOverride, more.Stage = 3, 600, "code"
	where(in(board.Draft), planner, &board.AddTask{About: about("more"), Goal: "goal-1", Definition: more, Planned: true}, finalize("login"),
		&board.AmendTask{About: login, Definition: more, Set: []string{"depends_on", "max_review_cycles", "lease_duration_override", "scope"}},
		&board.Abandon{About: login, Reason: "Not needed."}, &board.Supersede{About: login, By: []string{"other"}, Reason: "Too large."})
	every := board.Definition{Description: "Another form", DoneWhen: "it is done", Scope: "all", SpecRef: "specs/a.md", SpecOID: sha("6"), Kind: board.Doc, Priority: 2, MaxIterations: 4, MaxReviewCycles: 3, LeaseDurationOverride: 900}
	where(in(board.Draft), planner, &board.AmendTask{About: login, Definition: every, Set: []string{"description", "done_when", "scope", "spec_ref", "kind", "priority", "max_iterations", "max_review_cycles", "lease_duration_override"}})
	where(in(board.Draft), human, &board.AddTask{About: about("more"), Definition: withSpec(definition()), Stretch: true, Ready: true})
	where(proposed(t, "plan-reviewer"), planReviewer, finalize("login"), rejectDraft("login"))
	where(proposed(t, "human"), human, finalize("login"), rejectDraft("login"))
	where(in(board.Unclaimed), planner, &board.AmendTask{About: login, Definition: withSpec(definition()), Set: []string{"spec_ref"}, Reason: "moved"}, &board.Abandon{About: login, Reason: "Not needed.", Kept: sha("9")})
	where(in(board.Unclaimed), coder1, claim("login"))
	where(in(board.Unclaimed), human, block("login"), &board.Pause{About: login, Reason: "lunch"})
	taken := claim("login")
	taken.Kept, taken.Evidence = baseCommit, in(board.Claimed).lease("coder-1", -time.Hour)
	where(in(board.Claimed), coder2, taken)
	where(begun(t).do(human, &board.SetConfig{Key: "max_coder_iterations", Value: "1"}).rejected("login"), coder1, &board.IterationLimit{About: login})
	where(in(board.Claimed), coder1, preExec("login"), block("login"), &board.Release{About: login, Reason: "out of time", Kept: sha("9")},
		&board.HandOff{About: login, Summary: "half", NextAction: "the rest", ContextUsed: "70%", Approach: "slow", Blockers: "none", FilesModified: []string{"a.go"}, NextSteps: []string{"b.go"}})
	where(in(board.Claimed), human, &board.Release{About: login, Reason: "I need it", Force: true, Kept: sha("9")}, &board.Release{About: login, Reason: "recovered", Force: true, KeepWork: true})
	where(in(board.Claimed), planner, &board.Release{About: login, Kept: sha("9"), Evidence: taken.Evidence})
	ready := begun(t).claimed("login").do(coder1, preExec("login"))
	whole := submit("login")
	whole.Tree, whole.People, whole.Early, whole.DeletedTests = sha("7"), []string{"ada@example.org"}, nil, []string{"old_test.go"}
	where(ready, coder1, whole, &board.Submit{About: login, Commit: workCommit, ReviewBase: baseCommit, Commits: 1, Files: 1, NoTestsBecause: "only text"})
	where(underPolicy(t, board.ReviewPolicy{Approvals: 2, Paths: []string{"login/**"}}, "login/**"), reviewer1, review("login"))
	where(in(board.ReadyForReview), reviewer1, review("login"))
	where(in(board.ReadyForReview), human, review("login"), on("login", 12, "why?"), &board.Block{About: login, Reason: "wait"})
	where(in(board.ReadyForReview), coder1, &board.Withdraw{About: login, Reason: "one more"})
	reviewed := begun(t).submitted("login").do(reviewer1, review("login"))
	where(reviewed, reviewer1, approve("login"), reject("login"), on("login", 12, "why?"), &board.Release{About: login, Reason: "no time"},
		&board.HandOff{About: login, Summary: "half", NextAction: "the rest"})
	review2 := review("login")
	review2.Evidence = reviewed.lease("code-reviewer-1", -time.Hour)
	where(reviewed, reviewer2, review2, &board.Release{About: login, Evidence: review2.Evidence})
	where(reviewed, coder1, &board.Withdraw{About: login, Evidence: review2.Evidence})
	commented := begun(t).submitted("login").do(human, on("login", 1, "why?")).do(reviewer1, review("login"))
	where(commented, reviewer1, &board.Verdict{About: login, Verdict: "REJECTED", Commit: workCommit, Rejection: &board.Rejection{Overall: "not yet"}})
	last := begun(t).do(human, &board.SetConfig{Key: "max_review_cycles", Value: "1"}).submitted("login").do(reviewer1, review("login"))
	where(last, reviewer1, reject("login"))
	where(in(board.Rejected), coder1, goOn("login"))
	other := claim("login")
	other.Kept, other.Evidence = workCommit, in(board.Rejected).lease("coder-1", -time.Hour)
	where(in(board.Rejected), coder2, other)
	where(in(board.Rejected), planner, &board.Reassign{About: login, Reason: "too slow"})
	tested := merge("login")
	tested.Test, tested.Train = "make", sha("e")
	failed := conflict("login")
	failed.Failure, failed.Files, failed.Log, failed.Test = board.FailTest, nil, "FAIL", "make"
	straight := merge("login")
	straight.MergeType, straight.MergeCommit = board.FastForward, workCommit
	where(in(board.Approved), reviewer1, merge("login"), straight, conflict("login"))
	where(begun(t).do(human, &board.SetConfig{Key: "integration_test", Value: "make"}).in(board.Approved, "login"), reviewer1, tested, failed)
	where(in(board.Approved), planner, &board.FinishMerge{About: login, ReviewCommit: workCommit, MergeCommit: workCommit, MergeType: board.FastForward, Drift: 1},
		&board.FinishMerge{About: login, ReviewCommit: workCommit, Before: baseCommit, MergeCommit: mergedCommit, MergeType: board.MergeCommitType})
	where(in(board.IntegrationFailed), human, retry("login"))
	where(in(board.IntegrationFailed), coder2, goOn("login"))
	where(in(board.IntegrationFailed), planner, block("login"))
	where(in(board.Blocked), planner, &board.Unblock{About: login, To: "coder-2"}, &board.Unblock{About: login, Mode: board.UnblockFresh, Kept: sha("9")},
		&board.Unblock{About: login, Mode: board.UnblockSameCoder}, &board.Answer{About: login, Text: "8080"}, &board.Answer{About: login, Text: "8080", Afresh: true, Kept: sha("9")},
		&board.Abandon{About: login, Reason: "Not needed.", Kept: sha("9")}, &board.Supersede{About: login, By: []string{"other"}, Reason: "Too large.", Kept: sha("9")})
	where(deadlocked(t), planner, &board.Unblock{About: login, To: "coder-2", Assessment: "the reviewer is right"}, &board.Unblock{About: login, Mode: board.UnblockSameCoder, Assessment: "unclear"})
	where(budgeted(t, board.KeyBudgetTask, "1000").in(board.Claimed, "login"), coder1, used("login", 5000))

	// Beside tasks.
	where(full, coder3, &board.Discover{During: "claimed", Description: "No licence", Severity: "high", Urgency: "immediate", Recommendation: "MIT"},
		&board.LogAnomaly{Type: "retry_loop", Task: "claimed", Details: map[string]board.Scalar{"count": "3", "error_pattern": "no: such file"}},
		&board.LogAnomaly{Type: "trade_off", Goal: "billing", Details: map[string]board.Scalar{"what": "a", "why": "b", "debt_created": "true"}},
		&board.Usage{Task: "claimed", Iteration: 2, CLI: "claude", Model: "m-1", Cost: board.Cost{Requests: 1, Input: 20, Cached: 3, Output: 4, Seconds: 5, MicroDollars: 6}, Estimated: true})
	where(full, planner, &board.AlignmentEntry{Goal: "billing", Event: "planned", Summary: "two tasks", Wording: "Send good invoices"}, &board.RecordSpecChange{Spec: "specs/vision.md", Change: "English", TriggeredBy: "claimed"},
		&board.RecordSpecChange{Spec: "specs/vision.md", Change: "English", Goal: "billing"}, &board.ConvertDiscovery{Discovery: "disc-1", Task: "draft"},
		&board.SettleDiscovery{Discovery: "disc-2", How: "deferred", Reason: "later"}, &board.Ack{IDs: []string{"note-1", "anomaly-1"}},
		&board.SetCheckpoint{Reason: "look"}, outage,
		&board.AddNote{For: "human", Goal: "billing", Message: "Which port?"}, &board.HandOff{Summary: "half of the plan", NextAction: "the rest"}, &board.Usage{Goal: "billing", CLI: "claude", Cost: board.Cost{Input: 9}})
	where(begun(t).do(human, &board.GoalStart{ID: "billing", Text: "Send invoices"}), planner, &board.Plan{Goal: "billing"})
	where(begun(t), human, &board.SprintEnd{Reason: "enough"})
	where(full, human, &board.AddNote{For: "claimed", Message: "Mind the spec"}, &board.AddNote{For: "coder-1", Message: "Hurry"}, &board.Land{Commit: sha("a"), Before: sha("b"), Reason: "the spec", Files: []string{"specs/vision.md"}},
		&board.GoalStart{ID: "goal-3", Text: "Say it in French", Vision: "why", SpecRef: "specs/fr.md", Priority: 2, After: "billing"}, &board.GoalAbort{Goal: "billing", Reason: "bought"},
		&board.GoalPriority{Goal: "billing", Priority: 1}, &board.Pause{Reason: "lunch"}, &board.Abort{Reason: "over"}, &board.Answer{Note: "note-2", Text: "8080"}, &board.Retrospective{Text: "well"}, &board.Retrospective{Text: board.RetrospectiveTitle + "sprint-1\n\n## What went well\n\nall\n"},
		&board.Retrospective{Text: board.RetrospectiveTitle + "sprint-2\n"}, &board.Retrospective{Text: "## What went well\n\n" + board.Unanswered + "\n"},
		&board.KeysAdd{Principal: "ada@example.org", Public: public('b'), Replaces: true}, &board.KeysAdd{Principal: "coder-1", Public: public('c')},
		&board.KeysRevoke{Key: board.KeyID(public('a')), Reason: "lost"}, withDocs(func(t *board.Team) {
			t.Roles[3] = board.Role{Name: "docs-writer", Kind: board.CoderKind, CLI: "claude", Model: "m", Instructions: "specs/docs.md", Blob: sha("5"), Skills: []string{"prose"}, Max: 2, Idle: 60, Tokens: 1000}
			t.Stages[1].Review = board.ReviewPolicy{By: []string{"code-reviewer"}, Approvals: 1, Differ: "cli", Required: true, Paths: []string{"docs/**"}}
		}))
	for _, f := range [][2]string{{"priority", "1"}, {"depends_on", "[merged]"}, {"scope", "less"}, {"status", "MERGED"}, {"description", "''"}, {"stage", "nowhere"}} {
		where(full, human, write("tasks/draft.yaml", f[0], f[1]))
	}
	for _, p := range []*board.Write{write("sprint.yaml", "scope", "{planned: [draft], stretch: []}"), write("goals/billing.yaml", "description", "Bill them"), write("config.yaml", "lease_duration", "600"),
		write("notes/0/0/note-1.yaml", "message", "another"), write("agents/coder-1.yaml", "extra", "[a]"), write("discovered/0/0/disc-1.yaml", "severity", "low")} {
		where(full, human, p)
	}
	overdue := begun(t).do(human, &board.SprintEnd{})
	overdue.do(human, &board.SprintStart{Aim: "go", Deadline: overdue.now.Add(2 * time.Minute)})
	overdue.now = overdue.now.Add(time.Hour)
	where(overdue, planner, &board.Deadline{})
	ended := begun(t).ready("other").in(board.Merged, "login").do(human, &board.SprintEnd{})
	where(ended, human, &board.SprintStart{Aim: "go", Deadline: ended.now.Add(time.Hour), Planned: []string{"other"}}, archive("sprint-1", "login"))
	done := begun(t).in(board.Merged, "login")
	where(done, planner, &board.GoalComplete{Goal: "goal-1", Summary: "all there"})
	closed := side(t).do(human, &board.GoalAbort{Goal: "billing", Reason: "bought"})
	where(closed, human, &board.GoalReopen{Goal: "billing", Reason: "not bought"})
	where(begun(t).do(human, &board.Pause{Reason: "lunch"}), human, &board.Resume{Reason: "back"})
	where(begun(t).do(planner, &board.SetCheckpoint{}), human, &board.Resume{Goal: "goal-1", Decision: "ADJUST", Reason: "fine"})
	where(begun(t).claimed("login").do(human, &board.Pause{About: login, Reason: "lunch"}), human, &board.Resume{About: login, Reason: "back"})
	tripped := begun(t).outage().do(planner, outage)
	where(tripped, human, &board.Resolve{Text: "it is back"})
	return all
})

var outage = &board.Trip{Pattern: "external_service_outage", Severity: "EXTERNAL_DEPENDENCY", ReportFile: "report.md"}

// outage logs what a trip of the breaker is about.
func (s *script) outage() *script {
	for _, a := range []board.Actor{coder1, coder2, coder3} {
		s.do(a, anomaly("external_blocker", "blocker_service", "npm"))
	}
	return s
}

func never(string, board.Brief) bool { return false }

func withSpec(d board.Definition) board.Definition {
	d.SpecOID = sha("5")
	return d
}
