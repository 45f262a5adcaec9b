package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/roles"
	"github.com/git-liza/git-liza/roles/clis"
	"github.com/git-liza/git-liza/roles/supervisor"
)

func agentCommand() *command {
	var id string
	var interactive bool
	var run supervision
	return &command{
		name: "agent", group: "supervision", args: "ROLE", min: 1, max: 1,
		short: "run an agent of a role for as long as there is work",
		long: `It registers the agent, waits for work without turning in circles, claims for it, starts its CLI with a prompt,
keeps its lease alive, and merges what a reviewer approved. It ends with the goal, after the role's max_wait without
work, or by Ctrl-C: then a claim that has work in it is kept for the next start, everything else is given back.
Exit code 42: the lease was taken by somebody else. What the agent prints is kept: git liza logs AGENT.`,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&id, "id", "", "the agent's id or `NUMBER`; auto for the lowest that is free (default LIZA_AGENT_ID, else auto)")
			run.add(f)
			f.BoolVarP(&interactive, "interactive", "i", false, "start the CLI on this terminal, once")
			f.StringVar(&run.only, "task", "", "work on that task alone (`ID`)")
			f.BoolVar(&run.once, "once", false, "run the agent once, if there is work now")
		},
		run: func(c *call) error {
			role, err := roles.Parse(c.args[0])
			if err != nil {
				return board.Refuse("invalid", err.Error(), "git liza agent coder")
			}
			config, err := c.supervise(role, run)
			if err != nil {
				return err
			}
			if config.ID, err = c.agentToRun(role, id); err != nil {
				return err
			}
			out := &teller{c: c, bell: c.newBell()}
			defer out.bell.close()
			config.Tell, config.Output = out.tell, out.output
			ctx := c.ctx
			if interactive {
				terminal, is := c.app.Stdout.(*os.File)
				if !is || !c.toTerminal() {
					return usage(c.cmd, "-i needs a terminal")
				}
				config.Terminal, config.Once = terminal, true
				var stop context.CancelFunc
				ctx, stop = uninterrupted(c.ctx)
				defer stop()
			}
			return supervisor.Run(ctx, config)
		},
	}
}

// uninterrupted is a context that Ctrl-C does not end: the CLI on the terminal gets it, too, and means it for
// itself.
func uninterrupted(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGTERM, syscall.SIGHUP)
}

// supervision are the flags of whatever runs agents.
type supervision struct {
	cli, exec, only string
	once            bool
	given           func(flag string) bool
}

func (s *supervision) add(f *pflag.FlagSet) {
	f.StringVar(&s.cli, "cli", "claude", "the CLI that is the agent: claude, codex, gemini, vibe, or one from git's configuration")
	s.given = f.Changed
	f.StringVar(&s.exec, "exec", "", "run `CMD` by sh instead: the prompt is its input, and in $LIZA_PROMPT_FILE")
}

// supervise prepares the supervisor of an agent, with a board of its own.
func (c *call) supervise(role roles.Role, s supervision) (supervisor.Config, error) {
	none := supervisor.Config{}
	if c.supervised() {
		return none, board.Refuse("permission", "below a supervisor no agents are started", "go on with your own task: git liza prime")
	}
	c.app.outlivePipes()
	b, err := c.board()
	if err != nil {
		return none, err
	}
	if s.only != "" && role == roles.Planner {
		return none, usage(c.cmd, "--task is for coders and reviewers: a planner plans the whole goal")
	}
	if s.only != "" {
		v, err := b.View(c.ctx)
		if err != nil {
			return none, err
		}
		if _, err := v.State.FindTask(s.only); err != nil {
			return none, err
		}
	}
	cli, err := c.agentCLI(s)
	if err != nil {
		return none, err
	}
	program, err := os.Executable()
	if err != nil {
		return none, fmt.Errorf("where this program lies is unknown: %w", err)
	}
	key := &sessionKey{c: c}
	own, err := gitboard.Open(c.ctx, c.directory(), gitboard.Options{Now: c.app.Now, Random: c.app.Random, Key: key.of})
	if err != nil {
		return none, err
	}
	process := c.process()
	process.PID = os.Getpid()
	return supervisor.Config{
		Board: own, Hands: hands{own}, Role: role, CLI: cli, Only: s.only, Once: s.once, Key: key.prepare,
		Process: process, Program: program, Environ: agentEnviron(own, os.Environ()),
	}, nil
}

func (c *call) agentCLI(s supervision) (clis.CLI, error) {
	switch {
	case !s.given("exec"):
	case strings.TrimSpace(s.exec) == "":
		return clis.CLI{}, usage(c.cmd, "--exec needs a command")
	case s.given("cli"):
		return clis.CLI{}, usage(c.cmd, "--cli and --exec both say what the agent is: give one")
	default:
		return clis.Exec(s.exec), nil
	}
	var failed error
	cli, err := clis.FromConfig(s.cli, func(key string) string {
		value, _, err := c.opened.Repo().Config(c.ctx, key)
		if err != nil {
			failed = err
		}
		return value
	})
	if failed != nil {
		return cli, failed
	}
	return cli, err
}

// agentToRun is the id that --id and the environment ask for, "" for any.
func (c *call) agentToRun(role roles.Role, id string) (string, error) {
	if n, err := strconv.Atoi(id); err == nil && n >= 0 {
		return role.ID(n), nil
	}
	if id == "" {
		id = c.agentID()
	}
	if id == "" || id == "auto" {
		return "", nil
	}
	if r, err := roles.Of(id); err != nil || r != role {
		return "", board.Refuse("invalid", fmt.Sprintf("%q is not the id of a %s", board.Line(id, 40), role), fmt.Sprintf("git liza agent %s --id %s, or --id auto", role.Prefix(), role.ID(1)))
	}
	return id, nil
}

// teller prints what supervisors tell, and what their agents print.
type teller struct {
	c    *call
	bell *bell
}

func (t *teller) tell(e supervisor.Event) {
	t.bell.ring(e)
	if t.c.json {
		_ = t.c.printJSON(e) // whoever read it has gone
		return
	}
	p := t.c.paint()
	line := p.with("2", e.Time.Local().Format("15:04:05")) + " " + p.bold(e.Line())
	if e.Prompt != "" {
		line += ", prompt " + e.Prompt
	}
	fmt.Fprintln(t.c.app.Stderr, board.Visible(line))
}

// output is where an agent's output goes: to the terminal, unless a program reads.
func (t *teller) output(string) io.Writer {
	if t.c.json {
		return io.Discard
	}
	return &visible{to: t.c.app.Stdout}
}

// visible passes an agent's output on, line by line, without what would move the cursor.
type visible struct {
	to   io.Writer
	rest string
}

func (v *visible) Write(p []byte) (int, error) {
	lines := strings.SplitAfter(v.rest+string(p), "\n")
	v.rest = lines[len(lines)-1]
	if len(v.rest) > 64<<10 { // a line without end
		lines, v.rest = append(lines, ""), ""
	}
	for _, line := range lines[:len(lines)-1] {
		_, _ = io.WriteString(v.to, board.Visible(strings.ToValidUTF8(line, "\uFFFD"))) // the transcript has it all
	}
	return len(p), nil
}
