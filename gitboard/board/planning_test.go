package board_test

import (
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
)

// TestAddTask checks the ids and dependencies of new tasks.
func TestAddTask(t *testing.T) {
	s := begun(t).do(planner, add("login"))
	s.refused("exists", planner, add("login"), "login")
	for _, id := range []string{"", "Login", "-a", "a/b", "../a", string(make([]byte, 65))} {
		s.refused("invalid", planner, add(id))
	}
	for _, bend := range []func(*board.AddTask){
		func(p *board.AddTask) { p.Priority = 6 },
		func(p *board.AddTask) { p.DependsOn = []string{"new"} },
		func(p *board.AddTask) { p.DependsOn = []string{"login", "login"} },
		func(p *board.AddTask) { p.Planned, p.Stretch = true, true },
	} {
		p := add("new")
		bend(p)
		s.refused("invalid", planner, p)
	}
	s.refused("unknown-task", planner, add("new", "logn"), "depends_on", "nearest: login")
}

// TestInject checks that only a human adds a task that is ready, and only with a spec.
func TestInject(t *testing.T) {
	p := add("login")
	p.Ready, p.SpecOID = true, sha("5")
	s := begun(t)
	s.refused("permission", planner, p)
	p.SpecOID = ""
	s.refused("gate", human, p, "login", "git liza land --spec FILE")
	p.NoSpecFile = true
	s.do(human, p)
}

func TestFinalizeGates(t *testing.T) {
	for field, bend := range map[string]func(*board.AddTask){
		"done_when": func(p *board.AddTask) { p.DoneWhen = "" },
		"scope":     func(p *board.AddTask) { p.Scope = " " },
		"spec_ref":  func(p *board.AddTask) { p.SpecRef = "" },
	} {
		p := add("login")
		bend(p)
		begun(t).do(planner, p).refused("gate", planner, finalize("login"), "login", field)
	}
	s := begun(t).do(planner, add("login"))
	s.refused("gate", planner, &board.Finalize{About: about("login")}, "login", "specs/login.md")
	begun(t).do(planner, add("login")).do(planner, &board.Finalize{About: about("login"), NoSpecFile: true})
}

func TestAmend(t *testing.T) {
	amend := &board.AmendTask{About: about("login"), Set: []string{"scope"}, Definition: board.Definition{Scope: "less"}}
	s := begun(t).do(planner, add("login")).do(planner, amend)
	equal(t, "alignment", len(s.state().TheGoal().AlignmentHistory), 0)
	s.refused("invalid", planner, amend, "changes nothing")
	s.refused("invalid", planner, &board.AmendTask{About: about("login"), Set: []string{"depends_on"}, Definition: board.Definition{DependsOn: []string{}}}, "changes nothing")
	s.do(planner, finalize("login"))
	amend.Scope = "even less"
	s.refused("invalid", planner, amend, "login is UNCLAIMED", "reason")
	amend.Reason = "too much for one"
	s.do(planner, amend)
	amend.Scope = ""
	s.refused("gate", planner, amend, "login has no scope")
	if d := s.task("login").AmendedSinceClaim(); d != nil {
		t.Errorf("amended before its claim: %+v", d)
	}
	s = begun(t).in(board.Blocked, "login")
	was := s.task("login").Scope
	amend.Scope = "a.txt alone"
	s.do(human, amend)
	equals(t, "amended since", *s.task("login").AmendedSinceClaim(), board.Definition{Scope: was})
}

func TestAbandon(t *testing.T) {
	p := &board.Abandon{About: about("login"), Reason: "not needed", Kept: sha("9")}
	for _, from := range []board.Status{board.Draft, board.Unclaimed, board.Blocked} {
		begun(t).in(from, "login").do(planner, p)
	}
	s := begun(t).ready("login").do(planner, add("logout", "login"))
	s.refused("dependents", planner, p, "login", "logout")
	s.do(planner, &board.Abandon{About: about("logout"), Reason: "x"}).do(planner, p)
}

func TestSupersede(t *testing.T) {
	s := begun(t).ready("big").do(planner, add("after", "big")).do(planner, add("one")).do(planner, add("two", "one"))
	by := func(reason string, ids ...string) *board.Supersede {
		return &board.Supersede{About: about("big"), By: ids, Reason: reason}
	}
	s.refused("invalid", planner, by("r", "big"))
	s.refused("invalid", planner, by("r", "one", "one"))
	s.do(planner, by("Too large for one reviewer.", "one", "two"))
	equals(t, "depends_on", s.task("after").DependsOn, []string{"one", "two"})
	equals(t, "planned", s.state().Sprint().Scope.Planned, []string{"one", "two", "after"})
	s.refused("invalid", planner, &board.Supersede{About: about("one"), By: []string{"big"}, Reason: "r"}, "SUPERSEDED")
	s.refused("invalid", planner, add("late", "big"), "SUPERSEDED")
}

// TestSupersedeByADependent checks that a replacement that depended on the old task does not depend
// on itself.
func TestSupersedeByADependent(t *testing.T) {
	s := begun(t).ready("big").do(planner, add("rest", "big")).do(planner, &board.Supersede{About: about("big"), By: []string{"rest"}, Reason: "One task."})
	equal(t, "depends_on", len(s.task("rest").DependsOn), 0)
}
