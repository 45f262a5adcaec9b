package alarm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/alarm"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// run is a board that only operations change, with a look after each.
type run struct {
	t        *testing.T
	mem      *board.Memory
	now      board.Time
	reported alarm.Reported
	heard    []string
}

func (r *run) do(id string, p board.Payload) {
	r.t.Helper()
	actor := board.HumanActor("Ada", "ada@example.org")
	if id != roles.HumanID {
		role := testrun.Must(roles.Of(id))(r.t)
		actor = board.Actor{ID: id, Role: role, Session: "s-" + id}
	}
	r.now = r.now.Add(m)
	after, err := board.Step(board.NewState(r.mem, r.now), board.Operation{Actor: actor, Time: r.now, Request: "r/" + string(r.now), Payload: p})
	if err != nil {
		r.t.Fatalf("%s by %s: %v", p.Op(), id, err)
	}
	r.mem.Absorb(after)
	leases := map[string]board.Lease{}
	for _, agent := range after.List(board.AgentDir) {
		leases[agent] = board.Lease{Agent: agent, Expires: r.now.Add(5 * m)}
	}
	report := testrun.Must(alarm.Evaluate(alarm.Facts{State: board.NewState(r.mem, r.now), Leases: leases, Now: r.now}, r.reported))(r.t)
	r.reported = report.Reported
	for _, a := range report.News {
		r.heard = append(r.heard, a.Line)
	}
}

// A task that is rejected again and again, as operations write it down.
func TestAReviewLoopIsHeardInTime(t *testing.T) {
	r := &run{t: t, mem: board.NewMemory(), now: start}
	r.do("human", &board.Init{Goal: "Ship it", SpecRef: "specs/vision.md", IntegrationBranch: "integration"})
	for _, id := range []string{"coder-1", "coder-2", "code-reviewer-1"} {
		r.do(id, &board.Register{Session: "s-" + id, Clone: "here", PID: 7})
	}
	login := board.About{Task: "login"}
	r.do("human", &board.AddTask{About: login, Ready: true, Definition: board.Definition{
		Description: "A login form", DoneWhen: "POST /login answers 200", Scope: "login/", SpecRef: "specs/login.md", SpecOID: strings.Repeat("5", 40), Kind: board.Code, Priority: 3,
	}})
	round := func(coder string, claim *board.Claim, n int, issue string) {
		commit := fmt.Sprintf("%040x", n)
		r.do(coder, claim)
		r.do(coder, &board.PreExec{About: login, Checkpoint: board.Checkpoint{Intent: "The handler", Validation: "go test: ok", FilesToModify: []string{"login.go"}}})
		r.do(coder, &board.Submit{About: login, Commit: commit, ReviewBase: strings.Repeat("b", 40), Commits: n, Files: 1, Tests: []string{"login_test.go"}})
		r.do("code-reviewer-1", &board.ClaimReview{About: login})
		form := &board.Rejection{
			Blockers: []board.Finding{{Where: fmt.Sprintf("login.go:%d", n), Issue: issue, Why: "users are locked out", Suggestion: "answer 400"}},
			Overall:  "not yet", Spec: "n/a", Anomaly: "none", Prior: []string{"STILL PRESENT: see above"},
		}
		r.do("code-reviewer-1", &board.Verdict{About: login, Verdict: board.VerdictRejected, Commit: commit, Rejection: form})
	}
	fresh := &board.Claim{About: login, Clone: "here", BaseCommit: strings.Repeat("b", 40)}
	again := &board.Claim{About: login, Clone: "here"}
	round("coder-1", fresh, 1, "an empty name is accepted")
	round("coder-1", again, 2, "the handler panics without a body")
	round("coder-1", again, 3, "the handler still panics without a body")
	r.do("human", &board.Reassign{About: login})
	round("coder-2", fresh, 4, "the handler panics without a body")
	round("coder-2", again, 5, "there is no test of an empty name")
	want := []string{
		"APPROACHING LIMIT: login, review cycle 3 of 5", "SAME REJECTION: login, 2 times",
		"REASSIGNED: login", "SAME REJECTION: login, 3 times",
		"BLOCKED: login: review_deadlock", "REVIEW LOOP: login, 5 cycles",
	}
	slices.Sort(want)
	slices.Sort(r.heard)
	if !slices.Equal(r.heard, want) {
		t.Errorf("heard\n%s\nnot\n%s", strings.Join(r.heard, "\n"), strings.Join(want, "\n"))
	}
}
