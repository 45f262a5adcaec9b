package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/history"
	"github.com/git-liza/git-liza/cmd/internal/screen"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git"
	"github.com/git-liza/git-liza/gitboard/plain"
	"github.com/git-liza/git-liza/gitboard/roles"
)

var _ = add(logCommand)

func logCommand() *edge.Command {
	var o history.Options
	return &edge.Command{
		Name: "log", Group: "human", Args: "[TASK]", Max: 1, Reads: true, Lasts: true,
		Short: "list the operations, newest first",
		Long: `Filters are combined. --follow begins with the last ten (-n: another number) and continues as they happen, the
newest last. --yaml prints them, the oldest first, as log.yaml of the older form had them. git log liza/state shows the same
with git's own means.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&o.Task, "task", "", "of this `TASK`")
			f.StringVar(&o.Agent, "agent", "", "by this `AGENT` (or human)")
			f.StringVar(&o.Op, "op", "", "of this kind, like verdict")
			f.StringVar(&o.Since, "since", "", "not before this time, or for so long: 2h")
			f.IntVarP(&o.Max, "max", "n", 0, "at most so many")
			f.BoolVarP(&o.Patch, "patch", "p", false, "with what each changed in the records")
			f.BoolVarP(&o.Follow, "follow", "f", false, "print new ones as they happen, until interrupted")
			f.BoolVar(&o.Yaml, "yaml", false, "as the entries of a log.yaml")
		},
		Example: `git liza log login --since 2h --patch`,
		Run: func(ctx context.Context, c *edge.Call) error {
			if len(c.Args) == 1 {
				o.Task = c.Args[0]
			}
			switch {
			case o.Yaml && (c.JSON || o.Patch):
				return edge.Usage(c.Cmd, "--yaml goes without --json and --patch")
			case o.Follow && c.At != "":
				return edge.Usage(c.Cmd, "--follow starts now, not --at another time")
			}
			return runLog(ctx, c, o)
		},
	}
}

func runLog(ctx context.Context, c *edge.Call, o history.Options) error {
	v, err := c.View(ctx)
	if err != nil {
		return err
	}
	if o.Task != "" {
		if _, err := v.State.FindTask(o.Task); err != nil {
			return err
		}
	}
	if o.From, err = edge.Moment(c, "since", o.Since, -1); err != nil {
		return err
	}
	if o.Op != "" && !slices.Contains(board.Ops(), o.Op) {
		return board.Refuse(board.CodeInvalid, fmt.Sprintf("no operation is called %q", plain.Line(o.Op, 40)), edge.Suggest(o.Op, board.Ops()))
	}
	if o.Follow {
		return followLog(ctx, c, o, v)
	}
	lines, err := history.Lines(ctx, c, o, git.ZeroOID, v.Commit)
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
	return board.Refuse(board.CodeUnknownAgent, fmt.Sprintf("no agent is called %q", plain.Line(name, 40)), edge.Suggest(name, known))
}

// lookBack is how many operations --follow starts with.
const lookBack = 10

// followLog shows the last operations and then each new one, until the call is interrupted.
func followLog(ctx context.Context, c *edge.Call, o history.Options, v *gitboard.View) error {
	if o.Max == 0 {
		o.Max = lookBack
	}
	changes, err := c.Board.Follow(ctx, screen.LookEvery)
	if err != nil {
		return err
	}
	for seen := git.ZeroOID; ; {
		if v.Commit != seen {
			lines, err := history.Lines(ctx, c, o, seen, v.Commit)
			if err == nil {
				slices.Reverse(lines)
				err = printLog(ctx, c, o, lines)
			}
			if err != nil {
				return edge.Interrupted(ctx, err)
			}
			seen, o.Max = v.Commit, 0
		}
		if _, follows := <-changes; !follows {
			return nil
		}
		if v, err = c.View(ctx); err != nil {
			return edge.Interrupted(ctx, err)
		}
	}
}

// printLog prints lines in order: for a human, as one JSON object each, or as entries of a
// log.yaml.
func printLog(ctx context.Context, c *edge.Call, o history.Options, lines []history.Line) error {
	p := c.Page()
	for _, l := range lines {
		var err error
		switch {
		case c.JSON:
			err = c.PrintJSON(l)
		case o.Yaml:
			err = history.PrintEntries(ctx, c, o.Filter, l)
		default:
			err = c.Print(l.Text(p))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
