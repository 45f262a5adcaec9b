package cli

import (
	"context"
	"time"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/team"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/roles/supervisor"
)

var _ = add(teamCommand)

func teamCommand() *edge.Command {
	counts := map[roles.Role]*int{roles.Planner: new(int), roles.Coder: new(int), roles.CodeReviewer: new(int)}
	var run team.Flags
	return &edge.Command{
		Name: "team", Group: "supervision", Max: 0,
		Short: "run a planner, coders and reviewers in one terminal until every goal is done",
		Long: `Each is supervised as by git liza agent, and waits for work as long as the team does. On a terminal the last
line says how many tasks are in which state, and who does what, since when. Ctrl-C ends all of it: claims with work
in them are kept for the next start. Exit code 0: every goal that was worked on is COMPLETED; otherwise the
reason is shown for each goal.`,
		Flags: func(f *pflag.FlagSet) {
			f.IntVar(counts[roles.Planner], "planners", 1, "how many planners")
			f.IntVar(counts[roles.Coder], "coders", 2, "how many coders")
			f.IntVar(counts[roles.CodeReviewer], "reviewers", 1, "how many reviewers")
			run.Add(f)
		},
		Example: `git liza team --coders 3 --cli codex`,
		Run:     func(c *edge.Call) error { return runTeam(c, counts, run) },
	}
}

// mostMembers is how many agents of one role a process runs.
const mostMembers = 100

func runTeam(c *edge.Call, counts map[roles.Role]*int, run team.Flags) error {
	var members []supervisor.Config
	for _, role := range roles.Agents {
		n := *counts[role]
		if n < 0 || n > mostMembers {
			return edge.Usage(c.Cmd, "a team has 0 to %d agents of a role, not %d", mostMembers, n)
		}
		for range n {
			m, err := team.Supervise(c, role, run)
			if err != nil {
				return err
			}
			members = append(members, m)
		}
	}
	if len(members) == 0 {
		return edge.Usage(c.Cmd, "a team needs somebody")
	}
	ctx, stop := context.WithCancel(c.Ctx)
	defer stop()
	screen, err := team.NewConsole(ctx, c)
	if err != nil {
		return err
	}
	for i := range members {
		members[i].Output = screen.Output
	}
	stopTelling := team.Telemetry(c, screen.Warn)
	v, err := c.Opened.View(ctx)
	if err != nil {
		return err
	}
	over := supervisor.Over(v.State)
	err = supervisor.RunTeam(ctx, supervisor.Team{Board: c.Opened, Members: members, Over: over, Report: screen.Event})
	stopTelling()
	stop()
	screen.Close()
	if err == nil {
		return answerTeam(c, over)
	}
	return err
}

// answerTeam reports how the team's run ended.
func answerTeam(c *edge.Call, over map[string]board.Time) error {
	v, err := c.Opened.View(c.Ctx)
	if err != nil {
		return err
	}
	goals := supervisor.Served(v.State, over)
	lines := supervisor.Standings(v.State, goals)
	if err := v.State.Err(); err != nil {
		return err
	}
	for i, g := range goals {
		fields := map[string]any{
			"time": c.App.Now().UTC().Truncate(time.Second), "event": "goal", "goal": g.ID, "status": g.Status, "text": supervisor.Tally(v.State, g.ID),
		}
		if err := c.Answer(fields, lines[i]); err != nil {
			return err
		}
	}
	return nil
}
