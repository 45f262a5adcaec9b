package board

// Metrics are the figures of a sprint, computed when read: of what has happened since it started, on whichever
// tasks, planned or not. Each is defined here and nowhere else.
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

// Tally is what one task adds to the metrics.
type Tally struct {
	Iterations, ReviewCycles, Approvals, Rejections, Submissions, Drift int
}

func (t *Task) tally() Tally {
	sum := t.tallySince("")
	sum.ReviewCycles, sum.Drift = t.ReviewCyclesTotal, t.DriftCommits
	return sum
}

// tallySince is what the events from a moment on add.
func (t *Task) tallySince(since Time) Tally {
	var sum Tally
	for i, e := range t.History {
		switch {
		case e.Time < since:
		case e.Event == EventApproved:
			sum.Approvals++
		case e.Event == EventRejected:
			sum.Rejections++
		case e.Event == EventReady:
			sum.Submissions++
		case e.Event == EventMerged:
			sum.Drift += e.Drift
		case t.begins(i):
			sum.Iterations++
		}
	}
	sum.ReviewCycles = sum.Rejections
	return sum
}

// Measure computes the metrics of the current sprint. It goes on until the next one begins, so that work between
// two sprints is in the figures of the one before.
func Measure(s *State) Metrics {
	var m Metrics
	started := s.sprintStart()
	s.scan(func(b Brief) {
		if b.endedBefore(started) {
			return
		}
		m.count(b.Status)
		t := s.tallyOf(b, started)
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

// count adds a task in a state.
func (m *Metrics) count(s Status) {
	switch s {
	case Merged, Abandoned, Superseded:
		m.TasksDone++
	case Claimed, ReadyForReview, Rejected, Approved:
		m.TasksInProgress++
	case Blocked, IntegrationFailed:
		m.TasksBlocked++
	}
}

// sprintStart is when the current sprint began, none where there is no sprint.
func (s *State) sprintStart() Time {
	if sp := s.Sprint(); sp != nil {
		return sp.Timeline.Started
	}
	return ""
}

// endedBefore reports whether a task was over before a sprint began, and so has no part in it.
func (b Brief) endedBefore(started Time) bool {
	return b.Status.Terminal() && b.StatusChangedAt < started
}

// tallyOf is what a task adds from a moment on. Only of one that has moved before and after is the history read.
func (s *State) tallyOf(b Brief, since Time) Tally {
	switch {
	case b.Created >= since:
		return b.Tally
	case b.Moved < since:
		return Tally{}
	}
	t := s.Task(b.ID)
	if t == nil {
		return Tally{}
	}
	return t.tallySince(since)
}

// Reviewers who approve more than so many percent, of so many verdicts or more, may not be looking.
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
