package board_test

import (
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/board"
)

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
