package prompt_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/roles/prompt"
)

// scene is a board in memory, made by real operations.
type scene struct {
	t   testing.TB
	mem *board.Memory
	now board.Time
	n   int
}

var (
	human    = board.HumanActor("Ada", "ada@example.org")
	planner  = agent("planner-1")
	coder    = agent("coder-1")
	coder2   = agent("coder-2")
	reviewer = agent("code-reviewer-1")
)

func agent(id string) board.Actor {
	role, _ := roles.Of(id)
	return board.Actor{ID: id, Role: role, Session: "s-" + id}
}

func sha(digit string) string { return strings.Repeat(digit, 40) }

func newScene(t testing.TB) *scene {
	s := &scene{t: t, mem: board.NewMemory(), now: "2026-01-31T09:00:00Z"}
	s.do(human, &board.Init{Goal: "Sell furniture", SpecRef: "specs/vision.md", IntegrationBranch: "integration"})
	for _, a := range []board.Actor{planner, coder, coder2, reviewer} {
		s.do(a, &board.Register{Session: a.Session, Clone: "here"})
	}
	return s
}

func (s *scene) state() *board.State { return board.NewState(s.mem, s.now) }

func (s *scene) do(a board.Actor, p board.Payload) *scene {
	s.t.Helper()
	s.now = s.now.Add(time.Minute)
	s.n++
	after, err := board.Step(s.state(), board.Operation{Actor: a, Time: s.now, Request: fmt.Sprintf("r/%d", s.n), Payload: p, AllowSecret: true})
	if err != nil {
		s.t.Fatalf("%s by %s: %v", p.Op(), a.ID, err)
	}
	s.mem.Absorb(after)
	return s
}

func about(id string) board.About { return board.About{Task: id} }

func (s *scene) ready(id string, depends ...string) *scene {
	s.t.Helper()
	return s.define(id, login("", depends...))
}

// login is a task of a stage, "" for the built-in one.
func login(stage string, depends ...string) board.Definition {
	return board.Definition{
		Description: "Let customers log in.\nThe form stands on every page.", DoneWhen: "POST /login answers 200 for a known name\nand 401 for an unknown one",
		Scope: "IN: login/. OUT: sessions", SpecRef: "specs/login.md#form", Kind: board.Code, Stage: stage, Priority: 2, DependsOn: depends,
	}
}

// reviewsPlans has plans reviewed by code-reviewers.
func (s *scene) reviewsPlans() *scene {
	t := board.BuiltinTeam()
	t.PlanReview = "code-reviewer"
	return s.do(human, &board.SetTeam{Team: *t})
}

// staged adds a task of a stage whose submissions need two approvals.
func (s *scene) staged(id string) *scene {
	t := board.BuiltinTeam()
	t.Stages = append(t.Stages, board.Stage{Name: "backend", Role: "coder", Review: board.ReviewPolicy{Approvals: 2}})
	return s.do(human, &board.SetTeam{Team: *t}).define(id, login("backend"))
}

// rejected sends a proposed draft back.
func (s *scene) rejected(id string) *scene {
	return s.do(reviewer, &board.RejectDraft{About: about(id), Reason: "nothing says what a locked account gets"})
}

func (s *scene) define(id string, d board.Definition) *scene {
	s.t.Helper()
	return s.do(planner, &board.AddTask{About: about(id), Definition: d}).do(planner, &board.Finalize{About: about(id), SpecOID: sha("5")})
}

func (s *scene) claim(a board.Actor, id, base string) *scene {
	s.t.Helper()
	return s.do(a, &board.Claim{About: about(id), Clone: "here", BaseCommit: base})
}

func (s *scene) preExec(a board.Actor, id string) *scene {
	s.t.Helper()
	return s.do(a, &board.PreExec{About: about(id), Checkpoint: board.Checkpoint{
		Intent: "POST /login tells known from unknown names", Assumptions: []string{"names are unique"}, Risks: "none: new route",
		Validation: "go test ./login: ok", FilesToModify: []string{"login/login.go", "login/login_test.go"},
	}})
}

func (s *scene) submit(a board.Actor, id string) *scene {
	s.t.Helper()
	digit := []string{"c", "d", "e", "f"}[s.state().Task(id).Submissions()]
	return s.do(a, &board.Submit{About: about(id), Commit: sha(digit), ReviewBase: sha("b"), Commits: 1, Files: 2, Tests: []string{"login/login_test.go"}})
}

// feedback is made anew each time: tests change records in place.
func feedback() *board.Rejection {
	return &board.Rejection{
		Blockers: []board.Finding{{Where: "login/login.go:12", Issue: "an empty name is accepted", Why: "anybody gets in", Suggestion: "answer 400"}},
		Overall:  "not yet.", Spec: "n/a", Anomaly: "none",
	}
}

func (s *scene) verdict(id, verdict string, reason *board.Rejection) *scene {
	s.t.Helper()
	return s.do(reviewer, &board.ClaimReview{About: about(id)}).
		do(reviewer, &board.Verdict{About: about(id), Verdict: verdict, Checked: "go test: ok", Commit: s.state().Task(id).ReviewCommit, Rejection: reason})
}

// submitted brings a task to its first review.
func (s *scene) submitted(id string) *scene {
	s.t.Helper()
	return s.ready(id).claim(coder, id, sha("b")).preExec(coder, id).submit(coder, id)
}

func (s *scene) note(to, text string) *scene {
	s.t.Helper()
	return s.do(human, &board.AddNote{For: to, Message: text})
}

func (s *scene) block(a board.Actor, id string) *scene {
	s.t.Helper()
	return s.do(a, &board.Block{About: about(id), Reason: "the spec names no answer for a locked account", Questions: []string{"401 or 423?"}, Attempted: []string{"read specs/login.md"}})
}

// fails lets a coder submit, be rejected, and give the task up.
func (s *scene) fails(a board.Actor, id string) *scene {
	s.t.Helper()
	r := feedback()
	r.Prior = []string{"STILL PRESENT: the empty name"}
	s.preExec(a, id).submit(a, id).verdict(id, "REJECTED", r)
	return s.claim(a, id, "").block(a, id)
}

// input returns what a supervisor passes to the prompt.
func (s *scene) input(a board.Actor, task string) prompt.Input {
	in := prompt.Input{State: s.state(), Agent: a.ID, Role: a.Role, Root: "/home/ada/shop", Integration: "1a2b3c4d5e", Task: task}
	if task != "" {
		in.Worktree = in.Root + "/" + board.WorktreeOf(task)
	}
	return in
}

// woken returns the input of a planner woken by this trigger.
func (s *scene) woken(trigger report.WakeTrigger) prompt.Input {
	s.t.Helper()
	in := s.input(planner, "")
	for _, w := range report.Wakes(s.state(), "goal-1") {
		if w.Trigger == trigger {
			in.Wake = &w
			return in
		}
	}
	s.t.Fatalf("%s does not stand", trigger)
	return in
}

// material returns what the scene's repository contributes.
func material() *prompt.Review {
	return &prompt.Review{
		Commits: []string{"cccccccccc Tell known names"}, Files: []string{"login/login.go", "login/login_test.go", "main.go"},
		FilesOutside: []string{"main.go"}, TestsTouched: []string{"login/login_test.go"},
	}
}
