package hooks

import (
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// Place is where a commit is about to be made.
type Place struct {
	Branch   string // the full name of the branch that HEAD is attached to; "" if detached
	Rebasing bool   // a rebase is in progress, which temporarily detaches HEAD
}

// PreCommit allows only commits by a task's coder, on the task's branch and in its worktree, after
// the pre-execution checkpoint of the iteration was written. A human may commit in a task's
// worktree. A board has settings; what of it can't be read refuses nothing.
func PreCommit(w Who, s *board.State, at Place) *board.Refusal {
	on, _ := taskOf(w, s, plumbing.BranchName(at.Branch))
	switch {
	case w.ID == "":
		if w.Task == "" || on == w.Task || at.Rebasing {
			return nil
		}
		return offBranch(s, w.Task)
	case w.Role != roles.Coder:
		return board.Refusef(board.CodePermission, "%s is a %s, and only coders commit", w.ID, w.Role).Advise("%s or %s puts a finding on the board", board.ActOn("discover"), board.ActOn("anomaly"))
	case w.Task == "":
		return board.Refusef(board.CodePermission, "%s commits only in the worktree of its task, and this is not one", w.ID).Advise("%s shows where your worktree is", board.ActOn("prime"))
	case s == nil:
		return nil
	}
	t := s.Task(w.Task)
	if s.Err() != nil {
		return nil
	}
	switch {
	case t == nil:
		return board.Refusef(board.CodeUnknownTask, "there is no task %s", w.Task).Way(board.ActOn("prime"))
	case t.AssignedTo != w.ID || t.Status != board.Claimed:
		return board.Refusef(board.CodePermission, "%s does not hold %s (%s)", w.ID, t.ID, describe(t)).Way(board.ActOn("prime"))
	}
	if r := w.replaced(s); r != nil {
		return r
	}
	if on != t.ID && !(at.Branch == "" && at.Rebasing) {
		return offBranch(s, t.ID)
	}
	if s.Config().RequirePreExecutionCheckpoint && t.CheckpointOfIteration() == nil {
		return board.Refusef(board.CodeGate, "%s has no pre-execution checkpoint in iteration %d yet: it comes before the first commit", t.ID, t.Iteration).
			Way(board.ActOn("pre-exec", t.ID).With("intent", "TEXT", "validation", "TEXT", "file", "FILE"))
	}
	return nil
}

// PostCheckout refuses to let a task's worktree be on another branch than the task's. It may be on none,
// as in a rebase.
func PostCheckout(w Who, s *board.State, at Place) *board.Refusal {
	on, _ := taskOf(w, s, plumbing.BranchName(at.Branch))
	if s == nil || w.Task == "" || at.Branch == "" || on == w.Task {
		return nil
	}
	return offBranch(s, w.Task)
}

func offBranch(s *board.State, task string) *board.Refusal {
	branch := s.TaskBranches().Of(task)
	return refuse(board.CodeWrongBranch, "git switch "+branch, "in the worktree of %s commits go on to %s", task, branch)
}
