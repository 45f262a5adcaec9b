package cli

import (
	"cmp"
	"context"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/dispatch"
	"github.com/git-liza/git-liza/cmd/internal/editor"
	"github.com/git-liza/git-liza/cmd/internal/start"
	"github.com/git-liza/git-liza/cmd/internal/team"
	"github.com/git-liza/git-liza/roles/clis"
	"github.com/git-liza/git-liza/roles/supervisor"
)

var _ = add(startCommand)

func startCommand() *call.Command {
	var o startOptions
	return &call.Command{
		Name: "start", Group: "setting up", Args: `["GOAL"]`, Max: 1, Lasts: true,
		Short: "from a goal to merged code: board, team and web board in one terminal",
		Long: `In a repository without a board it makes one, with the goal's text as its specification unless there is a
specs/vision.md or --spec names a file. It proposes a test of merged work, and a setup of new worktrees, from the project's own
files; takes the first agent CLI that is installed; starts a team that sizes itself, and the web board; shows the plan and
asks for it; and ends with the place of the code. Your worktree and your branch stay as they are.

With --yes nobody is asked: the plan is not reviewed. Where a team runs in this clone already, the goal is added to
its board. Agents run without asking for permission: start them only where you can afford that.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&o.spec, "spec", "", "the goal's specification, a committed `FILE` (default specs/vision.md, else the goal's text)")
			f.BoolVarP(&o.yes, "yes", "y", false, "ask nothing, and review no plan: what the planner finalizes is open to coders")
			f.BoolVar(&o.noWeb, "no-web", false, "without the web board")
			f.BoolVar(&o.noOpen, "no-open", false, "open no browser")
			o.team.run.Add(f)
			o.given = f.Changed
		},
		Example: `git liza start "Add a dark mode"`,
		Run:     func(ctx context.Context, c *call.Call) error { return runStart(ctx, c, &o) },
	}
}

type startOptions struct {
	spec               string
	yes, noWeb, noOpen bool
	team               teamFlags
	given              func(flag string) bool
}

func runStart(ctx context.Context, c *call.Call, o *startOptions) error {
	if err := c.ActsAsHuman(ctx, "start", "git liza prime"); err != nil {
		return err
	}
	agents, err := o.agents()
	if err != nil {
		return err
	}
	if o.yes {
		if err := startLine(c, "unattended: nobody reviews the plan (--yes)"); err != nil {
			return err
		}
	}
	var ask *start.Asking
	if in, isFile := c.App.Stdin.(*os.File); isFile && !o.yes && !c.JSON && call.IsTerminal(in) && c.ToTerminal() {
		ask = start.NewAsking(in, c.App.Stdout)
	}
	run := dispatch.Within(c)
	begin := start.Beginning{Call: c, Run: run, Ask: ask, Spec: o.spec, Yes: o.yes}
	if len(c.Args) > 0 {
		begin.Goal = c.Args[0]
	}
	began, err := begin.Begin(ctx)
	if err != nil {
		return err
	}
	v, err := c.Board.View(ctx)
	if err != nil {
		return err
	}
	runs, err := supervisor.RunsHere(ctx, c.Board, v.State)
	if err != nil {
		return err
	}
	if runs {
		line := "a team runs here already: git liza status --watch"
		if began.Spec != "" {
			line = "the goal is on the board; the team that runs here takes it: git liza status --watch"
		}
		return startLine(c, line)
	}
	for _, line := range append(began.Lines(), agents) {
		if err := startLine(c, line); err != nil {
			return err
		}
	}
	return o.work(ctx, c, run, ask)
}

// startLine prints a line for a human. Programs read the events of the team.
func startLine(c *call.Call, line string) error {
	if c.JSON {
		return nil
	}
	return c.Say(line)
}

// agents chooses the first known CLI that is installed, unless a flag names the agent, and reports
// it.
func (o *startOptions) agents() (string, error) {
	if o.given("cli") || o.given("exec") {
		return "agents         as you said; they run without asking for permission", nil
	}
	installed, known := team.Installed()
	if len(installed) == 0 {
		return "", &supervisor.StopError{Exit: 5, Reason: "no agent CLI is installed: " + strings.Join(known, ", "), Hint: clis.Known[0].Install + ", or git liza start --exec 'COMMAND' for another agent"}
	}
	o.team.run.Prefer(installed[0])
	line := "agents         " + installed[0] + "; it runs without asking for permission"
	if len(installed) > 1 {
		line += " (also installed: " + strings.Join(installed[1:], ", ") + "; --cli NAME)"
	}
	return line, nil
}

// work runs the team and the web board until every goal is done.
func (o *startOptions) work(ctx context.Context, c *call.Call, run call.Runs, ask *start.Asking) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if !o.noWeb {
		served, err := o.web(ctx, c)
		if err != nil {
			return err
		}
		defer func() {
			stop()
			<-served
		}()
	}
	o.team.given = func(string) bool { return false }
	if ask != nil {
		o.team.beside = func(ctx context.Context, console *team.Console) { start.ReviewPlans(ctx, c, run, ask, console) }
	}
	return runTeam(ctx, c, o.team)
}

// web serves the web board until ctx ends, with a Board of its own, and opens a browser. served is
// closed when it has ended.
func (o *startOptions) web(ctx context.Context, c *call.Call) (served <-chan struct{}, err error) {
	own := &call.Call{App: c.App, Cmd: c.Cmd, Dir: c.Dir, Key: c.Key}
	if err := own.Open(ctx); err != nil {
		return nil, err
	}
	done, address := make(chan struct{}), make(chan string, 1)
	failed := error(nil)
	show := func(url string) {
		select {
		case address <- url:
		default: // git liza web prints one for another browser
		}
	}
	go func() {
		defer close(done)
		defer own.Close()
		failed = runWeb(ctx, own, webOptions{listen: "127.0.0.1:0", show: show})
	}()
	select {
	case <-done:
		return nil, cmp.Or(failed, ctx.Err())
	case url := <-address:
		if err := startLine(c, "web board      "+url); err != nil {
			return nil, err
		}
		if !o.noOpen && c.ToTerminal() && !c.JSON {
			editor.Browse(url, c.App.Getenv, c.App.Stderr)
		}
	}
	return done, nil
}
