//go:build linux

package main

import (
	"strings"
	"testing"

	"github.com/git-liza/git-liza/gitboard/testrun"
)

// specifies is the script of an agent of any role of the team spec-plan-code. The spec is written
// and merged first. The first plan for it is rejected, and revised.
const specifies = `
p=$LIZA_PROMPT_FILE
task=$(sed -n 's/^TASK ID: //p' "$p")
add() { git liza add-task --id "$1" --stage "$2" --desc "$1" --done "$3" --scope 'one file' --spec specs/vision.md --depends "$4" && git liza finalize "$1"; }
case $LIZA_AGENT_ID in
planner-*)
	case $(sed -n 's/^WAKE TRIGGER: //p' "$p") in
	INITIAL_PLANNING) add menu spec 'menu.txt is there' '' && add shop code 'it works' menu ;;
	PLAN_REJECTED)
		grep -q 'rejected by plan-reviewer-[0-9]: name the file' "$p" || exit 1
		git liza amend-task shop --done 'shop.txt is there' && git liza finalize shop ;;
	esac
	;;
plan-reviewer-*)
	if test -n "$task"; then
		git liza verdict $task APPROVED --checked tests --commit $(sed -n 's/^REVIEW COMMIT: //p' "$p")
		exit
	fi
	for draft in $(git liza prime --json | sed 's/.*"drafts":\[\([^]]*\)\].*/\1/; s/[",]/ /g'); do
		case $(git liza read tasks.$draft.done_when) in
		'it works') git liza reject-draft $draft --reason 'name the file' ;;
		*) git liza finalize $draft ;;
		esac || exit 1
	done
	;;
coder-* | spec-writer-*)
` + submits + `
	;;
*)
	git liza verdict $task APPROVED --checked tests --commit $(sed -n 's/^REVIEW COMMIT: //p' "$p")
	;;
esac
`

// TestTeamReviewsPlan: a team with roles of its own writes a spec, has it and the plan reviewed,
// revises a rejected draft, and reaches the goal.
func TestTeamReviewsPlan(t *testing.T) {
	testrun.LongOnly(t)
	t.Parallel()
	p := newProject(t)
	agent := script(t, specifies)
	p.must("", "team", "set", "--template", "spec-plan-code", "--yes")
	team := p.supervise("team", "--exec=sh '"+agent+"'")
	team.ends(0)
	team.reached()
	did := map[string]bool{} // by role: how many agents of a role were hired depends on who was busy when
	for _, op := range p.operations("") {
		did[op.op+" "+op.agent[:max(0, strings.LastIndexByte(op.agent, '-'))]] = true
	}
	for _, op := range []string{"reject-draft plan-reviewer", "finalize plan-reviewer", "verdict plan-reviewer", "submit spec-writer", "verdict code-reviewer"} {
		if !did[op] {
			t.Errorf("no %s\n%s", op, team.story())
		}
	}
	p.allMerged()
}
