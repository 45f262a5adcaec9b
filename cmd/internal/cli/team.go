package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/edit"
	"github.com/git-liza/git-liza/cmd/internal/start"
	"github.com/git-liza/git-liza/cmd/internal/team"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/log/codec"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
)

var _ = add(func() *call.Command {
	t := team.Options{Counts: map[roles.Role]*int{roles.Planner: new(int), roles.Coder: new(int), roles.CodeReviewer: new(int)}}
	return &call.Command{
		Name: "team", Group: "supervision", Max: 0, Lasts: true,
		Short: "run a planner, coders and reviewers in one terminal until every goal is done",
		Long: `Without numbers the team sizes itself: it starts an agent when there is work that nobody on the board is there for,
up to three of a role, and one that has had nothing to do for two minutes ends, unless git liza team show says
otherwise. Teams on several machines count each other's agents. With one of the numbers it has these agents all the
time.
Each is supervised as by git liza agent. On a terminal the last line says how many tasks are in which state, and who does
what, since when. Open pull requests are synced as by git liza pr sync --watch. Ctrl-C ends all of it: claims with work
in them are kept for the next start. Exit code 0: every goal that was worked on is COMPLETED; otherwise the reason is
shown for each goal.`,
		Flags: func(f *pflag.FlagSet) {
			f.IntVar(t.Counts[roles.Planner], "planners", 1, "how many planners")
			f.IntVar(t.Counts[roles.Coder], "coders", 2, "how many coders")
			f.IntVar(t.Counts[roles.CodeReviewer], "reviewers", 1, "how many reviewers")
			f.BoolVarP(&t.Quiet, "quiet", "q", false, "print what supervisors report, and not what agents print")
			t.Flags.Add(f)
			t.Given = f.Changed
		},
		Example: `git liza team --coders 3 --cli codex`,
		Run: func(ctx context.Context, c *call.Call) error {
			if c.AgentID() == "" && !c.App.Supervised() && *t.Counts[roles.Planner] > 0 {
				specs, err := start.Specify(ctx, c)
				if err != nil {
					return err
				}
				for _, s := range specs {
					if err := start.Say(c, s.Line()); err != nil {
						return err
					}
				}
			}
			t.Alongside = append(t.Alongside, tends(c))
			return team.Run(ctx, c, t)
		},
	}
})

var _ = add(func() *call.Command {
	var template string
	return &call.Command{
		Name: "team show", Group: "human", Max: 0, Reads: true,
		Short: "the team's roles and stages, as YAML that team set reads",
		Long: `Without git liza team set it is the built-in team: a planner, coders and code reviewers, and the stage code. The file
is described in git liza docs team. With --template it is a team to start from: git liza team set reads it.`,
		Flags:   func(f *pflag.FlagSet) { edit.TemplateFlag(f, &template) },
		Example: `git liza team show`,
		Run: func(ctx context.Context, c *call.Call) error {
			if template != "" {
				return showTemplate(c, template)
			}
			v, err := c.View(ctx)
			if err != nil {
				return err
			}
			t := v.State.Team()
			if err := v.State.Err(); err != nil {
				return err
			}
			text, err := codec.Encode(t)
			if err != nil {
				return err
			}
			return call.Copy(c, t, string(text))
		},
	}
})

func showTemplate(c *call.Call, name string) error {
	text, err := edit.TeamTemplate(name)
	if err != nil {
		return err
	}
	t, err := codec.Decode(board.TeamPath, []byte(text))
	if err != nil {
		return err
	}
	return call.Copy(c, t, text)
}

var _ = add(func() *call.Command {
	var template string
	var yes bool
	return &call.Command{
		Name: "team set", Group: "human", Args: "[FILE]", Max: 1, Writes: true,
		Short: "replace the team's roles and stages by those in a file",
		Long: `FILE is YAML as team show prints it; - is standard input. What is wrong with it is reported with its line. A role
that registered agents have can't be taken from them. A file of instructions is read from the integration branch,
once: set the team again after a change to it. In place of FILE, --template takes a team to start from, as
git liza team show --template prints it.`,
		Example: `git liza team set team.yaml`,
		Flags: func(f *pflag.FlagSet) {
			edit.TemplateFlag(f, &template)
			f.BoolVar(&yes, "yes", false, "without a question")
		},
		Run: func(ctx context.Context, c *call.Call) error {
			if (template == "") == (len(c.Args) == 0) {
				return call.Usage(c.Cmd, "team set needs a FILE or --template NAME")
			}
			file, line, err := template, "", error(nil)
			if template != "" {
				line, err = edit.TeamTemplate(template)
			} else {
				file = c.Args[0]
				line, err = c.File("team", file)
			}
			if err != nil {
				return err
			}
			if template != "" && !yes {
				if err := reviewsPlans(ctx, c, line); err != nil {
					return err
				}
			}
			done, err := edit.SetTeam(ctx, c, file, line, "git liza team set "+text.Quote(file))
			if err != nil {
				return err
			}
			return c.Report(done, nil)
		},
	}
})

// reviewsPlans asks the human of a board without plan review about a team that turns it on.
func reviewsPlans(ctx context.Context, c *call.Call, line string) error {
	record, err := codec.Decode(board.TeamPath, []byte(line))
	if err != nil {
		return err
	}
	t, err := c.Team(ctx)
	if err != nil || t.PlanReviewer() != "" || record.(*board.Team).PlanReviewer() == "" {
		return err
	}
	return confirmed(c, "this board works without plan review, and in this team a "+record.(*board.Team).PlanReviewer()+" reviews each plan before coders begin", "--yes")
}

var _ = add(func() *call.Command {
	var from string
	return &call.Command{
		Name: "team edit", Group: "human", Max: 0, Writes: true,
		Short: "change the team's roles and stages in your editor",
		Long: `As git liza edit does it: what is wrong is reported with its line, and what can't be committed is kept in a file, with
which --from continues.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&from, "from", "", "begin with the text in a `FILE`, as an earlier edit kept it")
		},
		Example: `git liza team edit`,
		Run: func(ctx context.Context, c *call.Call) error {
			c.Args = []string{"team"}
			return edit.Run(ctx, c, "", from)
		},
	}
})
