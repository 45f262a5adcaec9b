package board_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"

	"github.com/git-liza/git-liza/gitboard/board"
)

var numbered = map[string]string{board.NoteDir: "note", board.AnomalyDir: "anomaly", board.DiscoveryDir: "disc", board.SpecChangeDir: "change"}

func TestRecordPath(t *testing.T) {
	for _, c := range []struct{ dir, id, path string }{
		{board.TaskDir, "add-auth", "tasks/add-auth.yaml"},
		{board.TaskDir, "note-12345", "tasks/note-12345.yaml"},
		{board.AgentDir, "coder-101", "agents/coder-101.yaml"},
		{board.HandoffDir, "add-auth", "handoff/add-auth.yaml"},
		{board.NoteDir, "note-1", "notes/0/0/note-1.yaml"},
		{board.NoteDir, "note-99", "notes/0/0/note-99.yaml"},
		{board.NoteDir, "note-100", "notes/0/1/note-100.yaml"},
		{board.AnomalyDir, "anomaly-9999", "anomalies/0/99/anomaly-9999.yaml"},
		{board.DiscoveryDir, "disc-10000", "discovered/1/100/disc-10000.yaml"},
		{board.SpecChangeDir, "change-12345", "spec-changes/1/123/change-12345.yaml"},
		{board.NoteDir, "note-999999999", "notes/99999/9999999/note-999999999.yaml"},
		{board.ArchiveDir, "sprint-1/add-auth", "archive/sprint-1/add-auth.yaml"},
	} {
		testrun.Equal(t, board.RecordPath(c.dir, c.id), c.path, "%s of %s lies at", c.id, c.dir)
		if dir, id, ok := board.SplitPath(c.path); !ok || dir != c.dir || id != c.id {
			t.Errorf("%s is %q of %q, %v", c.path, id, dir, ok)
		}
		if board.NewRecord(c.path) == nil {
			t.Errorf("%s is not a record", c.path)
		}
	}
	for _, path := range []string{
		"notes/note-1.yaml", "notes/0/note-1.yaml", "notes/0/1/note-1.yaml", "notes/1/0/note-1.yaml", "notes/00/0/note-1.yaml", "notes/0/0/0/note-1.yaml",
		"notes/0/0/note-01.yaml", "notes/0/0/note-0.yaml", "notes/0/0/note-1", "notes/0/1/note-1e2.yaml", "notes//note-1.yaml", "tasks/0/0/a.yaml", "tasks/0/a.yaml",
		"archive/a.yaml", "archive/sprint-1/b/a.yaml", "archive/S/a.yaml", "archive//a.yaml", "archive/sprint-1/.yaml", "archive/sprint-1/A.yaml", "archive/sprint-1/a",
		"other/a.yaml", "notes", "notes/", "",
	} {
		if board.NewRecord(path) != nil {
			t.Errorf("%q is a record", path)
		}
	}
	for _, path := range []string{"tasks/0/a.yaml", "archive/a.yaml", "notes/0/note-1.yaml", "other/a.yaml"} {
		if _, _, ok := board.SplitPath(path); ok {
			t.Errorf("%q is where a record belongs", path)
		}
	}
	for path, want := range map[string]bool{
		"tasks": true, "notes": true, "notes/0": true, "notes/0/99": true, "notes/1/100": true, "anomalies/12/1234": true,
		"archive": true, "archive/sprint-1": true, "archive/": false, "archive/sprint-1/a": false, "archive/S": false, "archive/sprint-1/a.yaml": false,
		"": false, "other": false, "tasks/0": false, "notes/": false, "notes/00": false, "notes/x": false, "notes/-1": false, "notes/+1": false, "notes/0/100": false,
		"notes/1/99": false, "notes/0/": false, "notes/0/01": false, "notes/0/0/0": false, "notes/0/0/note-1.yaml": false, "goals/goal-1.yaml": false,
	} {
		testrun.Equal(t, board.IsDir(path), want, "%q is a directory of records: %v", path, !want)
	}
}

// TestNumbers checks that the next number is one more than the highest, in whatever directory. The
// number of a removed record is reused only if it was the last.
func TestNumbers(t *testing.T) {
	below := board.NewMemory()
	s := board.NewState(below, "")
	put := func(dir string, numbers ...int) {
		for _, n := range numbers {
			path := board.RecordPath(dir, fmt.Sprintf("%s-%d", numbered[dir], n))
			s.Changes()[path] = board.NewRecord(path)
		}
	}
	last := func(dir, want string) {
		t.Helper()
		got, err := s.LastID(dir)
		if err != nil || got != want {
			t.Errorf("the last of %s is %q, %v, not %q", dir, got, err, want)
		}
		if ids := s.List(dir); len(ids) > 0 && ids[len(ids)-1] != want {
			t.Errorf("the last of %v is not %s", ids, want)
		}
	}
	last(board.NoteDir, "")
	for dir := range numbered {
		put(dir, 9, 10, 101, 2, 11_000)
		last(dir, numbered[dir]+"-11000")
	}
	below.Absorb(s)
	s = board.NewState(below, "")
	last(board.NoteDir, "note-11000")
	put(board.NoteDir, 100_000, 99)
	last(board.NoteDir, "note-100000")
	testrun.EqualSlices(t, s.List(board.NoteDir), []string{"note-2", "note-9", "note-10", "note-99", "note-101", "note-11000", "note-100000"}, "listed")
	s = board.NewState(below, "")
	s.Changes()["notes/0/0/note-9.yaml"] = nil
	last(board.NoteDir, "note-11000")
	s.Changes()["notes/1/110/note-11000.yaml"] = nil
	last(board.NoteDir, "note-101")
	below.Absorb(s)
	s = board.NewState(below, "")
	last(board.NoteDir, "note-101")
	last(board.AnomalyDir, "anomaly-11000")
}

func TestTaskBranches(t *testing.T) {
	b := board.TaskBranches("teams/agents/")
	equal(t, "branch", b.Of("login"), "teams/agents/login")
	equals(t, "parents", b.Parents(), []string{"teams", "teams/agents"})
	for branch, want := range map[string]string{"teams/agents/login": "login", "teams/login": "", "agents/login": "", "teams/agents/a/b": "", "teams/agents/": ""} {
		if id, is := b.Task(branch); is != (want != "") || is && id != want {
			t.Errorf("%s is the branch of %q (%v)", branch, id, is)
		}
	}
	equal(t, "no settings", (*board.Config)(nil).TaskBranches(), board.UsualTaskBranches)
}

// The prefix can change until the first claim. From then on some clone may have a branch of the old
// name, even of a task that is finished or archived.
func TestTaskBranchPrefix(t *testing.T) {
	set := func(value string) *board.SetConfig {
		return &board.SetConfig{Key: board.KeyTaskBranches, Value: value}
	}
	s := begun(t).do(human, set("agents/"))
	equal(t, "branch", s.state().TaskBranches().Of("login"), "agents/login")
	for _, bad := range []string{
		"", "/", "agents", "agents//", "/agents/", "liza/", "Liza/x/", "refs/heads/", "HEAD/", "-a/", "a b/", "a..b/", ".a/", "a.lock/", "con/", "a\x01/",
		"integration/", "Integration/x/", "a/" + strings.Repeat("b", 250) + "/",
	} {
		s.refused("invalid", human, set(bad))
	}
	s.refused("exists", human, set("agents/"))
	s.refused("permission", planner, set("task/"))
	s.refused("invalid", human, &board.Write{Path: board.ConfigPath, Fields: []board.FieldEdit{{Field: board.KeyTaskBranches, Value: "liza/"}}})
	s.do(human, set("work/in/")).claimed("login")
	s.refused("wrong-state", human, set("agents/"), "work/in/ for good")
	s.refused("wrong-state", human, &board.Write{Path: board.ConfigPath, Fields: []board.FieldEdit{{Field: board.KeyTaskBranches, Value: "agents/"}}})
	s.do(coder1, &board.Release{About: board.About{Task: "login"}})
	s.refused("wrong-state", human, set("agents/"))
	equal(t, "no change", board.MayRenameBranches(s.state()), false)
}
