package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/acts"
	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/pullrequest"
	"github.com/git-liza/git-liza/cmd/internal/recovery"
	"github.com/git-liza/git-liza/cmd/internal/team"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/gitenv"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/hooks/install"
	"github.com/git-liza/git-liza/roles/clis"
	"github.com/git-liza/git-liza/roles/supervisor"
)

var _ = add(func() *call.Command {
	var id string
	var interactive, end, restart bool
	var run team.Flags
	return &call.Command{
		Name: "agent", Group: "supervision", Args: "ROLE [TASK]", Min: 1, Max: 2, Lasts: true,
		Short: "run an agent of a role for as long as there is work",
		Long: `It registers the agent, waits for work without turning in circles, claims for it, starts its CLI with a prompt,
keeps its lease alive, and merges what a reviewer approved. It ends with the goal, after the role's max_wait without
work, or by Ctrl-C: then a claim that has work in it is kept for the next start, everything else is given back.
With a TASK it takes that one first, as soon as it may; with --task it takes no other.
Exit code 42: the lease was taken by somebody else. What the agent prints is kept: git liza logs AGENT.`,
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&id, "id", "", "the agent's id or `NUMBER`; auto for the lowest that is free (default LIZA_AGENT_ID, else auto)")
			run.Add(f)
			f.BoolVarP(&interactive, "interactive", "i", false, "start the CLI on this terminal, once")
			f.StringVar(&run.Only, "task", "", "work on that task alone (`ID`)")
			f.BoolVar(&end, "end", false, "end the run of the `AGENT` named instead of a role, and its supervisor; its work is kept")
			f.BoolVar(&restart, "restart", false, "end the run of the agent and start it again, with --fresh in a new conversation")
			f.BoolVar(&run.Once, "once", false, "run the agent once, if there is work now")
		},
		Example: `git liza agent coder --cli claude`,
		Run: func(ctx context.Context, c *call.Call) error {
			if end || restart {
				return c.Just(ctx, acts.Ask(c.Args[0], end, run.Fresh))
			}
			t, err := c.Team(ctx)
			if err != nil {
				return err
			}
			role, err := t.FindRole(c.Args[0])
			if err != nil {
				return err
			}
			if len(c.Args) > 1 {
				run.First = c.Args[1]
			}
			config, err := team.Supervise(ctx, c, role, run)
			if err != nil {
				return err
			}
			if config.ID, err = agentToRun(c, role, id); err != nil {
				return err
			}
			out := team.NewPrinter(ctx, c)
			defer out.Close()
			config.Report, config.Output = out.Event, out.Output
			defer team.Telemetry(ctx, c, out.Warn)()
			if interactive {
				if config.CLI.Prompt == clis.ACP && config.CLI.Interactive == nil {
					return call.Usage(c.Cmd, "-i needs a CLI with a screen of its own, which %s has not", config.CLI.Name)
				}
				terminal, is := c.App.Stdout.(*os.File)
				if !is || !c.App.ToTerminal() {
					return call.Usage(c.Cmd, "-i needs a terminal")
				}
				config.Terminal, config.Once = terminal, true
				var stop context.CancelFunc
				ctx, stop = uninterrupted(ctx)
				defer stop()
			}
			if role.Kind.Role() == roles.Planner && !run.Once && !interactive {
				defer alongside(ctx, func(ctx context.Context) { pullrequest.Tend(ctx, c, out.Warn) })()
			}
			return supervisor.Run(ctx, config)
		},
	}
})

// alongside runs a function until it is stopped.
func alongside(ctx context.Context, run func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() { run(ctx) })
	return func() {
		cancel()
		done.Wait()
	}
}

// uninterrupted is a context that Ctrl-C does not end, since it is meant for the CLI on the same
// terminal.
func uninterrupted(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGTERM, syscall.SIGHUP)
}

// agentToRun is the id requested by --id or the environment, "" for any.
func agentToRun(c *call.Call, role *board.Role, id string) (string, error) {
	if n, err := strconv.Atoi(id); err == nil && n >= 0 {
		return role.ID(n), nil
	}
	if id == "" {
		id = c.AgentID()
	}
	if id == "" || id == "auto" {
		return "", nil
	}
	if roles.NameOf(id) != role.Name {
		return "", board.Refuse(board.CodeInvalid, fmt.Sprintf("%q is not the id of a %s", text.Line(id, 40), role.Name), fmt.Sprintf("git liza agent %s --id %s, or --id auto", role.Name, role.ID(1)))
	}
	return id, nil
}

var _ = add(func() *call.Command {
	return &call.Command{
		Name: "env", Group: "setting up", Args: "[AGENT]", Max: 1,
		Short: "print the environment of an agent, for eval",
		Long: `eval "$(git liza env coder-1)" makes the commands of this shell act as coder-1, in the session kept here, name it as the
author of commits, and git run the hooks that agents have (git liza hooks status). Without an id it is the one in
LIZA_AGENT_ID. git liza env human takes it all back.`,
		Example: `git liza env coder-1`,
		Run: func(ctx context.Context, c *call.Call) error {
			id := cmp.Or(call.First(c.Args), c.AgentID())
			if id == "" {
				return call.Usage(c.Cmd, "env needs AGENT, or LIZA_AGENT_ID to be set")
			}
			b, current := c.Board, c.App.Getenv(gitenv.ParametersVar)
			if id == roles.HumanID {
				names, then := slices.Concat([]string{"LIZA_AGENT_ID", "LIZA_SESSION", gitenv.ParametersVar}, authorVars), ""
				all := map[string]any{"unset": names}
				if rest := install.Unhooked(b.Repo(), current); rest != "" { // settings of others
					all[gitenv.ParametersVar], then = rest, "export "+gitenv.ParametersVar+"="+text.Quote(rest)+"\n"
				}
				return call.Copy(c, all, "unset "+strings.Join(names, " ")+"\n"+then)
			}
			if _, err := b.RoleOf(ctx, id); err != nil {
				return err
			}
			session, err := b.Sessions().Kept(id)
			if err != nil {
				return err
			}
			author := [2]string{id, id + board.AgentDomain}
			settings, on := install.Environ(b.Repo(), current)
			all := map[string]string{"LIZA_AGENT_ID": id, "LIZA_SESSION": session}
			lines := []string{"export LIZA_AGENT_ID=" + id, "unset LIZA_SESSION"}
			if session != "" {
				lines[1] = "export LIZA_SESSION=" + session
			}
			for i, name := range authorVars {
				all[name] = author[i%2]
				lines = append(lines, "export "+name+"="+author[i%2])
			}
			if on { // a plain path, for a shell
				all[gitenv.ParametersVar] = settings
				lines = append(lines, "export "+gitenv.ParametersVar+"="+text.Quote(settings))
			}
			return call.Copy(c, all, strings.Join(lines, "\n")+"\n")
		},
	}
})

// authorVars name the author and the committer of commits to git.
var authorVars = []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"}

var _ = add(func() *call.Command {
	return &call.Command{
		Name: "register", Group: "any agent", Args: "[ID]", Max: 1, Writes: true,
		Short:   "register an agent, with a new session",
		Long:    "The id is LIZA_AGENT_ID, or the argument. It must be free, or its lease must have expired.",
		Example: `git liza register coder-1`,
		Run: func(ctx context.Context, c *call.Call) error {
			b := c.Board
			id := call.First(c.Args)
			if id == "" {
				id = c.AgentID()
			}
			if id == "" {
				v, err := b.View(ctx)
				if err != nil {
					return err
				}
				return &call.UsageError{Message: "no id is given", Hint: "git liza register " + board.FreeID(v.State, roles.Coder.Prefix())}
			}
			if _, err := b.RoleOf(ctx, id); err != nil {
				return err
			}
			if c.App.Supervised() {
				return board.Refuse(board.CodePermission, id+" is supervised: its supervisor has registered it", "git liza prime")
			}
			if err := c.OwnName(id); err != nil {
				return err
			}
			done, actor, err := b.Sessions().Register(ctx, id, c.Request, c.App.Process())
			if err != nil {
				return err
			}
			return c.Report(done, map[string]any{"session": actor.Session}, fmt.Sprintf("next: eval \"$(git liza env %s)\"", id))
		},
	}
})

var _ = add(func() *call.Command {
	return &call.Command{
		Name: "deregister", Group: "any agent", Max: 0, Writes: true,
		Short:   "end the agent's registration",
		Example: `git liza deregister`,
		Run: func(ctx context.Context, c *call.Call) error {
			done, err := c.Do(ctx, "deregister", gitboard.Just(&board.Deregister{}))
			if err != nil {
				return err
			}
			if err := c.Board.Sessions().Drop(done.Op.Actor.ID); err != nil {
				return err
			}
			return c.Report(done, nil)
		},
	}
})

var _ = add(func() *call.Command {
	used := -1
	return &call.Command{
		Name: "heartbeat", Group: "any agent", Max: 0,
		Short:   "renew the agent's lease",
		Example: `git liza heartbeat --context 85`,
		Flags: func(f *pflag.FlagSet) {
			f.IntVar(&used, "context", -1, "record how many `PERCENT` of its context the agent has used")
		},
		Run: func(ctx context.Context, c *call.Call) error {
			actor, err := c.Actor(ctx, "register")
			if err != nil {
				return err
			}
			if used >= 0 {
				if _, err := c.Board.Do(ctx, c.Asks(actor), gitboard.ContextUsed(actor.ID, used)); err != nil {
					return err
				}
			}
			held, err := c.Board.Sessions().Heartbeat(ctx, actor, 0)
			if err != nil {
				return err
			}
			return c.Answer(map[string]any{"agent": actor.ID, "lease_expires": held.Expires}, fmt.Sprintf("%s has its lease until %s", actor.ID, held.Expires))
		},
	}
})

var _ = add(func() *call.Command {
	var force bool
	return &call.Command{
		Name: "recover-agent", Group: "supervision", Args: "ID", Min: 1, Max: 1,
		Short: "after a crash, recover the work of an agent that is gone, and free its id",
		Long: `For a human. Each task that it works on or reviews is recovered as by recover-task, and its lease ends, so that
the id can be registered at once. No process is ended.`,
		Flags: func(f *pflag.FlagSet) {
			f.BoolVar(&force, "force", false, "even if its lease is live: for when you know that its process is gone")
		},
		Example: `git liza recover-agent coder-2`,
		Run: func(ctx context.Context, c *call.Call) error {
			r, err := recovery.RecoverAgent(ctx, c, c.Args[0], force)
			return r.Print(c, err)
		},
	}
})
