package board_test

import (
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

// withDocs is a team in which docs-writers do the stage docs, after code.
func withDocs(change ...func(*board.Team)) *board.SetTeam {
	t := board.BuiltinTeam()
	t.Roles = append(t.Roles, board.Role{Name: "docs-writer", Kind: board.CoderKind})
	t.Stages = append(t.Stages, board.Stage{Name: "docs", Role: "docs-writer"})
	t.Stages[0].Next = []string{"docs"}
	for _, c := range change {
		c(t)
	}
	return &board.SetTeam{Team: *t}
}

var writer1 = board.Actor{ID: "docs-writer-1", Role: roles.Coder, Session: "s-docs-writer-1"}

// TestTeamFaults checks that a team that can't work is refused, and that the line of its text is
// found.
func TestTeamFaults(t *testing.T) {
	for _, c := range []struct {
		name, where, what string
		change            func(*board.Team)
		line              string // on which it is found
	}{
		{"no roles", "roles", "1 to 50 roles, not 0", func(t *board.Team) { t.Roles = nil }, "roles: []"},
		{"two of one name", "roles[3].name", `two roles called "coder"`, func(t *board.Team) { t.Roles[3].Name = "coder" }, "- name: coder"},
		{"more roles than may be", "roles", "1 to 50 roles, not 51", func(t *board.Team) {
			for n := range 47 {
				t.Roles = append(t.Roles, board.Role{Name: "more-" + string(rune('a'+n/26)) + string(rune('a'+n%26)), Kind: board.CoderKind})
			}
		}, "roles:"},
		{"more stages than may be", "stages", "at most 50 stages, not 51", func(t *board.Team) {
			for n := range 49 {
				t.Stages = append(t.Stages, board.Stage{Name: "more-" + string(rune('a'+n/26)) + string(rune('a'+n%26)), Role: "coder"})
			}
		}, "stages:"},
		{"a model in two lines", "roles[3].model", "holds a control character", func(t *board.Team) { t.Roles[3].Model = "m\n1" }, "model: |-"},
		{"a blank skill", "roles[3].skills[0]", "is not the name of a skill", func(t *board.Team) { t.Roles[3].Skills = []string{" "} }, `- " "`},
		{"a next stage twice", "stages[0].next[1]", "docs is listed twice", func(t *board.Team) { t.Stages[0].Next = []string{"docs", "docs"} }, "- docs"},
		{"a bad name", "roles[3].name", `"Docs 1" can't be the name`, func(t *board.Team) { t.Roles[3].Name = "Docs 1" }, "- name: Docs 1"},
		{"a human", "roles[3].name", "can't be the name", func(t *board.Team) { t.Roles[3].Name = "human" }, "- name: human"},
		{"no kind", "roles[3].kind", `"" is not a kind of role: use planner, coder or reviewer`, func(t *board.Team) { t.Roles[3].Kind = "" }, `kind: ""`},
		{"another kind of coder", "roles[1].kind", "is of the kind coder, not reviewer", func(t *board.Team) { t.Roles[1].Kind = "reviewer" }, "kind: reviewer"},
		{"a CLI with arguments", "roles[3].cli", "not the name of a CLI", func(t *board.Team) { t.Roles[3].CLI = "claude -p" }, "cli: claude -p"},
		{"more than the maximum", "roles[3].min", "5 is more than the maximum, 4", func(t *board.Team) { t.Roles[3].Min, t.Roles[3].Max = 5, 4 }, "min: 5"},
		{"less than nothing", "roles[3].tokens", "-1 is not from 0", func(t *board.Team) { t.Roles[3].Tokens = -1 }, "tokens: -1"},
		{"instructions without a file", "roles[3].instructions", "is not a file on the integration branch", func(t *board.Team) { t.Roles[3].Instructions = "a.md" }, "instructions: a.md"},
		{"a skill twice", "roles[3].skills[1]", "is listed twice", func(t *board.Team) { t.Roles[3].Skills = []string{"go", "go"} }, "- go"},
		{"no stage code", "stages", "the stage code is missing", func(t *board.Team) { t.Stages = t.Stages[1:] }, "stages:"},
		{"two stages", "stages[1].name", "two stages called", func(t *board.Team) { t.Stages[1].Name = "code" }, "- name: code"},
		{"nobody does it", "stages[1]", "nobody does the stage docs", func(t *board.Team) { t.Stages[1].Role = "" }, "- name: docs"},
		{"an unknown role", "stages[1].role", `no role "docs-writers": nearest: docs-writer`, func(t *board.Team) { t.Stages[1].Role = "docs-writers" }, "role: docs-writers"},
		{"a reviewer codes", "stages[1].role", "code-reviewer is a reviewer", func(t *board.Team) { t.Stages[1].Role = "code-reviewer" }, "role: code-reviewer"},
		{"an unknown stage", "stages[0].next[0]", `no stage "doc": nearest: docs`, func(t *board.Team) { t.Stages[0].Next = []string{"doc"} }, "- doc"},
		{"a cycle", "stages[0].next[0]", "in a cycle: docs leads back to code", func(t *board.Team) { t.Stages[1].Next = []string{"code"} }, "- docs"},
		{"a quorum out of reach", "stages[1].review.approvals", "3 approvals are asked for, and the roles that review have at most 2 agents", func(t *board.Team) {
			t.Roles[2].Max, t.Stages[1].Review.Approvals = 2, 3
		}, "approvals: 3"},
		{"a blank test", "stages[1].test", "is not a command in one line", func(t *board.Team) { t.Stages[1].Test = " " }, `test: " "`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := withDocs(c.change)
			f := p.Team.Fault()
			if f == nil || f.Where != c.where || !strings.Contains(f.What, c.what) {
				t.Fatalf("got %+v, want %s: %s", f, c.where, c.what)
			}
			begun(t).refused("invalid", human, p, c.what)
			text := testrun.Must(codec.Encode(&p.Team))(t)
			line := strings.Split(string(text), "\n")[codec.LineOf(text, f.Where)-1]
			equal(t, "the line", strings.TrimSpace(line), c.line)
		})
	}
	if f := board.BuiltinTeam().Fault(); f != nil {
		t.Errorf("the built-in team: %v", f)
	}
}

// TestTeam checks that roles are those of the team at the time, for registering and for everything
// after.
func TestTeam(t *testing.T) {
	s := begun(t)
	equal(t, "own team", s.state().OwnTeam(), nil)
	register := &board.Register{Session: writer1.Session, Clone: "here"}
	s.refused("invalid", writer1, register, `"docs-writer-1" is not an agent id: write the role and a number, like coder-1`)
	s.refused("permission", planner, withDocs())
	s.do(human, withDocs())
	s.refused("exists", human, withDocs())
	s.refused("invalid", board.Actor{ID: "docs-writer-1", Role: roles.CodeReviewer, Session: "x"}, register, "docs-writer-1 is a coder")
	s.refused("invalid", agentOf("docs-writers-1", roles.Coder), register, "nearest: docs-writer")
	s.do(writer1, register)
	equal(t, "role", s.agent("docs-writer-1").Role, roles.Coder)
	s.do(human, &board.AddNote{For: "docs-writer-1", Message: "hello"})
	s.refused("reserved", human, &board.SetTeam{Team: *board.BuiltinTeam()}, "docs-writer-1", "git liza recover-agent docs-writer-1")
	s.refused("reserved", human, withDocs(func(t *board.Team) { t.Roles[3].Kind, t.Stages[1].Role = board.ReviewerKind, "coder" }), "docs-writer-1")
	s.do(writer1, &board.Deregister{})
	s.do(human, &board.SetTeam{Team: *board.BuiltinTeam()})
	s.refused("invalid", writer1, register, "is not an agent id")
}

// TestTeamOfBusyAgents checks that the refusal to remove a role names what its agents work on.
func TestTeamOfBusyAgents(t *testing.T) {
	s := begun(t).claimed("login").ready("logout").do(coder2, claim("logout"))
	without := withDocs(func(t *board.Team) {
		t.Roles = append(t.Roles[:1:1], t.Roles[2:]...)
		t.Stages[0].Role = "docs-writer"
	})
	s.refused("reserved", human, without, "coder-1 (works on login), coder-2 (works on logout), coder-3")
	s.do(coder1, preExec("login")).do(coder1, submit("login")).do(reviewer1, review("login"))
	s.refused("reserved", human, withDocs(func(t *board.Team) { t.Roles = append(t.Roles[:2:2], t.Roles[3:]...) }), "code-reviewer-1 (reviews login), code-reviewer-2")
	unplanned := withDocs(func(t *board.Team) { t.Roles = t.Roles[1:] })
	s.refused("reserved", human, unplanned, "planner-1 (plans goal-1)")
	s.do(human, &board.GoalAbort{})
	if r := s.refused("reserved", human, unplanned, "planner-1"); strings.Contains(r.Message, "plans") {
		t.Error(r.Message)
	}
}

// staged adds a task of a stage and makes it claimable.
func (s *script) staged(id, stage string, depends ...string) *script {
	s.t.Helper()
	return s.do(planner, inStage(id, stage, depends...)).do(planner, finalize(id))
}

func inStage(id, stage string, depends ...string) *board.AddTask {
	p := add(id, depends...)
	p.Stage = stage
	return p
}

// TestClaimOfAStage checks that only the agents of the role that does a stage claim its tasks, and
// that the refusal names them.
func TestClaimOfAStage(t *testing.T) {
	never := func(string, board.Brief) bool { return false }
	s := begun(t).do(human, withDocs()).staged("manual", "docs").ready("login")
	s.refused("permission", coder1, claim("manual"), "manual is of the stage docs, which is for a docs-writer, not for a coder", "git liza agent docs-writer")
	s.do(writer1, &board.Register{Session: writer1.Session, Clone: "here"})
	s.refused("permission", coder1, claim("manual"), "it is for docs-writer-1")
	s.refused("permission", writer1, claim("login"), "login is of the stage code, which is for a coder, not for a docs-writer", "coder-1, coder-2")
	equal(t, "for the coder", board.NextClaim(s.state(), coder1.ID, nil, never), "login")
	equal(t, "for the writer", board.NextClaim(s.state(), writer1.ID, nil, never), "manual")
	s.do(writer1, claim("manual")).do(coder1, claim("login"))
	without := withDocs(func(t *board.Team) { t.Roles, t.Stages[1].Role = t.Roles[:3], "coder" })
	s.refused("reserved", human, without, "docs-writer-1 (works on manual)")
}

// TestReservedForAStage checks that a task is not kept for a coder who could not claim it.
func TestReservedForAStage(t *testing.T) {
	s := begun(t).do(human, withDocs()).claimed("login").do(coder1, block("login"))
	s.do(writer1, &board.Register{Session: writer1.Session, Clone: "here"})
	to := func(id string) *board.Unblock {
		return &board.Unblock{About: about("login"), Mode: board.UnblockKeepWork, To: id, Assessment: "a"}
	}
	s.refused("permission", planner, to(writer1.ID), "which is for a coder, not for a docs-writer")
	s.do(planner, to(coder2.ID))
}

// TestStageOfATask checks which stages a task may be in, and on which tasks it may depend.
func TestStageOfATask(t *testing.T) {
	s := begun(t)
	s.refused("invalid", planner, inStage("manual", "docs"), `"docs" is not a stage of this team: use code`)
	s.do(human, withDocs(func(t *board.Team) {
		t.Stages[1].Next = []string{"print"}
		t.Stages = append(t.Stages, board.Stage{Name: "print", Role: "docs-writer"})
	}))
	s.refused("invalid", planner, inStage("manual", "doc"), `"doc" is not a stage`, "docs")
	s.staged("login", "code").staged("manual", "docs", "login").staged("book", "print", "login", "manual")
	s.refused("invalid", planner, inStage("logout", "code", "manual"), "depends_on names manual of the stage docs, which code may not follow", "git liza team show")
	s.refused("invalid", planner, inStage("cover", "docs", "book"), "book of the stage print, which docs may not follow")
	s.refused("invalid", planner, &board.AmendTask{About: about("manual"), Definition: board.Definition{Stage: "prints"}, Set: []string{"stage"}, Reason: "r"}, `"prints" is not a stage`)
}

// TestStageOfLiveTasks checks that no stage is removed as long as tasks are in it.
func TestStageOfLiveTasks(t *testing.T) {
	s := begun(t).do(human, withDocs()).staged("manual", "docs").staged("guide", "docs")
	builtin := &board.SetTeam{Team: *board.BuiltinTeam()}
	s.refused("reserved", human, builtin, "would lose the stage docs, and these tasks are in it: guide and manual", "git liza amend-task guide --stage code")
	s.do(human, &board.Abandon{About: about("manual"), Reason: "not needed"}).do(human, &board.Abandon{About: about("guide"), Reason: "not needed"})
	s.do(human, builtin)
	if v := board.Violations(s.state()); len(v) > 0 {
		t.Error(v)
	}
}

func agentOf(id string, role roles.Role) board.Actor {
	return board.Actor{ID: id, Role: role, Session: "s-" + id}
}
