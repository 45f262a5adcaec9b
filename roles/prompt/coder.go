package prompt

import "github.com/git-liza/git-liza/gitboard/board"

// held reports whether the coder holds the task; before that, a prompt shows what its claim would
// begin.
func (v *view) held() bool { return v.T.Brief().Holds(v.Agent) }

// Branch is the name of the task's branch.
func (v *view) Branch() string { return v.State.TaskBranches().Of(v.T.ID) }

// claim is the event that gave, or would give, the coder the task.
func (v *view) claim() string {
	if !v.held() {
		return board.KindOfClaim(v.T, v.Agent).Event
	}
	e := v.T.Last(board.EventClaimed, board.EventReclaimed, board.EventReassignedAfterReject, board.EventReclaimedAfterExpiry,
		board.EventClaimedForFix, board.EventResumed, board.EventUnblocked)
	if e == nil {
		return ""
	}
	return e.Event
}

// Iteration is the coder's present iteration, or the one after its claim.
func (v *view) Iteration() int {
	if !v.held() {
		return board.IterationAfterClaim(v.T, v.Agent)
	}
	return v.T.Iteration
}

// fresh reports whether the coder's claim began, or would begin, in a new worktree.
func (v *view) fresh() bool {
	if !v.held() {
		return board.KindOfClaim(v.T, v.Agent).Fresh
	}
	return v.T.StartedFresh()
}

// Inherited reports whether the rejection was of work that is not in the worktree.
func (v *view) Inherited() bool { return v.fresh() }

// Fix reports whether the merge failed and only that has to be repaired.
func (v *view) Fix() bool { return v.T.IntegrationFix || v.T.Status == board.IntegrationFailed }

// Failure is the event of the failed merge.
func (v *view) Failure() *board.Event { return v.T.Last(board.EventIntegrationFailed) }

// TestCommand is the command of the test that the merge failed.
func (v *view) TestCommand() string { return board.TestOf(v.State, v.T) }

// Handoff is the hand-off of another agent of the role, nil if this claim does not continue one.
func (v *view) Handoff() *board.Handoff { return board.HandoffTo(v.State, v.Role, v.T) }

// Kept reports whether the coder continues work that was kept while the task was BLOCKED.
func (v *view) Kept() bool {
	switch v.claim() {
	case board.EventUnblocked:
		return true
	case board.EventResumed:
		return v.Handoff() == nil
	}
	return false
}

// StartsOver reports whether the coder begins in a fresh worktree.
func (v *view) StartsOver() bool {
	return v.fresh() && !v.Again()
}

// Amended reports whether the task's definition has changed since the coder first claimed it.
func (v *view) Amended() bool {
	claimed := false
	for _, e := range v.T.History {
		switch {
		case e.Agent == v.Agent && e.TakesUp():
			claimed = true
		case e.Event == board.EventAmended && claimed:
			return true
		}
	}
	return false
}

// Recovered reports whether the coder's own claim expired and the coder has claimed the task again.
func (v *view) Recovered() bool {
	return v.claim() == board.EventReclaimedAfterExpiry && !v.fresh()
}

// Again reports whether the coder was started on this very claim before.
func (v *view) Again() bool {
	if v.Restarted || !v.held() {
		return v.Restarted
	}
	// A checkpoint of this iteration after the claim is the coder's own.
	for i := len(v.T.History) - 1; i >= 0; i-- {
		switch v.T.History[i].Event {
		case board.EventPreExec, board.EventWithdrawn:
			return true
		case v.claim():
			return false
		}
	}
	return false
}

// Unblocked is when the task was last unblocked, nil if never. The answers given then still hold.
func (v *view) Unblocked() *board.Event { return v.T.Last(board.EventUnblocked) }

// Blocked is when the task was last blocked, nil if never.
func (v *view) Blocked() *board.Event { return v.T.Last(board.EventBlocked) }

// Checkpoint is the checkpoint of the present iteration, nil if there is none yet.
func (v *view) Checkpoint() *board.Checkpoint {
	if v.T.Status == board.Claimed && !v.held() && v.Handoff() == nil {
		return nil
	}
	return v.T.CheckpointOfIteration()
}
