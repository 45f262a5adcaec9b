package prompt

import "github.com/git-liza/git-liza/gitboard/board"

// held reports whether the coder has the task; before that a prompt shows what its claim would begin.
func (v *view) held() bool { return v.T.Brief().Holds(v.Agent) }

// claim is the event by which the coder has the task, or would have it.
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

// Iteration is the one that the coder is in.
func (v *view) Iteration() int {
	if !v.held() {
		return board.IterationAfterClaim(v.T, v.Agent)
	}
	return v.T.Iteration
}

// Rework reports whether a rejection is to be answered.
func (v *view) Rework() bool { return v.Iteration() > 1 && v.T.RejectionReason != "" }

// Inherited reports whether the coder begins afresh where another was rejected.
func (v *view) Inherited() bool { return v.Iteration() == 1 && v.T.RejectionReason != "" && !v.Kept() }

// Fix reports whether the merge failed and just that is to be mended.
func (v *view) Fix() bool { return v.T.IntegrationFix || v.T.Status == board.IntegrationFailed }

// Failure is how the merge failed.
func (v *view) Failure() *board.Event { return v.T.Last(board.EventIntegrationFailed) }

// Handoff is what another agent of the role left, nil when this claim does not continue a hand-off.
func (v *view) Handoff() *board.Handoff { return v.State.HandoffTo(v.Role, v.T) }

// Kept reports whether the coder goes on with work that lay there while the task was BLOCKED.
func (v *view) Kept() bool {
	switch v.claim() {
	case board.EventUnblocked:
		return true
	case board.EventResumed:
		return v.Handoff() == nil
	}
	return false
}

// Recovered reports whether the coder's own claim had run out, and it has it again.
func (v *view) Recovered() bool {
	return v.claim() == board.EventReclaimedAfterExpiry && v.Iteration() > 1
}

// Again reports whether the coder was started on this very claim before.
func (v *view) Again() bool {
	if v.Restarted || !v.held() {
		return v.Restarted
	}
	// A checkpoint of this iteration that came after the claim is the coder's own.
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

// Unblocked is the last time the task was unblocked, nil for never: what was asked and answered then still holds.
func (v *view) Unblocked() *board.Event { return v.T.Last(board.EventUnblocked) }

// Blocked is the last time the task was blocked, nil for never.
func (v *view) Blocked() *board.Event { return v.T.Last(board.EventBlocked) }

// Checkpoint is the one of the running iteration, nil when there is none yet.
func (v *view) Checkpoint() *board.Checkpoint {
	if v.T.Status == board.Claimed && !v.held() && v.Handoff() == nil {
		return nil
	}
	return v.T.CheckpointOfIteration()
}
