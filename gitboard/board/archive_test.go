package board_test

import (
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/testrun"
)

func archive(sprint string, tasks ...string) *board.Archive {
	return &board.Archive{Sprint: sprint, Tasks: tasks}
}

func TestArchive(t *testing.T) {
	s := begun(t).ready("open").in(board.Merged, "login").in(board.Abandoned, "never")
	s.refused("wrong-state", human, archive("sprint-1", "login"), "sprint-1 is IN_PROGRESS")
	s.do(human, &board.SprintEnd{})
	s.refused("invalid", human, archive("../x", "login"))
	s.refused("invalid", human, archive("sprint-1", "login", "login"), "twice")
	s.refused("wrong-state", human, archive("sprint-1", "open"), "open is UNCLAIMED")
	s.refused("invalid", human, archive("sprint-1", make([]string, board.MaxArchived+1)...))
	s.do(human, archive("sprint-1", "login", "never"))
	s.refused("exists", human, archive("sprint-1", "login"), "archived already, in sprint-1")

	equals(t, "the remaining tasks", s.state().List(board.TaskDir), []string{"open"})
	equals(t, "the archived tasks", s.state().List(board.ArchiveDir), []string{"sprint-1/login", "sprint-1/never"})
	equal(t, "found by id", s.task("login").Status, board.Merged)
	equal(t, "where", board.ArchivedIn(s.state(), "login")+board.ArchivedIn(s.state(), "open"), "sprint-1")
	if _, err := s.state().FindTask("login"); err != nil {
		t.Error(err)
	}
	equal(t, "violations", len(board.Violations(s.state())), 0)

	s.refused("exists", planner, add("login"), "there is a task login already")
	s.refused("wrong-state", planner, give("login"), "login is MERGED")
	s.refused("wrong-state", human, write("archive/sprint-1/login.yaml", "scope", "x"), "nothing about it changes")
	s.refused("invalid", planner, &board.Supersede{About: about("open"), By: []string{"login"}, Reason: "r"}, "login is archived")
	s.refused("invalid", planner, addDepending("more", "never"), "never, which is ABANDONED")
	s.do(human, &board.SprintStart{Planned: []string{"open"}, Stretch: []string{"login"}})
	s.do(human, note("login", "well done"))
}

func addDepending(id string, on ...string) *board.AddTask {
	p := add(id)
	p.DependsOn = on
	return p
}

func note(task, text string) *board.AddNote { return &board.AddNote{For: task, Message: text} }

// TestArchivedDependency checks that tasks that depend on an archived task remain claimable.
func TestArchivedDependency(t *testing.T) {
	s := begun(t).in(board.Merged, "login").ready("open", "login").do(human, archive("sprint-1", "login"))
	next := board.NextClaim(s.state(), coder1.ID, nil, func(string, board.Brief) bool { return false })
	equal(t, "the next to claim", next, "open")
	o := testrun.Must(report.Look(s.state(), report.Outside{}, s.now.Std()))(t)
	equal(t, "waits for", len(o.Tasks[0].WaitsFor), 0)
	equal(t, "stuck", o.Stuck, 0)
	s.do(coder1, claim("open"))
	equal(t, "violations", len(board.Violations(s.state())), 0)
}

// TestAllArchived checks that a board whose tasks are all archived does not need initial planning.
func TestAllArchived(t *testing.T) {
	s := begun(t).in(board.Merged, "login").do(human, archive("sprint-1", "login"))
	wakes := report.Wakes(s.state(), "goal-1")
	equal(t, "wakes", len(wakes) == 1 && wakes[0].Trigger == report.AllTerminal, true)
	equal(t, "progress", board.LastProgress(s.state()).IsZero(), false)
	s.do(planner, &board.GoalComplete{})
}

// TestArchiveAnEarlierSprint checks that a task is archived with the sprint in which it ended.
func TestArchiveAnEarlierSprint(t *testing.T) {
	s := begun(t).in(board.Merged, "login").do(human, &board.SprintStart{}, 5).ready("open")
	began := s.state().Sprint().Timeline.Started
	s.in(board.Merged, "logout")
	s.refused("wrong-state", human, archive("sprint-1", "logout"), "in sprint-2")
	s.refused("wrong-state", human, archive("sprint-2", "logout"), "sprint-2 is")
	equals(t, "of the first", board.ToArchive(s.state(), "", began), []string{"login"})
	equals(t, "of the second", board.ToArchive(s.state(), began, ""), []string{"logout"})
	s.do(human, archive("sprint-1", "login"))
	s.do(human, &board.SprintEnd{}).do(human, archive("sprint-2", "logout"))
	equals(t, "archive", s.state().List(board.ArchiveDir), []string{"sprint-1/login", "sprint-2/logout"})
}
