package history

import (
	"context"
	"fmt"
	"slices"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

// Print prints the operations that the options choose, and with Follow each new one.
func Print(ctx context.Context, c *call.Call, o Options) error {
	v, err := c.View(ctx)
	if err != nil {
		return err
	}
	if o.Task != "" {
		if _, err := v.State.FindTask(o.Task); err != nil {
			return err
		}
	}
	if o.From, err = call.Moment(c, "since", o.Since, -1); err != nil {
		return err
	}
	if o.Op != "" && !slices.Contains(board.Ops(), o.Op) {
		return board.Refuse(board.CodeInvalid, fmt.Sprintf("no operation is called %q", text.Line(o.Op, 40)), call.Suggest(o.Op, board.Ops()))
	}
	if o.Follow {
		return followLog(ctx, c, o, v)
	}
	lines, err := Lines(ctx, c, o, plumbing.ZeroOID, v.Commit)
	if err != nil {
		return err
	}
	if len(lines) == 0 && o.Agent != "" {
		if err := mayHaveActed(v.State, o.Agent); err != nil {
			return err
		}
	}
	if c.JSON {
		return c.PrintJSON(map[string]any{"log": lines})
	}
	if o.Yaml {
		slices.Reverse(lines)
		if len(lines) == 0 {
			return c.Say("[]")
		}
	}
	return printLog(ctx, c, o, lines)
}

// mayHaveActed refuses a name that no agent and no human can have. Agents of roles that the team
// had before are found by their operations.
func mayHaveActed(s *board.State, name string) error {
	if name == roles.HumanID || name == string(roles.System) {
		return nil
	}
	if _, err := s.RoleOf(name); err == nil {
		return nil
	}
	known := append(slices.Clip(s.List(board.AgentDir)), roles.HumanID)
	return board.Refuse(board.CodeUnknownAgent, fmt.Sprintf("no agent is called %q", text.Line(name, 40)), call.Suggest(name, known))
}

// lookBack is how many operations --follow starts with.
const lookBack = 10

// followLog shows the last operations and then each new one, until the call is interrupted.
func followLog(ctx context.Context, c *call.Call, o Options, v *gitboard.View) error {
	if o.Max == 0 {
		o.Max = lookBack
	}
	changes, err := c.Board.Follow(ctx, screen.LookEvery)
	if err != nil {
		return err
	}
	for seen := plumbing.ZeroOID; ; {
		if v.Commit != seen {
			lines, err := Lines(ctx, c, o, seen, v.Commit)
			if err == nil {
				slices.Reverse(lines)
				err = printLog(ctx, c, o, lines)
			}
			if err != nil {
				return call.Interrupted(ctx, err)
			}
			seen, o.Max = v.Commit, 0
		}
		if _, follows := <-changes; !follows {
			return nil
		}
		if v, err = c.View(ctx); err != nil {
			return call.Interrupted(ctx, err)
		}
	}
}

// printLog prints lines in order: for a human, as one JSON object each, or as entries of a
// log.yaml.
func printLog(ctx context.Context, c *call.Call, o Options, lines []Line) error {
	p := c.Page()
	for _, l := range lines {
		var err error
		switch {
		case c.JSON:
			err = c.PrintJSON(l)
		case o.Yaml:
			err = PrintEntries(ctx, c, o.Filter, l)
		default:
			err = c.Print(l.Text(p))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
