package supervisor

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// demand is the demand for a role on a scene's board. Every agent's lease is live but for those of
// the agents that are gone.
func (s *scene) demand(role roles.Role, gone string) report.Demand {
	return s.demandOf(role.Prefix(), gone)
}

func (s *scene) demandOf(role, gone string) report.Demand {
	s.t.Helper()
	leases := map[string]board.Lease{}
	for _, id := range s.state().List(board.AgentDir) {
		if !slices.Contains(strings.Fields(gone), id) {
			leases[id] = board.Lease{Agent: id, Expires: s.now.Add(5 * time.Minute)}
		}
	}
	d, ok := report.DemandFor(s.state(), role, leases, s.now)
	if !ok {
		s.t.Fatalf("no role %s", role)
	}
	return d
}

// byHand registers an agent again, without a supervisor.
func (s *scene) byHand(a board.Actor) {
	s.do(board.Actor{ID: a.ID, Role: a.Role, Session: "s-hand"}, &board.Register{Session: "s-hand", Clone: "here"})
}

// TestDemand checks how many agents of a role are started, and which of them may leave.
func TestDemand(t *testing.T) {
	const everybody = "planner-1 coder-1 coder-2 code-reviewer-1 code-reviewer-2"
	ready := func(n int) func(*scene) {
		return func(s *scene) {
			for i := range n {
				s.ready(fmt.Sprintf("task-%d", i))
			}
		}
	}
	for _, c := range []struct {
		name    string
		on      func(*scene)
		role    roles.Role
		gone    string
		missing int
		spare   string
	}{
		{"a goal without a plan wants a planner", nil, roles.Planner, everybody, 1, ""},
		{"the planner of a goal with a trigger stays", nil, roles.Planner, "", 0, ""},
		{"a planner without a trigger may leave", ready(1), roles.Planner, "", 0, "planner-1"},
		{"and none is started", ready(1), roles.Planner, everybody, 0, ""},
		{"a plan that a dead planner left half done", func(s *scene) { s.draft("login") }, roles.Planner, everybody, 1, ""},
		{"each goal wants its own planner", func(s *scene) { s.do(human, billing) }, roles.Planner, "", 1, ""},
		{"without a plan no coder is needed", nil, roles.Coder, everybody, 0, ""},
		{"and those that are there may leave", nil, roles.Coder, "", 0, "coder-1 coder-2"},
		{"a coder for each task", ready(2), roles.Coder, everybody, 2, ""},
		{"up to the limit of the role", ready(5), roles.Coder, everybody, 3, ""},
		{"idle coders come first", ready(3), roles.Coder, "", 1, ""},
		{"those of another team, too", ready(3), roles.Coder, "coder-2", 2, ""},
		{"those registered by hand, not", func(s *scene) { ready(2)(s); s.byHand(coder1) }, roles.Coder, "", 1, ""},
		{"unless they have work", func(s *scene) { s.claimed("login").byHand(coder1); ready(2)(s) }, roles.Coder, "", 1, ""},
		{"a coder too many", ready(1), roles.Coder, "", 0, "coder-2"},
		{"a coder at work stays", func(s *scene) { s.claimed("login") }, roles.Coder, "", 0, "coder-2"},
		{"what waits for a task wants nobody", func(s *scene) { s.claimed("login").ready("logout", "login") }, roles.Coder, "", 0, "coder-2"},
		{"a dead coder's claim", func(s *scene) { s.claimed("login") }, roles.Coder, everybody, 1, ""},
		{"a submission may come back to its author", func(s *scene) { s.submitted("login") }, roles.Coder, "", 0, "coder-2"},
		{"a submission wants a reviewer", func(s *scene) { s.submitted("login") }, roles.CodeReviewer, everybody, 1, ""},
		{"one", func(s *scene) { s.submitted("login") }, roles.CodeReviewer, "", 0, "code-reviewer-2"},
		{"the last reviewer stays for the merge", func(s *scene) { s.approved("login") }, roles.CodeReviewer, "", 0, "code-reviewer-2"},
		{"or is started for it", func(s *scene) { s.approved("login") }, roles.CodeReviewer, everybody, 1, ""},
		{"the last one is started but once", func(s *scene) { s.approved("login") }, roles.CodeReviewer, "code-reviewer-2", 0, ""},
		{"nothing waits for a reviewer", ready(1), roles.CodeReviewer, "", 0, "code-reviewer-1 code-reviewer-2"},
		{"a paused board wants nobody", func(s *scene) { ready(2)(s); s.do(human, &board.Pause{}) }, roles.Coder, everybody, 0, ""},
		{"a goal that was given up, too", func(s *scene) {
			ready(2)(s)
			s.do(human, billing).do(human, &board.GoalAbort{Goal: "goal-1"})
		}, roles.Coder, everybody, 0, ""},
		{"and one whose budget is used up", func(s *scene) {
			ready(2)(s)
			s.do(human, billing).do(human, &board.SetConfig{Key: board.KeyBudgetGoal, Value: "9"})
			s.do(planner, &board.Usage{Goal: "goal-1", CLI: "c", Cost: board.Cost{Input: 9}})
		}, roles.Coder, everybody, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			if c.on != nil {
				c.on(s)
			}
			d := s.demand(c.role, c.gone)
			var spare []string
			for _, id := range d.Live {
				if d.Spare(id) {
					spare = append(spare, id)
				}
			}
			if got := strings.Join(spare, " "); d.Missing() != c.missing || got != c.spare {
				t.Errorf("missing %d, not %d; spare %q, not %q\n%+v", d.Missing(), c.missing, got, c.spare, d)
			}
		})
	}
}

// TestDemandOfTeam checks that the demand for a role follows its bounds and counts only the tasks
// of its stages.
func TestDemandOfTeam(t *testing.T) {
	s := newScene(t)
	team := board.BuiltinTeam()
	team.Roles[1].Max = 2
	team.Roles[2].Min, team.Roles[2].Idle = 3, 30
	team.Roles = append(team.Roles, board.Role{Name: "docs-writer", Kind: board.CoderKind})
	team.Stages = append(team.Stages, board.Stage{Name: "docs", Role: "docs-writer"})
	s.do(human, &board.SetTeam{Team: *team})
	for i := range 4 {
		s.ready(fmt.Sprintf("task-%d", i))
	}
	for role, want := range map[roles.Role]int{"coder": 2, "docs_writer": 0, "code_reviewer": 3} {
		d := s.demand(role, "coder-1 coder-2 code-reviewer-1 code-reviewer-2")
		testrun.Equal(t, d.Missing(), want, "%s: missing", role)
	}
	if d := s.demand(roles.CodeReviewer, ""); d.Missing() != 1 || d.Spare("code-reviewer-2") || d.Bounds.Idle != 30*time.Second {
		t.Errorf("%+v", d)
	}
}

// TestDemandOfSeveralRoles checks that work which two roles could do is wanted from one of them.
func TestDemandOfSeveralRoles(t *testing.T) {
	const everybody = "planner-1 coder-1 coder-2 code-reviewer-1 code-reviewer-2"
	second := func(s *scene, change ...func(*board.Team)) *scene {
		team := board.BuiltinTeam()
		team.Roles[2].Max = 1
		team.Roles = append(team.Roles, board.Role{Name: "architect", Kind: board.PlannerKind}, board.Role{Name: "auditor", Kind: board.ReviewerKind})
		for _, c := range change {
			c(team)
		}
		return s.do(human, &board.SetTeam{Team: *team})
	}
	strict := func(team *board.Team) {
		team.Roles[2].CLI, team.Roles[4].CLI = "claude", "codex"
		team.Stages[0].Review = board.ReviewPolicy{Differ: board.DifferCLI, Required: true}
	}
	for _, c := range []struct {
		name string
		on   func(*scene)
		gone string
		want string // planner, architect, code-reviewer, auditor
	}{
		{"a goal without a plan", func(s *scene) { second(s) }, everybody, "1 0 0 0"},
		{"a submission", func(s *scene) { second(s).submitted("login") }, everybody, "0 0 1 0"},
		{"two submissions, and one reviewer at most", func(s *scene) {
			second(s).submitted("login").submitted("cart")
		}, everybody, "0 0 1 1"},
		{"a submission that an idle agent of the first role gets", func(s *scene) { second(s).submitted("login") }, "", "0 0 0 0"},
		{"a merge", func(s *scene) { second(s).approved("login") }, everybody, "0 0 1 0"},
		{"a merge, and agents of the other role are there", func(s *scene) {
			second(s).approved("login").do(auditor, &board.Register{Session: auditor.Session, Clone: "here", PID: 1})
		}, everybody, "0 0 0 0"},
		{"a submission that only the other role reviews", func(s *scene) {
			second(s, func(team *board.Team) { team.Stages[0].Review.By = []string{"auditor"} }).submitted("login")
		}, everybody, "0 0 0 1"},
		{"a submission that only another CLI may review", func(s *scene) {
			coder := board.Actor{ID: "coder-1", Role: roles.Coder, Session: "s-claude"}
			second(s, strict).do(coder, &board.Register{Session: coder.Session, Clone: "here", CLI: "claude", PID: 1})
			coder1, coder = coder, coder1
			defer func() { coder1 = coder }()
			s.submitted("login")
		}, "", "0 0 0 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			c.on(s)
			var got []string
			for _, role := range []string{"planner", "architect", "code-reviewer", "auditor"} {
				got = append(got, fmt.Sprint(s.demandOf(role, c.gone).Missing()))
			}
			testrun.Equal(t, strings.Join(got, " "), c.want, "missing")
		})
	}
}

var auditor = board.Actor{ID: "auditor-1", Role: roles.CodeReviewer, Session: "s-auditor-1"}

// TestDemandWaitsForLeases checks that a dead coder's task counts as soon as another coder may take
// it: a claim once the lease has expired, a rejected task half a minute later.
func TestDemandWaitsForLeases(t *testing.T) {
	for _, c := range []struct {
		on    func(*scene) *scene
		ended time.Duration // ago
		want  int
	}{
		{func(s *scene) *scene { return s.claimed("login") }, -time.Second, 0},
		{func(s *scene) *scene { return s.claimed("login") }, 0, 1},
		{func(s *scene) *scene { return s.rejected("login") }, board.AbandonedAfter - time.Second, 0},
		{func(s *scene) *scene { return s.rejected("login") }, board.AbandonedAfter, 1},
	} {
		s := c.on(newScene(t))
		ended := s.now.Add(-c.ended)
		d, _ := report.DemandFor(s.state(), "coder", map[string]board.Lease{"coder-1": {Agent: "coder-1", Expires: ended}}, s.now)
		if d.Missing() != c.want {
			t.Errorf("ended %s ago: %d missing, not %d", c.ended, d.Missing(), c.want)
		}
	}
}

// TestPlanOfADeadPlanner checks that the next planner finishes the plan that a dead one has left
// half done, also in another clone, where nothing else is known of it: it takes the goal on, and is
// woken until nothing of the plan is left.
func TestPlanOfADeadPlanner(t *testing.T) {
	s := newScene(t).do(planner2, &board.Register{Session: planner2.Session, Clone: "there", PID: 1}).draft("login")
	next := func() string {
		l := s.look(planner2)
		delete(l.Leases, planner.ID)
		return said(Next(l, &Memory{}), l.Now)
	}
	step := func(want string) {
		t.Helper()
		testrun.Equal(t, next(), want, "the value")
		if d := s.demandOf("planner", planner.ID); d.Missing() != 0 || d.Spare(planner2.ID) != strings.HasPrefix(want, "wait") {
			t.Errorf("with %q: %d missing, spare: %v", want, d.Missing(), d.Spare(planner2.ID))
		}
	}
	step("plan goal-1")
	s.do(planner2, &board.Plan{Goal: "goal-1"})
	step("start INITIAL_PLANNING")
	s.do(planner2, &board.Finalize{About: about("login"), SpecOID: sha("5")})
	s.do(planner2, &board.AddTask{About: about("cart"), Definition: board.Definition{Description: "Add a cart", Kind: board.Code, Priority: 3}})
	step("wait for 30m0s (idle): nothing to plan")
	again := board.Actor{ID: planner2.ID, Role: planner2.Role, Session: "s-again"}
	s.now = s.now.Add(-time.Minute) // do moves the clock by that: both in one second
	s.do(again, &board.Register{Session: again.Session, Clone: "elsewhere", PID: 1})
	step("start INITIAL_PLANNING")
}

// TestSpareAgentEnds checks that a spare agent ends after its role's idle time, and any other not.
func TestSpareAgentEnds(t *testing.T) {
	s := newScene(t)
	for _, c := range []struct {
		spare bool
		idle  time.Duration
		want  string
	}{
		{true, 30 * time.Second, "wait for 1m30s (idle): there is no plan yet"},
		{true, 2 * time.Minute, "stop 0: there is no plan yet for 2m0s"},
		{false, time.Hour, "wait (idle): there is no plan yet"},
	} {
		l := s.look(coder1)
		l.Patient, l.Spare, l.IdleBy = true, c.spare, 2*time.Minute
		testrun.Equal(t, said(Next(l, &Memory{IdleSince: l.Now.Add(-c.idle)}), l.Now), c.want, "the value")
	}
}
