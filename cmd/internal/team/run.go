package team

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/roles/supervisor"
	"github.com/git-liza/git-liza/worktrees/merge"
)

// Options are the options of a team's run.
type Options struct {
	Counts map[roles.Role]*int
	Quiet  bool
	Flags  Flags
	Given  func(flag string) bool
	// Alongside runs alongside the team. The context ends with the team's run.
	Alongside []func(context.Context, *Console)
}

// sizesItself reports whether no number is given.
func (t *Options) sizesItself() bool {
	return !t.Given("planners") && !t.Given("coders") && !t.Given("reviewers")
}

// members prepares the agents of a team with given numbers.
func (t *Options) members(ctx context.Context, c *call.Call) ([]supervisor.Config, error) {
	var members []supervisor.Config
	v, err := c.View(ctx)
	if err != nil {
		return nil, err
	}
	roster := v.State.Team().Roles
	if err := v.State.Err(); err != nil {
		return nil, err
	}
	for i := range roster {
		role := &roster[i]
		n := max(1, role.Min)
		if own, builtin := t.Counts[roles.Role(strings.ReplaceAll(role.Name, "-", "_"))]; builtin {
			n = *own
		}
		if n < 0 || n > board.MaxAgents {
			return nil, call.Usage(c.Cmd, "a team has 0 to %d agents of a role, not %d", board.MaxAgents, n)
		}
		for range n {
			m, err := Supervise(ctx, c, role, t.Flags)
			if err != nil {
				return nil, err
			}
			members = append(members, m)
		}
	}
	if len(members) == 0 {
		return nil, call.Usage(c.Cmd, "a team needs somebody")
	}
	for _, m := range members {
		if err := m.Installed(); err != nil {
			return nil, err
		}
	}
	return members, nil
}

// Run runs a team until every goal is done, and reports how they stand.
func Run(ctx context.Context, c *call.Call, t Options) error {
	var crew supervisor.Team
	var err error
	if t.sizesItself() {
		err = Ready(ctx, c, t.Flags)
	} else {
		crew.Members, err = t.members(ctx, c)
	}
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	screen, err := NewConsole(running, c, t.Quiet)
	if err != nil {
		return err
	}
	for i := range crew.Members {
		crew.Members[i].Output = screen.Output
	}
	if t.sizesItself() {
		crew.Hire = func(role *board.Role) (supervisor.Config, error) {
			m, err := Supervise(ctx, c, role, t.Flags)
			m.Output = screen.Output
			return m, err
		}
		if c.Board.Remote() != "" {
			crew.Fetch = func(ctx context.Context) error {
				_, err := merge.Follow(ctx, c.Board, c.Board.Sharing().Moment())
				return err
			}
		}
	}
	var alongside sync.WaitGroup
	for _, run := range t.Alongside {
		alongside.Go(func() { run(running, screen) })
	}
	stopTelling := Telemetry(ctx, c, screen.Warn)
	v, err := c.Board.View(ctx)
	if err != nil {
		return err
	}
	crew.Board, crew.Over, crew.Report = c.Board, supervisor.Over(v.State), screen.Event
	err = supervisor.RunTeam(running, crew)
	stopTelling()
	stop()
	alongside.Wait()
	screen.Close()
	if err == nil {
		return answerTeam(ctx, c, crew.Over)
	}
	return err
}

// answerTeam reports how the team's run ended.
func answerTeam(ctx context.Context, c *call.Call, over map[string]board.Time) error {
	v, err := c.Board.View(ctx)
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
	ahead, err := v.Ahead(ctx)
	if err != nil || ahead == nil || ahead.Commits == 0 {
		return err
	}
	return c.Answer(map[string]any{
		"time": c.App.Now().UTC().Truncate(time.Second), "event": "code", "ahead": ahead, "text": ahead.String(),
	}, "your code: "+ahead.String()+": "+ahead.Take())
}
