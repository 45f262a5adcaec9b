package worktrees

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
)

// choose returns the task that a coder should claim if it names none; "" if there is none.
func choose(ctx context.Context, v *gitboard.View, coder string, skip map[string]*board.Refusal) (string, error) {
	skipped := func(id string) bool { return skip[id] != nil }
	id := board.NextClaim(v.State, coder, skipped, func(holder string, b board.Brief) bool {
		after := time.Duration(0)
		if b.Status == board.Rejected {
			after = board.AbandonedAfter
		}
		return v.Takeable(ctx, holder, after)
	})
	return id, v.State.Err()
}

// NextClaim returns the task that a coder would get now if it named none; "" if there is none.
func NextClaim(ctx context.Context, v *gitboard.View, coder string) (string, error) {
	return choose(ctx, v, coder, nil)
}

// noWork returns the refusal for a coder who can't claim anything, with the reason.
func noWork(v *gitboard.View, coder string) error {
	counts, team := map[string]int{}, v.State.Team()
	tasks := v.State.Tasks()
	for _, b := range tasks {
		switch reason := why(b, coder, v.State.Merged); {
		case reason == "":
		case v.State.HasEnded(b.Goal):
			counts["are of a goal that has ended"]++
		case !v.State.Runs(b.Goal):
			counts["wait for another goal"]++
		case reason != theirAuthors:
			counts[reason]++
		case !team.Does(roles.NameOf(coder), b.InStage()):
			counts["are for another role"]++
		case board.SpentGoal(v.State, v.State.Goal(b.Goal)) != nil:
			counts["are of a goal whose budget is used up"]++
		default:
			counts[reason]++
		}
	}
	var parts []string
	for _, reason := range []string{"wait for dependencies", "are paused", "are reserved for others", "are claimed", "are in review or approved", theirAuthors, "are of a goal whose budget is used up", "wait for another goal", "are of a goal that has ended", "are for another role", "are blocked", "are drafts"} {
		if n := counts[reason]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, reason))
		}
	}
	reason := "every task is finished"
	switch {
	case len(tasks) == 0:
		reason = "there are no tasks yet"
	case len(parts) > 0:
		reason = "of the open tasks " + strings.Join(parts, ", ")
	}
	return board.Refuse(board.CodeNoWork, "nothing to claim for "+coder+": "+reason, "")
}

// theirAuthors is the reason of a task that is claimable otherwise.
const theirAuthors = "are rejected and wait for their author"

func why(b board.Brief, coder string, merged func(id string) bool) string {
	switch b.Status {
	case board.Draft:
		return "are drafts"
	case board.Blocked:
		return "are blocked"
	case board.ReadyForReview, board.Approved:
		return "are in review or approved"
	case board.Claimed:
		return "are claimed"
	case board.Unclaimed, board.Rejected, board.IntegrationFailed:
	default:
		return ""
	}
	if b.Paused {
		return "are paused"
	}
	if b.ReservedFor != "" && b.ReservedFor != coder {
		return "are reserved for others"
	}
	for _, d := range b.DependsOn {
		if !merged(d) {
			return "wait for dependencies"
		}
	}
	return theirAuthors
}
