//go:build linux

package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// sells is the script of an agent of any role. A goal's planner plans one task for it; chairs
// depend on wood, which is another goal's task.
const sells = `
p=$LIZA_PROMPT_FILE
task=$(sed -n 's/^TASK ID: //p' "$p")
plan() { git liza add-task --id "$1" --desc "$1" --done "$1.txt is there" --scope 'one file' --spec specs/vision.md --depends "$2" --ready; }
case $LIZA_AGENT_ID in
planner-*)
	grep -q '^WAKE TRIGGER: INITIAL_PLANNING' "$p" || exit 0
	goal=$(sed -n 's/^GOAL: Sell //p' "$p")
	test "$goal" = chairs && plan chairs wood || plan "$goal" ''
	;;
coder-*)
` + submits + `
	;;
*)
	git liza verdict $task APPROVED --checked tests --commit $(sed -n 's/^REVIEW COMMIT: //p' "$p")
	;;
esac
`

// script writes the script of an agent and returns its path.
func script(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent")
	testrun.Check(t, testrun.WriteProgram(path, text))
	return path
}

// TestTeamOfGoals: a team reaches two goals side by side, one of which depends on a task of the
// other, and a day later, after a restart, a third one in the same repository.
func TestTeamOfGoals(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	p := newProject(t)
	agent := script(t, sells)
	team := func(states map[string]string) {
		t.Helper()
		s := p.supervise("team", "--planners=2", "--coders=2", "--reviewers=1", "--exec=sh '"+agent+"'")
		s.ends(0)
		said := map[string]string{}
		for _, e := range s.all() {
			if e.Event == "goal" {
				said[e.Goal] = e.Status
			}
		}
		for goal, state := range states {
			if said[goal] != state {
				t.Errorf("%s is %q, not %s\n%s", goal, said[goal], state, s.story())
			}
		}
		if len(said) != len(states) {
			t.Errorf("goals: %v", said)
		}
	}
	p.must("", "add-task", "--id=wood", "--desc=wood", "--done=wood.txt is there", "--scope=one file", "--spec=specs/vision.md", "--ready")
	p.must("", "goal", "start", "Sell chairs", "--id=chairs")
	team(map[string]string{"goal-1": "COMPLETED", "chairs": "COMPLETED"})
	p.env = append(p.env, "LIZA_TEST_AHEAD=24h") // a day later
	p.must("", "goal", "start", "Sell lamps", "--id=lamps")
	team(map[string]string{"lamps": "COMPLETED"})
	if since, till := p.ended("chairs"), p.ended("lamps"); till.Sub(since) < 24*time.Hour {
		t.Errorf("chairs ended at %s, lamps at %s", since, till)
	}
	p.allMerged()
}

// ended is when a goal ended.
func (p *project) ended(goal string) time.Time {
	p.t.Helper()
	for _, g := range p.board().Goals {
		if g.ID == goal {
			return testrun.Must(time.Parse(time.RFC3339, g.Ended))(p.t)
		}
	}
	p.t.Fatalf("there is no goal %s", goal)
	return time.Time{}
}
