package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/edge"
	"github.com/git-liza/git-liza/cmd/internal/team"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/plain"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/roles/supervisor"
)

var _ = add(agentCommand)

func agentCommand() *edge.Command {
	var id string
	var interactive bool
	var run team.Flags
	return &edge.Command{
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
			f.BoolVar(&run.Once, "once", false, "run the agent once, if there is work now")
		},
		Example: `git liza agent coder --cli claude`,
		Run: func(ctx context.Context, c *edge.Call) error {
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
				terminal, is := c.App.Stdout.(*os.File)
				if !is || !c.ToTerminal() {
					return edge.Usage(c.Cmd, "-i needs a terminal")
				}
				config.Terminal, config.Once = terminal, true
				var stop context.CancelFunc
				ctx, stop = uninterrupted(ctx)
				defer stop()
			}
			return supervisor.Run(ctx, config)
		},
	}
}

// uninterrupted is a context that Ctrl-C does not end, since it is meant for the CLI on the same
// terminal.
func uninterrupted(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGTERM, syscall.SIGHUP)
}

// agentToRun is the id requested by --id or the environment, "" for any.
func agentToRun(c *edge.Call, role *board.Role, id string) (string, error) {
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
		return "", board.Refuse(board.CodeInvalid, fmt.Sprintf("%q is not the id of a %s", plain.Line(id, 40), role.Name), fmt.Sprintf("git liza agent %s --id %s, or --id auto", role.Name, role.ID(1)))
	}
	return id, nil
}
