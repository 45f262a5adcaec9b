package board

// Metrics are the figures of a sprint, computed when read. Each is defined here and nowhere else.
type Metrics struct {
	TasksDone       int `yaml:"tasks_done"`
	TasksInProgress int `yaml:"tasks_in_progress"`
	TasksBlocked    int `yaml:"tasks_blocked"`
	Iterations      int `yaml:"iterations_total"`
	ReviewCycles    int `yaml:"review_cycles_total"`
	Approvals       int `yaml:"review_verdict_approvals"`
	Rejections      int `yaml:"review_verdict_rejections"`
	Verdicts        int `yaml:"review_verdict_count"`
	ApprovalRate    int `yaml:"review_verdict_approval_rate_percent"`
	Submissions     int `yaml:"task_submitted_for_review_count"`
	OutcomeRate     int `yaml:"task_outcome_approval_rate_percent"`
	Drift           int `yaml:"drift_commits_total"`
}

// Tally is what one task adds to the metrics.
type Tally struct {
	Iterations, ReviewCycles, Approvals, Rejections, Submissions, Drift int
}

func (t *Task) tally() Tally {
	sum := Tally{ReviewCycles: t.ReviewCyclesTotal, Drift: t.DriftCommits}
	for i, e := range t.History {
		switch {
		case e.Event == EventApproved:
			sum.Approvals++
		case e.Event == EventRejected:
			sum.Rejections++
		case e.Event == EventReady:
			sum.Submissions++
		case t.begins(i):
			sum.Iterations++
		}
	}
	return sum
}

// Measure computes the metrics of a board.
func Measure(s *State) Metrics {
	var m Metrics
	s.scan(func(b Brief) {
		switch b.Status {
		case Merged, Abandoned, Superseded:
			m.TasksDone++
		case Claimed, ReadyForReview, Rejected, Approved:
			m.TasksInProgress++
		case Blocked, IntegrationFailed:
			m.TasksBlocked++
		}
		m.Drift += b.Tally.Drift
		m.ReviewCycles += b.Tally.ReviewCycles
		m.Approvals += b.Tally.Approvals
		m.Rejections += b.Tally.Rejections
		m.Submissions += b.Tally.Submissions
		m.Iterations += b.Tally.Iterations
	})
	m.Verdicts = m.Approvals + m.Rejections
	m.ApprovalRate = percent(m.Approvals, m.Verdicts)
	m.OutcomeRate = percent(m.Approvals, m.Submissions)
	return m
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
