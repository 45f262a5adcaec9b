package start

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/acts"
	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/cmd/internal/team"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/report"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// ReviewPlans asks the human on a team's terminal about each plan that waits for them, until ctx
// ends. A plan that is answered elsewhere is no longer asked about.
func ReviewPlans(ctx context.Context, c *call.Call, ask *Asking, console *team.Console) {
	changed, err := c.Board.Follow(ctx, time.Minute)
	if err != nil {
		return // the supervisors report it
	}
	type answer struct {
		ids  []string // of the tasks that were shown
		line string
	}
	asked, answers, withdraw := []string(nil), make(chan answer), func() {}
	for {
		select {
		case <-ctx.Done():
			withdraw()
			return
		case a := <-answers:
			console.Warn(judge(ctx, c, a.ids, a.line))
			asked = nil
		case <-changed:
		case <-console.Turned:
		}
		v, err := c.Board.View(ctx)
		if err != nil {
			continue
		}
		waiting := slices.DeleteFunc(report.ToFinalize(v.State, board.Actor{ID: roles.HumanID, Role: roles.Human}), func(id string) bool {
			b, _ := v.State.BriefOf(id)
			return b.Plan != board.PlanProposed // the planner has not, or not yet again
		})
		_, noSpec, err := v.NoSpec(ctx)
		drafts := report.Drafts(v.State, waiting, noSpec)
		if err != nil || slices.Equal(waiting, asked) || console.Plans() {
			continue
		}
		withdraw()
		if asked = waiting; len(asked) == 0 {
			continue
		}
		asking, cancel := context.WithCancel(ctx)
		ended := make(chan struct{})
		withdraw = func() {
			cancel()
			<-ended
		}
		go func() {
			defer close(ended)
			defer ask.Open()()
			question := fmt.Sprintf("Enter starts the work on %s; or write what should change: ", text.Plural(len(drafts), "task"))
			if line, given := console.Ask(asking, screen.DraftLines(c.Page(), drafts), question, ask.Lines); given {
				select {
				case answers <- answer{waiting, line}:
				case <-asking.Done():
				}
			}
		}()
	}
}

// judge approves a plan, or sends it back with what should change. It returns a sentence about it.
func judge(ctx context.Context, c *call.Call, ids []string, answer string) string {
	does, done := acts.Named("finalize", acts.Finalize, ids), text.Plural(len(ids), "task")+" approved"
	if !slices.Contains([]string{"", "y", "yes"}, strings.ToLower(answer)) {
		does, done = acts.RejectDrafts(answer, ids), "the planner has your answer"
	}
	if _, err := does.Carry(ctx, c); err != nil {
		return err.Error()
	}
	return done
}
