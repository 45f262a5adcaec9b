package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// view is the data of the templates.
type view struct {
	Input
	Goal  *board.Goal
	T     *board.Task // for a coder or reviewer
	share int         // percentage of the normal room for texts
}

// complete looks up what the input names.
func (v *view) complete() error {
	if role, err := v.State.RoleOf(v.Agent); err != nil || role != v.Role {
		return board.Refuse(board.CodeInvalid, fmt.Sprintf("%s is not an id of a %s", text.Line(v.Agent, 40), v.Role), "like "+v.Role.ID(1))
	}
	if v.Role == roles.Coder || v.Role == roles.CodeReviewer && v.Wake == nil {
		t, err := v.State.FindTask(v.Input.Task)
		if err != nil {
			return err
		}
		v.T = t
		v.forGoal(t.Goal)
		return v.given()
	}
	if v.Wake == nil {
		return board.Refuse(board.CodeNoWork, "nothing wakes the planner", "git liza status")
	}
	v.forGoal(v.Wake.Goal)
	return nil
}

// forGoal looks up the goal of the task or wake-up; on a damaged board it makes up a substitute.
func (v *view) forGoal(id string) {
	if v.Goal = v.State.Goal(id); v.Goal == nil {
		v.Goal = &board.Goal{ID: id, Description: v.State.Purpose()}
	}
}

// ReadGoal is the command that prints the goal in full.
func (v *view) ReadGoal() string {
	if !board.ValidTaskID(v.Goal.ID) {
		return "git liza goal list"
	}
	return "git liza goal show " + v.Goal.ID
}

// IntegrationBranch is the name of the integration branch.
func (v *view) IntegrationBranch() string { return v.State.Config().IntegrationBranch }

// SpecFile is the file of the task's or the goal's spec.
func (v *view) SpecFile() string {
	ref := v.Goal.SpecRef
	if v.T != nil && v.T.SpecRef != "" {
		ref = v.T.SpecRef
	}
	file, _, _ := strings.Cut(ref, "#")
	return v.Line(200, cmp.Or(file, board.UsualSpec))
}

// handedOver are the statuses in which a task is given to an agent of a role.
var handedOver = map[roles.Role][]board.Status{
	roles.Coder:        {board.Unclaimed, board.Claimed, board.Rejected, board.IntegrationFailed},
	roles.CodeReviewer: {board.ReadyForReview},
}

func (v *view) given() error {
	if slices.Contains(handedOver[v.Role], v.T.Status) {
		return nil
	}
	return board.Refuse(board.CodeWrongState, fmt.Sprintf("%s is %s: it is given to no %s", v.T.ID, v.T.Status, v.Role), "git liza show "+v.T.ID)
}

// Title is the name of the role in prose.
func (v *view) Title() string {
	return map[roles.Role]string{roles.Planner: "Planner", roles.Coder: "Coder", roles.CodeReviewer: "Code Reviewer"}[v.Role]
}

// Stage is the stage of the task, "" if views don't show it.
func (v *view) Stage() string { return report.StageOf(v.State, v.T.Brief()) }

// Progress is how far the review of the submission is, "" for one that needs a single approval.
func (v *view) Progress() string { return report.ReviewOf(v.State, v.T.Brief()) }

// PlanReviewer is who reviews plans: "human", a role, or "" for nobody.
func (v *view) PlanReviewer() string { return v.State.Team().PlanReviewer() }

// Docs are the documents that the agent may read.
func (v *view) Docs() []Doc { return Docs(v.Role) }

// Supervision makes the constant Supervision available to templates.
func (v *view) Supervision() string { return Supervision }

// Notes are the notes for the agent, newest first.
func (v *view) Notes() []string {
	notes := report.NotesFor(v.State, v.names()...)
	slices.Reverse(notes)
	var lines []string
	for _, n := range notes {
		lines = append(lines, n.Line())
	}
	return lines
}

func (v *view) names() []string {
	if v.Wake != nil {
		return append([]string{v.Agent, string(v.Role)}, v.Wake.About...)
	}
	return []string{v.Agent, string(v.Role), v.T.ID}
}

// Comments are the line comments that the agent has to look at, newest first.
func (v *view) Comments() []string {
	left := v.Remarks
	if v.Role == roles.Coder {
		left = report.Unsettled(left, v.T.Submissions())
	}
	var lines []string
	for _, r := range slices.Backward(left) {
		lines = append(lines, r.String())
	}
	return lines
}

// Dependencies are the tasks that the task depends on, with their statuses.
func (v *view) Dependencies() []string {
	var lines []string
	for _, id := range v.T.DependsOn {
		state := "missing"
		if d := v.State.Task(id); d != nil {
			state = strings.TrimSpace(fmt.Sprintf("%s %.10s", d.Status, d.MergeCommit))
		}
		lines = append(lines, id+" "+state)
	}
	return lines
}

// SpecChanges are the recorded changes of the task's spec since it was created, newest first.
func (v *view) SpecChanges() []string {
	changes := report.SpecChangesFor(v.State, v.T)
	slices.Reverse(changes)
	var lines []string
	for _, c := range changes {
		lines = append(lines, c.ID+" "+c.Spec+": "+c.Change)
	}
	return lines
}

// Anomalies are the unacknowledged anomalies, newest first.
func (v *view) Anomalies() []string {
	open := report.OpenAnomalies(v.State)
	slices.Reverse(open)
	var lines []string
	for _, a := range open {
		lines = append(lines, report.AnomalyLine(a))
	}
	return lines
}

// TeamRole is the agent's role in the team.
func (v *view) TeamRole() *board.Role {
	r, _ := v.State.Team().RoleOf(v.Agent)
	return r
}

// Skills are the names of the skills of the agent's role.
func (v *view) Skills() string { return safe(strings.Join(v.TeamRole().Skills, ", ")) }

// ReadExtra is the command that prints the role's instructions in full.
func (v *view) ReadExtra() string { return "git cat-file blob " + v.TeamRole().Blob }
