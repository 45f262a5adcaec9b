package supervisor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// scene is a board in memory, made by real operations.
type scene struct {
	t   testing.TB
	mem *board.Memory
	now board.Time
	n   int
}

var (
	human     = board.HumanActor("Ada", "ada@example.org")
	planner   = actor("planner-1")
	planner2  = actor("planner-2")
	coder1    = actor("coder-1")
	coder2    = actor("coder-2")
	reviewer1 = actor("code-reviewer-1")
	reviewer2 = actor("code-reviewer-2")
)

const start0 = board.Time("2026-01-31T09:00:00Z")

func actor(id string) board.Actor {
	role, _ := roles.Of(id)
	return board.Actor{ID: id, Role: role, Session: "s-" + id}
}

func sha(digit string) string { return strings.Repeat(digit, 40) }

func about(id string) board.About { return board.About{Task: id} }

func newScene(t testing.TB) *scene {
	s := &scene{t: t, mem: board.NewMemory(), now: start0}
	s.do(human, &board.Init{Goal: "Sell furniture", SpecRef: "specs/vision.md", IntegrationBranch: "integration"})
	for _, a := range []board.Actor{planner, coder1, coder2, reviewer1, reviewer2} {
		s.do(a, &board.Register{Session: a.Session, Clone: "here", PID: 1})
	}
	return s
}

func (s *scene) state() *board.State { return board.NewState(s.mem, s.now) }

// do runs an operation, a minute after the last one.
func (s *scene) do(a board.Actor, p board.Payload) *scene {
	s.t.Helper()
	s.now = s.now.Add(time.Minute)
	s.n++
	after, err := board.Step(s.state(), board.Operation{Actor: a, Time: s.now, Request: fmt.Sprintf("r/%d", s.n), Payload: p})
	if err != nil {
		s.t.Fatalf("%s by %s: %v", p.Op(), a.ID, err)
	}
	s.mem.Absorb(after)
	return s
}

func (s *scene) draft(id string, depends ...string) *scene {
	s.t.Helper()
	return s.do(planner, &board.AddTask{About: about(id), Definition: board.Definition{
		Description: "Add a login form", DoneWhen: "POST /login answers 200", Scope: "login/", SpecRef: "specs/login.md", Kind: board.Code, Priority: 3, DependsOn: depends,
	}})
}

func (s *scene) ready(id string, depends ...string) *scene {
	s.t.Helper()
	return s.draft(id, depends...).do(planner, &board.Finalize{About: about(id), SpecOID: sha("5")})
}

func (s *scene) claimed(id string) *scene { s.t.Helper(); return s.ready(id).claimBy(coder1, id) }

func (s *scene) claimBy(a board.Actor, id string) *scene {
	s.t.Helper()
	return s.do(a, &board.Claim{About: about(id), Clone: "here", BaseCommit: sha("b")})
}

func (s *scene) submit(id string) *scene {
	s.t.Helper()
	return s.do(coder1, &board.PreExec{About: about(id), Checkpoint: board.Checkpoint{Intent: "Write it", Validation: "go test: ok", FilesToModify: []string{"login.go"}}}).
		do(coder1, &board.Submit{About: about(id), Commit: sha("c"), ReviewBase: sha("b"), Commits: 1, Files: 1, Tests: []string{"login_test.go"}})
}

func (s *scene) submitted(id string) *scene { s.t.Helper(); return s.claimed(id).submit(id) }

func (s *scene) reviewed(id string) *scene {
	s.t.Helper()
	return s.submitted(id).do(reviewer1, &board.ClaimReview{About: about(id)})
}

func (s *scene) approved(id string) *scene {
	s.t.Helper()
	return s.reviewed(id).do(reviewer1, &board.Verdict{About: about(id), Verdict: board.VerdictApproved, Checked: "tests", Commit: sha("c")})
}

var rejection = &board.Rejection{
	Blockers: []board.Finding{{Where: "login.go:12", Issue: "an empty name is accepted", Why: "anybody gets in", Suggestion: "answer 400"}},
	Overall:  "not yet.", Spec: "n/a", Anomaly: "none",
}

func (s *scene) rejected(id string) *scene {
	s.t.Helper()
	return s.reviewed(id).do(reviewer1, &board.Verdict{About: about(id), Verdict: board.VerdictRejected, Commit: sha("c"), Rejection: rejection})
}

func (s *scene) merged(id string) *scene {
	s.t.Helper()
	return s.approved(id).do(reviewer1, &board.Merge{About: about(id), ReviewCommit: sha("c"), Before: sha("b"), MergeCommit: sha("d"), MergeType: board.MergeCommitType})
}

func (s *scene) blocked(id string) *scene {
	s.t.Helper()
	return s.claimed(id).do(coder1, &board.Block{About: about(id), Reason: "the spec names no port", Questions: []string{"Which port?"}})
}

// look returns what an agent's supervisor sees, a minute after the last operation. Every agent's
// lease is live and was first seen then.
func (s *scene) look(a board.Actor) Look {
	now := s.now.Std().Add(time.Minute)
	l := Look{Now: now, State: s.state(), Agent: a.ID, Role: a.Role, Clone: "here", Leases: map[string]Seen{}}
	for _, other := range []board.Actor{planner, coder1, coder2, reviewer1, reviewer2} {
		if other.ID != a.ID {
			l.Leases[other.ID] = Seen{Expires: now.Add(5 * time.Minute), Since: now}
		}
	}
	return l
}

// said formats a step on one line: action, task, time limit from now, reason.
func said(s Step, now time.Time) string {
	parts := []string{string(s.Do)}
	if s.Task != "" {
		parts = append(parts, s.Task)
	}
	if s.Goal != "" {
		parts = append(parts, s.Goal)
	}
	if s.Wake != nil {
		parts = append(parts, string(s.Wake.Trigger))
	}
	if s.Do == Stop {
		parts = append(parts, fmt.Sprint(s.Exit))
	}
	if !s.Until.IsZero() {
		parts = append(parts, "for", s.Until.Sub(now).String())
	}
	if s.Idle {
		parts = append(parts, "(idle)")
	}
	line := strings.Join(parts, " ")
	if s.Reason != "" {
		line += ": " + s.Reason
	}
	return line
}
