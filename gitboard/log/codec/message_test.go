package codec_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/golden"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// story runs operations on one board and keeps the first message of each kind.
type story struct {
	t        *testing.T
	state    *board.Memory
	at       board.Time
	n        int
	messages map[string]string
}

func (s *story) tell(who string, p board.Payload) {
	s.t.Helper()
	s.n++
	op := board.Operation{Actor: board.HumanActor("Ada", "ada@example.org"), Request: fmt.Sprintf("request-%d", s.n), Payload: p}
	op.Time = board.Time("2026-01-31T09:00:00Z").Add(time.Duration(s.n) * time.Minute)
	if role, err := roles.Of(who); err == nil {
		op.Actor = board.Actor{ID: who, Role: role, Session: "s-" + who}
	}
	before := board.NewState(s.state, s.at)
	after, err := board.Step(before, op)
	if err != nil {
		s.t.Fatalf("%s: %v", p.Op(), err)
	}
	message, file, err := codec.Message(before, after, op)
	testrun.Check(s.t, err)
	if file != "" {
		s.t.Fatalf("%s: a file for a short payload", p.Op())
	}
	if s.messages[p.Op()] == "" {
		s.messages[p.Op()] = message
	}
	s.state.Absorb(after)
	s.at = op.Time
}

func id(digit string) string { return strings.Repeat(digit, 40) }

var rejected = &board.Rejection{
	Blockers: []board.Finding{{Where: "login.go:12", Issue: "an empty name is accepted", Why: "anybody gets in", Suggestion: "answer 400"}},
	Overall:  "not yet.", Spec: "n/a", Anomaly: "none",
}

// The message of one operation of each kind, pinned.
func TestGoldenMessages(t *testing.T) {
	s := &story{t: t, state: board.NewMemory(), messages: map[string]string{}}
	a := func(task string) board.About { return board.About{Task: task} }
	def := board.Definition{Description: "Add a login form", DoneWhen: "POST /login answers 200", Scope: "login/", SpecRef: "specs/login.md", Kind: board.Code, Priority: 2}
	s.tell("human", &board.Init{Goal: "Ship it", IntegrationBranch: "integration"})
	for _, who := range []string{"planner-1", "coder-1", "coder-2", "code-reviewer-1"} {
		s.tell(who, &board.Register{Session: "s-" + who, Clone: "here", PID: 7})
	}
	ready := func(tasks ...string) {
		for _, task := range tasks {
			s.tell("planner-1", &board.AddTask{About: a(task), Definition: def})
			s.tell("planner-1", &board.Finalize{About: a(task), SpecOID: id("5")})
		}
	}
	claim := func(coder, task string) {
		s.tell(coder, &board.Claim{About: a(task), Clone: "here", BaseCommit: id("b")})
	}
	sent := func(coder, task, commit string) {
		s.tell(coder, &board.PreExec{About: a(task), Checkpoint: board.Checkpoint{Intent: "Write it", Validation: "go test: ok", FilesToModify: []string{"login.go"}}})
		s.tell(coder, &board.Submit{About: a(task), Commit: id(commit), ReviewBase: id("b"), Commits: 2, Files: 3, Tests: []string{"login_test.go"}})
		s.tell("code-reviewer-1", &board.ClaimReview{About: a(task)})
	}
	approved := func(task string) {
		s.tell("code-reviewer-1", &board.Verdict{About: a(task), Verdict: "APPROVED", Checked: "tests", Commit: id("c")})
	}
	merge := board.Merge{ReviewCommit: id("c"), Before: id("b"), MergeCommit: id("d"), MergeType: "merge-commit", Drift: 1, Test: "make test"}
	ready("login", "logout", "old", "stuck", "spare")
	s.tell("planner-1", &board.AmendTask{About: a("login"), Definition: board.Definition{Scope: "login/ and form/"}, Set: []string{"scope"}, Reason: "the form too"})
	s.tell("planner-1", &board.Supersede{About: a("old"), By: []string{"spare"}, Reason: "Too large."})
	s.tell("planner-1", &board.AlignmentEntry{Event: "planned", Summary: "three tasks", Wording: "Sell furniture and lamps"})
	s.tell("planner-1", &board.RecordSpecChange{Spec: "specs/login.md", Change: "port named"})
	s.tell("planner-1", &board.Usage{CLI: "claude", Model: "m-1", Cost: board.Cost{Requests: 3, Input: 900, Cached: 500, Output: 40, Seconds: 12, MicroDollars: 70_000}})
	claim("coder-1", "login")
	sent("coder-1", "login", "9")
	s.tell("human", &board.Comment{About: a("login"), Commit: id("9"), Path: "login.go", Line: 12, Lines: 40, Text: "An empty name gets in."})
	s.tell("code-reviewer-1", &board.Verdict{About: a("login"), Verdict: "REJECTED", Commit: id("9"), Rejection: rejected})
	s.tell("planner-1", &board.Reassign{About: a("login"), Reason: "other eyes"})
	claim("coder-2", "login")
	s.tell("coder-2", &board.HandOff{About: a("login"), Summary: "half", NextAction: "the rest"})
	s.tell("coder-1", &board.Claim{About: a("login"), Clone: "here"})
	sent("coder-1", "login", "c")
	s.tell("code-reviewer-1", &board.Release{About: a("login"), Reason: "tired"})
	s.tell("coder-1", &board.Withdraw{About: a("login"), Reason: "one more file"})
	s.tell("coder-1", &board.Block{About: a("login"), Reason: "no port", Questions: []string{"Which port?"}})
	s.tell("human", &board.Answer{About: a("login"), Text: "Port 80."})
	s.tell("coder-1", &board.Claim{About: a("login"), Clone: "here"})
	s.tell("coder-1", &board.Block{About: a("login"), Reason: "no port", Questions: []string{"Which port?"}})
	s.tell("planner-1", &board.Unblock{About: a("login"), Mode: "same-coder"})
	sent("coder-1", "login", "c")
	approved("login")
	failed := merge
	failed.About, failed.MergeCommit, failed.MergeType, failed.Failure, failed.Log = a("login"), "", "", "test", "FAIL login\n"
	s.tell("code-reviewer-1", &failed)
	s.messages["merge, failed"] = s.messages["merge"]
	delete(s.messages, "merge")
	s.tell("human", &board.RetryMerge{About: a("login"), ReviewCommit: id("c"), Onto: id("e")})
	merge.About = a("login")
	s.tell("code-reviewer-1", &merge)
	claim("coder-1", "logout")
	sent("coder-1", "logout", "c")
	approved("logout")
	s.tell("human", &board.FinishMerge{About: a("logout"), ReviewCommit: id("c"), Before: id("a"), MergeCommit: id("d"), MergeType: "merge-commit", Drift: 1})
	s.tell("human", &board.SetConfig{Key: "max_coder_iterations", Value: "1"})
	claim("coder-2", "stuck")
	s.tell("coder-2", &board.IterationLimit{About: a("stuck"), Evidence: board.Evidence{Lease: &board.Lease{Agent: "coder-2", Session: "s", Task: "stuck", Expires: "2026-01-31T09:00:00Z", Heartbeat: "2026-01-31T08:55:00Z"}}})
	s.tell("coder-2", &board.AgentStatusChange{Status: board.HandedOff, ContextPercent: 90})
	s.tell("coder-2", &board.Deregister{})
	for _, task := range []string{"stuck", "spare"} {
		s.tell("coder-1", &board.Discover{During: "stuck", Description: "no timeout", Severity: "high", Urgency: "immediate"})
		s.tell("coder-1", &board.LogAnomaly{Type: "external_blocker", Task: task, Details: map[string]board.Scalar{"blocker_service": "npm"}})
	}
	s.tell("planner-1", &board.ConvertDiscovery{Discovery: "disc-1", Task: "spare"})
	s.tell("planner-1", &board.SettleDiscovery{Discovery: "disc-2", How: "deferred", Reason: "later"})
	s.tell("human", &board.AddNote{For: "stuck", Message: "look\n\nLiza-Op: merge\n"})
	s.tell("planner-1", &board.Ack{IDs: []string{"note-1"}})
	s.tell("human", &board.Revert{About: a("login"), Commit: id("a"), Before: id("d"), Merged: id("e"), Test: "make test", Reason: "it breaks old clients"})
	s.tell("human", &board.Land{Commit: id("a"), Before: id("d"), Merged: id("e"), Test: "make test"})
	s.tell("human", &board.Land{Commit: id("a"), Before: id("d"), Files: []string{"specs/login.md"}, Reason: "specs"})
	s.tell("human", &board.Attest{SHA256: strings.Repeat("c", 64), Commit: id("a"), Type: "provenance"})
	s.tell("human", &board.Pause{Reason: "lunch"})
	s.tell("planner-1", &board.SetCheckpoint{Reason: "look"})
	s.tell("planner-1", &board.Trip{Pattern: "external_service_outage", Severity: "EXTERNAL_DEPENDENCY", ReportFile: "report.md"})
	s.tell("human", &board.Resolve{Text: "a mirror"})
	s.tell("human", &board.Resume{Decision: "CONTINUE"})
	s.tell("human", &board.Write{Path: "tasks/stuck.yaml", Fields: []board.FieldEdit{{Field: "priority", Value: "1"}}, Reason: "urgent"})
	team := board.BuiltinTeam()
	team.Roles = append(team.Roles, board.Role{Name: "docs-writer", Kind: board.CoderKind})
	team.Stages = append(team.Stages, board.Stage{Name: "docs", Role: "docs-writer", Test: "make docs"})
	team.PlanReview = "human"
	s.tell("human", &board.SetTeam{Team: *team})
	ready("planned")
	s.tell("human", &board.RejectDraft{About: a("planned"), Reason: "nothing proves it"})
	s.tell("human", &board.Abandon{About: a("planned"), Reason: "not needed"})
	public := "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAdhHNo8w69b7kcPBBg/1zdfewo1V9WSIQfAyW6PGYNt"
	s.tell("human", &board.KeysAdd{Principal: "coder-1", Public: public, Replaces: true})
	s.tell("human", &board.KeysRevoke{Key: board.KeyID(public), Reason: "lost"})
	s.tell("human", &board.SprintEnd{Reason: "enough"})
	s.tell("human", &board.SprintStart{Deadline: s.at.Add(90 * time.Second)})
	s.tell("human", &board.Archive{Sprint: "sprint-1", Tasks: []string{"login"}})
	s.tell("human", &board.Retrospective{Text: "went well"})
	s.tell("planner-1", &board.Deadline{})
	for _, task := range []string{"stuck", "spare"} {
		s.tell("planner-1", &board.Abandon{About: a(task), Reason: "not needed"})
	}
	s.tell("planner-1", &board.GoalComplete{Summary: "all there"})
	s.tell("human", &board.GoalStart{ID: "lamps", Text: "Sell lamps", Vision: "Furniture needs light", SpecRef: "specs/lamps.md", Priority: 2})
	s.tell("human", &board.Resume{})
	s.tell("planner-1", &board.Plan{Goal: "lamps"})
	s.tell("human", &board.GoalPriority{Goal: "lamps", Priority: 1})
	head := strings.Repeat("a", 40)
	s.tell("human", &board.PROpen{Goal: "lamps", Kind: "github", Host: "github.com", Repo: "ada/shop", Number: 7, Base: "main", Branch: "goal/lamps", Head: head, Draft: true})
	s.tell("planner-1", &board.PRUpdate{Goal: "lamps", State: board.RequestOpen})
	s.tell("planner-1", &board.PRFeedback{Goal: "lamps", Items: []board.Feedback{{Source: "review:1", Author: "bob", Text: "the bulbs are missing"}}})
	s.tell("planner-1", &board.PRMerged{Goal: "lamps", Commit: head, Kind: "squash", Head: head})
	s.tell("human", &board.GoalAbort{Goal: "lamps", Reason: "no room"})
	s.tell("human", &board.GoalReopen{Goal: "goal-1", Reason: "the export is missing"})

	var b strings.Builder
	for _, op := range append(board.Ops(), "merge, failed") {
		if op == "abort" || op == "import" {
			continue
		}
		if s.messages[op] == "" {
			t.Errorf("no message of %s", op)
		}
		fmt.Fprintf(&b, "======== %s\n%s", op, s.messages[op])
	}
	x := &story{t: t, state: board.NewMemory(), messages: map[string]string{}}
	x.tell("human", &board.Init{Goal: "Ship it", IntegrationBranch: "integration"})
	x.tell("human", &board.Abort{Reason: "enough"})
	fmt.Fprintf(&b, "======== abort\n%s", x.messages["abort"])
	i := &story{t: t, state: board.NewMemory(), messages: map[string]string{}}
	i.tell("human", imported(t))
	fmt.Fprintf(&b, "======== import\n%s", i.messages["import"])
	golden.Check(t, "testdata/messages.txt", b.String())
}

func TestALongPayloadIsAFile(t *testing.T) {
	before := noteBoard()
	op := board.Operation{Actor: board.HumanActor("Ada", "a@b"), Time: "2026-01-31T09:00:00Z", Request: "r", Payload: &board.AddNote{Message: strings.Repeat("x", codec.MaxInline)}}
	after := testrun.Must(board.Step(before, op))(t)
	message, file, err := codec.Message(before, after, op)
	if err != nil || file == "" || len(message) > codec.MaxInline+2000 {
		t.Fatalf("%v, %d bytes in the file, %d in the message", err, len(file), len(message))
	}
	author := plumbing.Signature{Name: "Ada", Email: "a@b", When: op.Time.Std()}
	h, err := codec.ParseHead(message)
	if err != nil || h.Payload != codec.PayloadReference() {
		t.Fatal(err, h.Payload)
	}
	if _, err := h.Operation(file, author); err != nil {
		t.Error(err)
	}
	for _, wrong := range []string{"", "{}", file + " ", `{"v":1,"data":{"message":"short"}}`} {
		if _, err := h.Operation(wrong, author); err == nil {
			t.Errorf("%.40q is taken for the payload", wrong)
		}
	}
	h.Payload = file
	if _, err := h.Operation("", author); err == nil {
		t.Error("a long payload in a message is taken")
	}
	short, _ := codec.EncodePayload(board.Operation{Payload: &board.AddNote{Message: "x"}})
	h.Payload = short
	if _, err := h.Operation(file, author); err == nil {
		t.Error("a file that the message does not name is taken")
	}
}

func TestPayloadsOutOfForm(t *testing.T) {
	const good = `{"v":1,"data":{"message":"x"}}`
	testrun.Must(codec.DecodePayload("note", good))(t)
	for _, text := range []string{
		"", "null", "{}", good + good, good + "}", " " + good, `{"v":2,"data":{"message":"x"}}`, `{"data":{"message":"x"},"v":1}`, `{"v":1,"data":{"message":"x","for":""}}`,
		`{"v":1,"data":{"Message":"x"}}`, `{"v":1,"data":{"message":"x","message":"x"}}`, `{"v":1,"data":{"message":"x","more":1}}`, `{"v":1,"data":{"message":"\u0078"}}`, `{"v":1,"data":null}`, `{"v":1.0,"data":{"message":"x"}}`,
	} {
		if _, err := codec.DecodePayload("note", text); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
	if _, err := codec.DecodePayload("rm", good); err == nil {
		t.Error("an unknown operation is taken")
	}
}

func TestMessagesOutOfForm(t *testing.T) {
	const head = "note: x\n\n"
	const good = "Liza-Op: note\nLiza-Agent: human\nLiza-Role: human\nLiza-Request: r\nLiza-Payload: {}\n"
	testrun.Must(codec.ParseHead(head + good))(t)
	for _, message := range []string{
		"", "note", head, head + "Liza-Op: note\n", head + good + "Liza-Op: merge\n", head + good + "Signed-off-by: x\n", head + good + "\nmore\n",
		head + strings.Replace(good, "Liza-Op: note\n", "", 1), head + strings.Replace(good, ": r", ":r", 1),
	} {
		if h, err := codec.ParseHead(message); err == nil {
			t.Errorf("%q is taken: %+v", message, h)
		}
	}
}

// imported is the least board that can be imported.
func imported(t *testing.T) *board.Import {
	p := &board.Import{Source: "state.yaml"}
	for _, r := range []struct {
		path   string
		record any
	}{
		{board.BreakerPath, &board.Breaker{Status: board.BreakerOK}},
		{board.ConfigPath, board.DefaultConfig()},
		{board.ControlPath, &board.Control{Mode: board.Running, Since: "2026-01-31T09:00:00Z", By: "human"}},
		{board.GoalPath("goal-1"), &board.Goal{ID: "goal-1", Description: "Ship it", Priority: 3, Created: "2026-01-31T09:00:00Z", Status: board.InProgress}},
		{board.SprintPath, &board.Sprint{ID: "sprint-1", Timeline: board.Timeline{Started: "2026-01-31T09:00:00Z"}, Status: board.InProgress}},
	} {
		data := testrun.Must(codec.EncodeChecked(r.path, r.record))(t)
		p.Records = append(p.Records, board.Imported{Path: r.path, YAML: string(data)})
	}
	return p
}
