package report

import "github.com/git-liza/git-liza/gitboard/board"

// Metrics are the figures of a sprint, computed on reading from the events since it started,
// on any task, planned or not. Each is defined here and nowhere else.
type Metrics struct {
	TasksDone       int `yaml:"tasks_done" json:"tasks_done"`
	TasksInProgress int `yaml:"tasks_in_progress" json:"tasks_in_progress"`
	TasksBlocked    int `yaml:"tasks_blocked" json:"tasks_blocked"`
	Iterations      int `yaml:"iterations_total" json:"iterations_total"`
	ReviewCycles    int `yaml:"review_cycles_total" json:"review_cycles_total"`
	Approvals       int `yaml:"review_verdict_approvals" json:"review_verdict_approvals"`
	Rejections      int `yaml:"review_verdict_rejections" json:"review_verdict_rejections"`
	Verdicts        int `yaml:"review_verdict_count" json:"review_verdict_count"`
	ApprovalRate    int `yaml:"review_verdict_approval_rate_percent" json:"review_verdict_approval_rate_percent"`
	Submissions     int `yaml:"task_submitted_for_review_count" json:"task_submitted_for_review_count"`
	OutcomeRate     int `yaml:"task_outcome_approval_rate_percent" json:"task_outcome_approval_rate_percent"`
	Drift           int `yaml:"drift_commits_total" json:"drift_commits_total"`
}

// Measure computes the metrics of the current sprint. A sprint lasts until the next one starts, so
// work between two sprints counts for the earlier one.
func Measure(s *board.State) Metrics { return MeasureOf(s, "") }

// MeasureOf is Measure for the tasks of one goal; "" for all.
func MeasureOf(s *board.State, goal string) Metrics {
	var m Metrics
	started := sprintStart(s)
	s.EachBrief(func(b board.Brief) {
		if endedBefore(b, started) || goal != "" && b.Goal != goal {
			return
		}
		m.count(b.Status)
		t := tallyOf(s, b, started)
		m.Drift += t.Drift
		m.ReviewCycles += t.ReviewCycles
		m.Approvals += t.Approvals
		m.Rejections += t.Rejections
		m.Submissions += t.Submissions
		m.Iterations += t.Iterations
	})
	m.Verdicts = m.Approvals + m.Rejections
	m.ApprovalRate = percent(m.Approvals, m.Verdicts)
	m.OutcomeRate = percent(m.Approvals, m.Submissions)
	return m
}

// count adds a task with a status.
func (m *Metrics) count(s board.Status) {
	switch s {
	case board.Merged, board.Abandoned, board.Superseded:
		m.TasksDone++
	case board.Claimed, board.ReadyForReview, board.Rejected, board.Approved:
		m.TasksInProgress++
	case board.Blocked, board.IntegrationFailed:
		m.TasksBlocked++
	}
}

// sprintStart is when the current sprint began, "" if there is none.
func sprintStart(s *board.State) board.Time {
	if sp := s.Sprint(); sp != nil {
		return sp.Timeline.Started
	}
	return ""
}

// endedBefore reports whether a task was finished before a sprint began, and so has no part in it.
func endedBefore(b board.Brief, started board.Time) bool {
	return b.Status.Terminal() && b.StatusChangedAt < started
}

// tallyOf is a task's contribution since a given time. It reads the history only of a task that
// moved both before and after.
func tallyOf(s *board.State, b board.Brief, since board.Time) board.Tally {
	switch {
	case b.Created >= since:
		return b.Tally
	case b.Moved < since:
		return board.Tally{}
	}
	t := s.Task(b.ID)
	if t == nil {
		return board.Tally{}
	}
	return t.TallySince(since)
}

// Reviewers who approve more than RubberStampPercent of at least RubberStampVerdicts verdicts may
// not be looking.
const (
	RubberStampPercent  = 95
	RubberStampVerdicts = 5
)

// RubberStamping reports whether reviewers approve suspiciously often.
func (m Metrics) RubberStamping() bool {
	return m.Verdicts >= RubberStampVerdicts && m.Approvals*100 > RubberStampPercent*m.Verdicts
}

func percent(part, of int) int {
	if of == 0 {
		return 0
	}
	return part * 100 / of
}
