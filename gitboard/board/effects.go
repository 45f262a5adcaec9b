package board

import (
	"maps"
	"slices"

	"github.com/git-liza/git-liza/gitboard/roles"
)

// editTask returns a task for changing. Check has verified that it exists.
func (s *State) editTask(id string) *Task { return edit[Task](s, RecordPath(TaskDir, id)) }

func (t *Task) event(op Operation, name string) *Event {
	t.History = append(slices.Clip(t.History), Event{Time: op.Time, Event: name, Agent: op.Actor.ID})
	return &t.History[len(t.History)-1]
}

func (t *Task) become(s Status, op Operation) {
	if t.Status != s {
		t.Status, t.StatusChangedAt, t.Plan = s, op.Time, ""
	}
}

// unclaim takes a task from its coder. The caller that carries out the operation keeps the work.
func (t *Task) unclaim() {
	t.AssignedTo, t.Worktree, t.Clone, t.BaseCommit = "", "", "", ""
	t.HandoffPending, t.IntegrationFix, t.Freed = false, false, false
	t.dropReview()
}

// dropReview removes the submission, because work begins again.
func (t *Task) dropReview() {
	t.endReview()
	t.ReviewCommit, t.ReviewBase, t.ApprovedBy, t.Approvals, t.HumanPaths = "", "", "", nil, nil
}

// endReview removes the reviewer from the submission.
func (t *Task) endReview() { t.ReviewingBy, t.ReviewingAs = "", "" }

func (t *Task) clearBlock() {
	t.BlockedReason, t.BlockedQuestions, t.Attempted = "", nil, nil
}

// free ends an agent's work on a task, if the agent is working on that task.
func free(s *State, agent, task string, to AgentStatus) {
	a := s.Agent(agent)
	if a == nil || a.CurrentTask != task {
		return
	}
	a = edit[Agent](s, RecordPath(AgentDir, agent))
	a.CurrentTask, a.Status = "", to
}

// occupy sets an agent to work on a task.
func occupy(s *State, agent, task string, as AgentStatus) {
	if a := edit[Agent](s, RecordPath(AgentDir, agent)); a != nil {
		a.CurrentTask, a.Status = task, as
	}
}

// addFailure records that a coder's attempt at a task failed. After the second failed attempt, by the
// same coder or another, the framing of the task is presumed wrong, and the system logs an anomaly.
func addFailure(s *State, t *Task, coder string, op Operation) {
	if coder == "" {
		return
	}
	t.FailedBy = append(slices.Clip(t.FailedBy), coder)
	if len(t.FailedBy) == 2 {
		systemAnomaly(s, t.ID, "hypothesis_exhaustion", map[string]Scalar{"failed_by": Scalar(t.FailedBy[0] + ", " + t.FailedBy[1])}, op)
	}
}

func systemAnomaly(s *State, task, typ string, details map[string]Scalar, op Operation) {
	logAnomaly(s, op, Anomaly{Reporter: string(roles.System), Task: task, Type: typ, Details: details})
}

func logAnomaly(s *State, op Operation, a Anomaly) {
	a.ID, a.Timestamp = s.nextID(AnomalyDir, "anomaly"), op.Time
	put(s, RecordPath(AnomalyDir, a.ID), &a)
}

// block makes a task BLOCKED by an agent, a human or the system, and releases its coder or
// reviewer.
func block(s *State, t *Task, by, reason string, questions []string, op Operation) {
	free(s, t.AssignedTo, t.ID, Idle)
	free(s, t.ReviewingBy, t.ID, Idle)
	t.endReview()
	t.ReservedFor = ""
	t.HandoffPending, t.Freed = false, false
	t.BlockedReason, t.BlockedQuestions, t.Attempted = reason, questions, nil
	t.become(Blocked, op)
	e := t.event(op, EventBlocked)
	e.Agent, e.Reason = by, reason
}

// settleSprint completes a sprint once all its planned tasks are finished: with the operation that
// finishes the last one or, if that happened at a checkpoint, when the sprint continues.
func settleSprint(s *State, op Operation) {
	if Begins(op.Name()) {
		return
	}
	_, closed := op.Payload.(*Resume)
	for path, r := range s.Changes() {
		if t, ok := r.(*Task); ok && t.Status.Terminal() && path == RecordPath(TaskDir, t.ID) {
			closed = true
		}
	}
	if !closed {
		return // most operations finish no task, and need not read the sprint
	}
	sp := s.Sprint()
	if sp.Status != InProgress || !sp.planDone(s) {
		return
	}
	sp = editSingle[Sprint](s, SprintPath)
	sp.Status, sp.Timeline.Ended = Completed, op.Time
}

func setMode(s *State, m Mode, op Operation, by, reason string) {
	c := editSingle[Control](s, ControlPath)
	c.Mode, c.Since, c.By, c.Reason = m, op.Time, by, reason
}

// replaced returns a list with one word replaced by others, without duplicates.
func replaced(words []string, old string, by []string) []string {
	var out []string
	for _, w := range words {
		add := []string{w}
		if w == old {
			add = by
		}
		for _, a := range add {
			if !slices.Contains(out, a) {
				out = append(out, a)
			}
		}
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
