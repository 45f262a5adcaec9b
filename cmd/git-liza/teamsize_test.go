//go:build linux

package main

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

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
