package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/dispatch"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/cmd/internal/setup"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/text"
)

var _ = dispatch.SetHome(home)

// firstCommands are the commands that a run needs, in the order in which people meet them.
var firstCommands = [][2]string{
	{"start", "from a goal to merged code, in one terminal"},
	{"status", "the run on one screen; --watch keeps it live"},
	{"inbox", "what waits for you, with the command that answers it"},
	{"web", "the same in a browser"},
	{"team", "run the agents of a board that is there"},
	{"log", "what happened"},
	{"show", "a task, with its story"},
	{"pause", "stop claims and merges; resume continues"},
	{"prime", "for an agent: who you are, your work, your next step"},
	{"help", "all commands"},
}

// home is `git liza` without arguments: ten commands and the state of this repository.
func home(ctx context.Context, c *call.Call) error {
	state, err := homeState(ctx, c)
	if err != nil {
		return err
	}
	if c.JSON {
		return c.PrintJSON(map[string]string{"state": state})
	}
	p := c.Page()
	lines := []string{p.Bold("git liza: a blackboard for teams of coding agents that is a git branch"), ""}
	for _, first := range firstCommands {
		lines = append(lines, fmt.Sprintf("  git liza %-8s %s", first[0], first[1]))
	}
	return c.Print(append(lines, "", text.Visible(state)))
}

// homeState is the state of this repository in one line.
func homeState(ctx context.Context, c *call.Call) (string, error) {
	err := c.Open(ctx)
	outside := (*call.Outcome)(nil)
	if errors.As(err, &outside) && outside.Code == call.CodeNotARepository || errors.Is(err, git.ErrNotRepository) {
		return "This directory is in no git repository.", nil
	}
	if err != nil {
		return "", err
	}
	g, err := screen.Glance(ctx, c, "")
	if errors.Is(err, log.ErrNoBoard) {
		if by, err := setup.Shares(ctx, c); by != "" || err != nil {
			return fmt.Sprintf("%s shares a board, and this clone has not joined it yet: git liza init", text.Line(by, 60)), err
		}
		return `This repository has no board yet: git liza start "GOAL"`, nil
	}
	if err != nil {
		return "", err
	}
	o, err := g.Overview(c.Moment(g.State))
	if err != nil {
		return "", err
	}
	if o.GoalStatus != board.Completed {
		return o.Summary(), nil
	}
	ahead, err := g.Ahead(ctx)
	if err != nil || ahead == nil || ahead.Commits == 0 {
		return o.Summary(), err
	}
	return o.Summary() + " Your code: " + ahead.String() + ": " + ahead.Take(), nil
}
