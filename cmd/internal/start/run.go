package start

import (
	"cmp"
	"context"
	"os"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/dispatch"
	"github.com/git-liza/git-liza/cmd/internal/editor"
	"github.com/git-liza/git-liza/cmd/internal/team"
	"github.com/git-liza/git-liza/cmd/internal/web"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/roles/clis"
	"github.com/git-liza/git-liza/roles/supervisor"
)

// Options are the options of start.
type Options struct {
	Spec               string
	Yes, NoWeb, NoOpen bool
	Team               team.Options
	Given              func(flag string) bool
}

// Start leads from a goal to merged code.
func Start(ctx context.Context, c *call.Call, o *Options) error {
	if err := c.ActsAsHuman(ctx, "start", "git liza prime"); err != nil {
		return err
	}
	agents, missing := o.agents()
	if missing != nil {
		if runs, err := teamRuns(ctx, c); err != nil || !runs {
			return missing
		}
	}
	var ask *Asking
	if in, isFile := c.App.Stdin.(*os.File); isFile && !o.Yes && !c.JSON && call.IsTerminal(in) && c.App.ToTerminal() {
		ask = NewAsking(in, c.App.Stdout)
	}
	begin := Beginning{Call: c, Ask: ask, Spec: o.Spec, Yes: o.Yes}
	if len(c.Args) > 0 {
		begin.Goal = c.Args[0]
	}
	specs, err := begin.Begin(ctx)
	if err != nil {
		return err
	}
	v, err := c.Board.View(ctx)
	if err != nil {
		return err
	}
	if o.Yes {
		line := "unattended: nobody reviews the plan (--yes)"
		if by := v.State.Team().PlanReviewer(); by != "" {
			line = "plan review    by a " + by + ", as this board has it (git liza team edit)"
		}
		if err := Say(c, line); err != nil {
			return err
		}
	}
	runs, err := teamRuns(ctx, c)
	if err != nil {
		return err
	}
	if runs {
		line := "a team runs here already: git liza status --watch"
		if begin.Goal != "" {
			line = "the goal is on the board; the team that runs here takes it: git liza status --watch"
		}
		return Say(c, line)
	}
	if missing != nil {
		return missing
	}
	settings, err := begin.Settings(ctx)
	if err != nil {
		return err
	}
	for _, s := range specs {
		if err := Say(c, s.Line()); err != nil {
			return err
		}
	}
	lines := append(settings.Lines(), agents)
	if dir, err := dispatch.InstallManual(c); err != nil {
		lines = append(lines, "manual         not installed: "+text.Line(err.Error(), 200))
	} else if dir != "" {
		lines = append(lines, "manual         git liza --help, from "+text.Line(dir, 200))
	}
	for _, line := range lines {
		if err := Say(c, line); err != nil {
			return err
		}
	}
	return o.work(ctx, c, ask)
}

// teamRuns reports whether a team runs in this clone, to which a goal need only be added.
func teamRuns(ctx context.Context, c *call.Call) (bool, error) {
	v, err := c.Board.View(ctx)
	if err != nil {
		return false, err
	}
	return supervisor.RunsHere(ctx, c.Board, v.State)
}

// Say prints a line for a human. Programs read the events of the team.
func Say(c *call.Call, line string) error {
	if c.JSON {
		return nil
	}
	return c.Say(line)
}

// agents chooses the first known CLI that is installed, unless a flag names the agent, and reports
// it.
func (o *Options) agents() (string, error) {
	if err := team.Supported(); err != nil {
		return "", err
	}
	if o.Given("cli") || o.Given("exec") {
		return "agents         as you said; they run without asking for permission", nil
	}
	installed, known := team.Installed()
	if len(installed) == 0 {
		return "", &supervisor.StopError{Exit: 5, Reason: "no agent CLI is installed: " + strings.Join(known, ", "), Hint: clis.Known[0].Install + ", or git liza start --exec 'COMMAND' for another agent"}
	}
	o.Team.Flags.Prefer(installed[0])
	line := "agents         " + installed[0] + "; it runs without asking for permission"
	if len(installed) > 1 {
		line += " (also installed: " + strings.Join(installed[1:], ", ") + "; --cli NAME)"
	}
	return line, nil
}

// work runs the team and the web board until every goal is done.
func (o *Options) work(ctx context.Context, c *call.Call, ask *Asking) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if !o.NoWeb {
		served, err := o.web(ctx, c)
		if err != nil {
			return err
		}
		defer func() {
			stop()
			<-served
		}()
	}
	o.Team.Given = func(string) bool { return false }
	if ask != nil {
		o.Team.Alongside = append(o.Team.Alongside, func(ctx context.Context, console *team.Console) { ReviewPlans(ctx, c, ask, console) })
	}
	return team.Run(ctx, c, o.Team)
}

// web serves the web board until ctx ends, with a Board of its own, and opens a browser. served is
// closed when it has ended.
func (o *Options) web(ctx context.Context, c *call.Call) (served <-chan struct{}, err error) {
	own := &call.Call{App: c.App, Cmd: c.Cmd, Dir: c.Dir, Keys: c.Keys}
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
		failed = web.Run(ctx, own, web.Options{Listen: web.AnyPort, Show: show})
	}()
	select {
	case <-done:
		return nil, cmp.Or(failed, ctx.Err())
	case url := <-address:
		if err := Say(c, "web board      "+url); err != nil {
			return nil, err
		}
		if !o.NoOpen && c.App.ToTerminal() && !c.JSON {
			editor.Browse(url, c.App.Getenv, c.App.Stderr)
		}
	}
	return done, nil
}
