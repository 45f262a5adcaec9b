package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Concerns describes, in a line each, everything that an agent wants to hear of although it is not
// its turn: the end of tasks that it wrote or approved, and its discoveries; for a planner also
// rejections and hand-offs.
func Concerns(s *board.State, agent string, role roles.Role) (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	ends := []board.Status{board.Merged, board.Rejected, board.Blocked, board.IntegrationFailed, board.Superseded, board.Abandoned}
	for _, b := range s.Tasks() {
		switch {
		case (b.AssignedTo == agent || b.ApprovedBy == agent) && slices.Contains(ends, b.Status):
			add("%s is %s", b.ID, b.Status)
		case role == roles.Planner && b.Status == board.Rejected:
			add("%s was rejected, %s in all", b.ID, text.Plural(b.ReviewCycles, "time"))
		case role == roles.Planner && b.HandoffPending:
			add("%s was handed off by %s", b.ID, b.AssignedTo)
		}
	}
	for _, id := range s.List(board.DiscoveryDir) {
		if d := s.Discovery(id); d != nil && d.By == agent && !d.Open() {
			add("%s", d.Outcome())
		}
	}
	return lines
}

// ComesNext describes what an agent that has nothing to do now will probably do next, "" if unknown.
func ComesNext(s *board.State, agent string, role roles.Role) string {
	var open []board.Brief
	for _, b := range s.Tasks() {
		if s.Runs(b.Goal) && !b.Status.Terminal() && !b.Paused {
			open = append(open, b)
		}
	}
	slices.SortFunc(open, board.ClaimOrder(open))
	with := func(status board.Status, mine bool) string {
		i := slices.IndexFunc(open, func(b board.Brief) bool { return b.Status == status && (b.AssignedTo == agent) == mine })
		if i < 0 {
			return ""
		}
		return open[i].ID
	}
	switch {
	case role == roles.Planner && len(open) > 0:
		return "the end of the goal: " + text.Plural(len(open), "task") + " to go"
	case role == roles.CodeReviewer && with(board.Claimed, false) != "":
		return "the review of " + with(board.Claimed, false) + ", which is being written"
	case role == roles.Coder:
		for _, b := range open {
			on := slices.DeleteFunc(slices.Clone(b.DependsOn), s.Merged)
			if b.Status == board.Unclaimed && (b.ReservedFor == "" || b.ReservedFor == agent) && len(on) > 0 {
				return b.ID + ", which waits for " + strings.Join(on, ", ")
			}
		}
		if id := with(board.ReadyForReview, true); id != "" {
			return "the verdict on " + id
		}
	}
	return ""
}
