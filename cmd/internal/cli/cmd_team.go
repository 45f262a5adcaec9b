package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/roles"
	"github.com/git-liza/git-liza/roles/supervisor"
)

func teamCommand() *command {
	counts := map[roles.Role]*int{roles.Planner: new(int), roles.Coder: new(int), roles.CodeReviewer: new(int)}
	var run supervision
	return &command{
		name: "team", group: "supervision", max: 0,
		short: "run a planner, coders and reviewers in one terminal until the goal is done",
		long: `Each is supervised as by git liza agent, and waits for work as long as the team does. On a terminal the last
line says how many tasks are in which state, and who does what, since when. Ctrl-C ends all of it: claims with work
in them are kept for the next start. Exit code 0: the goal is COMPLETED; otherwise the reason is told.`,
		flags: func(f *pflag.FlagSet) {
			f.IntVar(counts[roles.Planner], "planners", 1, "how many planners")
			f.IntVar(counts[roles.Coder], "coders", 2, "how many coders")
			f.IntVar(counts[roles.CodeReviewer], "reviewers", 1, "how many reviewers")
			run.add(f)
		},
		run: func(c *call) error { return c.runTeam(counts, run) },
	}
}

// mostMembers is how many agents of a role one process runs.
const mostMembers = 100

func (c *call) runTeam(counts map[roles.Role]*int, run supervision) error {
	var members []supervisor.Config
	for _, role := range roles.Agents {
		n := *counts[role]
		if n < 0 || n > mostMembers {
			return usage(c.cmd, "a team has 0 to %d agents of a role, not %d", mostMembers, n)
		}
		for range n {
			m, err := c.supervise(role, run)
			if err != nil {
				return err
			}
			members = append(members, m)
		}
	}
	if len(members) == 0 {
		return usage(c.cmd, "a team needs somebody")
	}
	ctx, stop := context.WithCancel(c.ctx)
	defer stop()
	screen, err := newScreen(ctx, c)
	if err != nil {
		return err
	}
	for i := range members {
		members[i].Output = screen.output
	}
	err = supervisor.RunTeam(ctx, supervisor.Team{Board: c.opened, Members: members, Tell: screen.tell})
	stop()
	screen.close()
	if err == nil {
		return c.answerTeam()
	}
	return err
}

// answerTeam says how it ended.
func (c *call) answerTeam() error {
	v, err := c.opened.View(c.ctx)
	if err != nil {
		return err
	}
	goal, tally := v.State.Goal(), supervisor.Tally(v.State)
	if err := v.State.Err(); err != nil {
		return err
	}
	return c.answer(map[string]any{"time": c.app.Now().UTC().Truncate(time.Second), "event": "goal", "status": goal.Status, "text": tally}, fmt.Sprintf("the goal is %s: %s", goal.Status, tally))
}
