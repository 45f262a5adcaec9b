package board

import (
	"github.com/git-liza/git-liza/roles"
)

// forecast is what the outlook of a task depends on.
type forecast struct {
	by         map[string]*Brief
	merged     func(id string) bool // whether an archived task is MERGED
	leases     map[string]Lease     // nil when they are not known
	now        Time
	registered map[string]bool
	planner    roles.Role
	finalizes  roles.Role
	seen       map[string]string // why tasks are stuck, as far as was asked
}

// gone reports whether an agent has deregistered, or let its lease run out.
func (f *forecast) gone(agent string) bool {
	return f.leases != nil && (!f.registered[agent] || f.leases[agent].Expires <= f.now)
}

func (f *forecast) outlook(b Brief) TaskOutlook {
	t := TaskOutlook{Brief: b, Worker: b.Worker()}
	if b.Status.Terminal() {
		return t
	}
	reviewed := b.Status == ReadyForReview && b.ReviewingBy != ""
	if b.Status == Claimed || reviewed {
		t.LeaseExpires = f.leases[t.Worker].Expires
	}
	if b.Status == Unclaimed {
		t.WaitsFor = f.unmerged(b)
	}
	t.Stuck = f.stuck(b)
	switch {
	case b.Paused:
		t.Turn = roles.Human
	case b.Status == Draft:
		t.Turn = f.finalizes
	case b.Status == Blocked:
		t.Turn = f.planner
	case b.Status == Unclaimed && len(t.WaitsFor) == 0, b.Status == Rejected, b.Status == IntegrationFailed:
		t.Turn = roles.Coder
	case b.Status == Claimed && (b.HandoffPending || f.gone(b.AssignedTo)):
		t.Turn = roles.Coder
	case b.Status == ReadyForReview && (!reviewed || f.gone(b.ReviewingBy)), b.Status == Approved:
		t.Turn = roles.CodeReviewer
	}
	return t
}

// stuck says why a task does not move by itself, "" when it does.
func (f *forecast) stuck(b Brief) string {
	why, asked := f.seen[b.ID]
	if !asked {
		f.seen[b.ID] = "" // damage may have made a circle
		why = f.because(b)
		f.seen[b.ID] = why
	}
	return why
}

func (f *forecast) because(b Brief) string {
	switch {
	case b.Paused:
		return "paused"
	case b.Status == Blocked && b.Failures >= 2:
		return "two coders failed at it"
	case b.Status == Blocked:
		return "blocked"
	case b.Status == Claimed && !b.HandoffPending && f.gone(b.AssignedTo), b.Status == Rejected && !b.Freed && f.gone(b.AssignedTo):
		return "its coder is gone"
	case b.Status == ReadyForReview && b.ReviewingBy != "" && f.gone(b.ReviewingBy):
		return "its reviewer is gone"
	case b.Status == Unclaimed:
		for _, id := range f.unmerged(b) {
			if d := f.by[id]; d == nil || f.stuck(*d) != "" {
				return "waits for " + id
			}
		}
	}
	return ""
}

// unmerged lists the dependencies that a task waits for.
func (f *forecast) unmerged(b Brief) []string {
	var ids []string
	for _, id := range b.DependsOn {
		if d := f.by[id]; d == nil && !f.merged(id) || d != nil && d.Status != Merged {
			ids = append(ids, id)
		}
	}
	return ids
}

// Worker is who has a task in hand, or had it last.
func (b Brief) Worker() string {
	switch {
	case b.Status == ReadyForReview && b.ReviewingBy != "":
		return b.ReviewingBy
	case b.Status == Approved:
		return b.ApprovedBy
	}
	return b.AssignedTo
}
