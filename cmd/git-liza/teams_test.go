//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
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

// sizes is the script of an agent of any role; the planner plans the tasks of LIZA_TEST_TASKS, or
// the remaining ones if an earlier one was killed.
const sizes = `
p=$LIZA_PROMPT_FILE
task=$(sed -n 's/^TASK ID: //p' "$p")
case $LIZA_AGENT_ID in
planner-*)
	grep -q '^WAKE TRIGGER: INITIAL_PLANNING' "$p" || exit 0
	for t in $LIZA_TEST_TASKS; do
		case $(git liza show $t 2>/dev/null | grep ^status) in
		'') git liza add-task --id $t --desc $t --done "$t.txt is there" --scope 'one file' --spec specs/vision.md --ready ;;
		*DRAFT*) git liza finalize $t ;;
		esac || exit 1
	done
	;;
coder-*)
` + submits + `
	;;
*)
	git liza verdict $task APPROVED --checked tests --commit $(sed -n 's/^REVIEW COMMIT: //p' "$p")
	;;
esac
`

// TestTeamSizesItself: a team without numbers reaches a goal with never more agents of a role than
// it may have, though it is killed again and again; its tasks are taken up by others.
func TestTeamSizesItself(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	tasks, kills := 30, 8
	p := newProject(t)
	agent := script(t, sizes)
	var ids []string
	for i := range tasks {
		ids = append(ids, fmt.Sprintf("t%d", i))
	}
	p.env = append(p.env, "LIZA_TEST_TASKS="+strings.Join(ids, " "))
	for _, args := range [][]string{ // a planner was killed between the two steps of add-task --ready
		{"register"},
		{"add-task", "--id=t0", "--desc=t0", "--done=t0.txt is there", "--scope=one file", "--spec=specs/vision.md"},
		{"deregister"},
	} {
		p.must("planner-1", args...)
	}
	most := 0 // coders at once
	for kill := range kills + 1 {
		team := p.supervise("team", "--exec=sh '"+agent+"'")
		if kill < kills {
			team.hears("claimed", "t")
			team.hears("claimed", "t")
			team.signal(syscall.SIGKILL)
			<-team.over
		} else {
			team.ends(0)
			team.reached()
		}
		members := map[string]map[string]bool{"planner": {}, "coder": {}, "code-reviewer": {}}
		for _, e := range team.all() {
			role := e.Agent[:max(0, strings.LastIndexByte(e.Agent, '-'))]
			switch e.Event {
			case "registered":
				members[role][e.Agent] = true
			case "stopped":
				delete(members[role], e.Agent)
			}
			if len(members["planner"]) > 1 || len(members["coder"]) > 3 || len(members["code-reviewer"]) > 3 {
				t.Fatalf("too many at once: %v\n%s", members, team.story())
			}
			most = max(most, len(members["coder"]))
		}
	}
	if most < 2 {
		t.Errorf("%d tasks were done by one coder at a time", tasks)
	}
	p.allMerged()
}
