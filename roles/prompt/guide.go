package prompt

import (
	"github.com/git-liza/git-liza/gitboard/roles"
)

// Doc is a document of the protocol, and why to read it.
type Doc struct{ Name, Why string }

// Docs are the documents that a role may need to look up. What everybody needs is in the prompt.
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

// Supervision is the part of a supervised agent's prompt about its supervisor.
const Supervision = "Your supervisor has registered you, renews your lease, claims tasks and reviews, and merges approved work.\n" +
	"Never run register, deregister, claim, claim-review or merge yourself: they are refused."
