package board

// Tally is one task's contribution to the metrics.
type Tally struct {
	Iterations, ReviewCycles, Approvals, Rejections, Submissions, Drift int
}

func (t *Task) tally() Tally {
	sum := t.TallySince("")
	sum.ReviewCycles, sum.Drift = t.ReviewCyclesTotal, t.DriftCommits
	return sum
}

// TallySince is the contribution of the events since a given time.
func (t *Task) TallySince(since Time) Tally {
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
