package prompt

import (
	"fmt"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// Doc is a document of the protocol, and why to read it.
type Doc struct{ Name, Why string }

// Docs are the parts of documents that a role may need to look up. The prompt holds what everybody needs.
func Docs(r roles.Role) []Doc {
	if r == roles.Human {
		return []Doc{{"operators-guide", "what is yours to do, and how to stop everything"}}
	}
	docs := map[roles.Role][]Doc{
		roles.Planner: {
			{"roles#gates-a-task-must-pass", "what finalize demands of a task"}, {"task-lifecycle#rescoping", "amend, supersede, abandon, unblock"},
			{"task-lifecycle#hypothesis-exhaustion", "two coders have failed"}, {"task-lifecycle#review-deadlock", "the limit of review cycles"},
		},
		roles.Coder: {
			{"multi-agent-contract#what-the-checkpoint-holds", "a checkpoint, with an example"}, {"worktrees#staleness-when-integration-has-moved", "bringing integration in"},
			{"roles#blocking", "when to block, and when not"}, {"task-lifecycle#hand-off", "leaving the rest to another coder"},
		},
		roles.CodeReviewer: {
			{"roles#binding-verdicts", "what a verdict binds, and the form of a rejection"}, {"task-lifecycle#review-cycles", "what follows a rejection"},
		},
	}[r]
	docs = append(docs, Doc{"agent-runtime#anomaly-types", "every anomaly type, with its details"}, Doc{"exit-codes", "what the exit codes of git liza mean"})
	return docs
}

// Supervision is what every agent with a supervisor is told.
const Supervision = "Your supervisor has registered you, renews your lease, claims tasks and reviews, and merges approved work.\n" +
	"Never run register, deregister, claim, claim-review or merge yourself: they are refused."

// Next are the commands that come next for an agent that may have a task of its own. A supervised one is given
// its work, and its approved work is merged for it.
func Next(role roles.Role, t *board.Task, supervised bool) []string {
	switch role {
	case roles.Human:
		return []string{"git liza status", "git liza log", "git liza verify"}
	case roles.CodeReviewer:
		return nextReview(t, supervised)
	}
	switch {
	case t == nil && supervised:
		return []string{"end your turn: your supervisor claims a task and starts you on it"}
	case t == nil:
		return []string{"git liza claim"}
	case t.Status == board.Rejected && supervised:
		return []string{"end your turn: your supervisor claims " + t.ID + " again and starts you on it"}
	case t.Status == board.Rejected:
		return []string{"git liza show " + t.ID, "git liza claim " + t.ID}
	case t.CheckpointOfIteration() == nil:
		return []string{"git liza show " + t.ID, fmt.Sprintf("git liza pre-exec %s --intent TEXT --validation TEXT --file PATH", t.ID), "work in " + t.Worktree}
	}
	return []string{"work in " + t.Worktree, "git liza submit " + t.ID, "git liza handoff " + t.ID + " --summary TEXT --next TEXT", "git liza block " + t.ID + " --reason TEXT --question TEXT"}
}

func nextReview(t *board.Task, supervised bool) []string {
	switch {
	case t == nil && supervised:
		return []string{"end your turn: your supervisor claims a review and starts you on it"}
	case t == nil:
		return []string{"git liza claim-review"}
	case t.Status == board.Approved && supervised:
		return []string{"end your turn: your supervisor merges " + t.ID}
	case t.Status == board.Approved:
		return []string{"git liza merge " + t.ID}
	}
	return []string{"git liza review " + t.ID, fmt.Sprintf("git liza verdict %s APPROVED|REJECTED --commit %s", t.ID, t.ReviewCommit)}
}

var (
	definesTask = []string{"git liza add-task --id ID --desc TEXT --spec FILE --done TEXT --scope TEXT", "git liza finalize ID"}
	changesTask = []string{"git liza show ID", "git liza amend-task ID --done TEXT --reason TEXT", "git liza unblock ID", "git liza supersede ID --by A,B --reason TEXT", "git liza abandon ID --reason TEXT"}
)

// NextPlan are the commands that come next for a planner, by the first trigger that stands.
func NextPlan(wakes []report.Wake, supervised bool) []string {
	switch {
	case len(wakes) == 0 && supervised:
		return []string{"end your turn: nothing wakes you"}
	case len(wakes) == 0:
		return append([]string{"git liza status"}, definesTask...)
	}
	next := []string{"git liza prompt planner"}
	switch wakes[0].Trigger {
	case report.InitialPlanning:
		return append(append(next, definesTask...), "git liza alignment TEXT")
	case report.ImmediateDiscovery:
		return append(next, "git liza convert-discovery ID --task TASK", "git liza settle-discovery ID --defer --reason TEXT",
			"going on is harmful: git liza checkpoint --reason TEXT")
	case report.StaleReservation:
		return append(next, "git liza reassign ID --reason TEXT")
	case report.AllTerminal:
		return append(append(next, definesTask...), "the goal is met: end your turn, and your supervisor completes it (by hand: git liza complete-goal)")
	}
	return append(next, changesTask...)
}
