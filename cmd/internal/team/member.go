package team

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/setup"
	"github.com/git-liza/git-liza/cmd/internal/signing"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/proc"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/hooks/install"
	"github.com/git-liza/git-liza/roles/clis"
	"github.com/git-liza/git-liza/roles/process"
	"github.com/git-liza/git-liza/roles/supervisor"
	"github.com/git-liza/git-liza/worktrees/executor"
)

// Flags are the flags of the commands that run agents.
type Flags struct {
	Only  string // the only task to work on, "" for all
	First string // the task to take first, "" for the board's order
	Once  bool   // run the agent once
	Fresh bool   // no run continues an earlier conversation
	cli   string
	exec  string
	image string
	given func(flag string) bool
}

// Add defines the flags that all these commands have.
func (s *Flags) Add(f *pflag.FlagSet) {
	f.StringVar(&s.cli, "cli", "claude", "the CLI that is the agent, like claude, codex, gemini or opencode, or one from git's configuration; acp with --exec")
	s.given = f.Changed
	f.BoolVar(&s.Fresh, "fresh", false, "no run continues an earlier conversation of its CLI")
	f.StringVar(&s.image, "container", "", "run the agent in a container of this `IMAGE` (podman or docker): it sees its worktree and the git directory")
	f.StringVar(&s.exec, "exec", "", "run `CMD` by sh instead: the prompt is its input, and in $LIZA_PROMPT_FILE")
}

// Installed lists the known CLIs that are on the PATH, and all known ones.
func Installed() (installed, known []string) {
	for _, cli := range clis.Known {
		if strings.HasSuffix(cli.Name, "-acp") {
			continue // another way to run one of the others
		}
		known = append(known, cli.Name)
		if _, err := supervisor.FindProgram(cli); err == nil {
			installed = append(installed, cli.Name)
		}
	}
	return installed, known
}

// Prefer names the CLI for the roles that the team's settings name none for.
func (s *Flags) Prefer(cli string) { s.cli = cli }

// Ready checks that agents of every role can be started, without preparing one.
func Ready(ctx context.Context, c *call.Call, s Flags) error {
	t, err := c.Team(ctx)
	if err != nil {
		return err
	}
	for i := range t.Roles {
		m, err := Supervise(ctx, c, &t.Roles[i], s)
		if err != nil {
			return err
		}
		if err := m.Installed(); err != nil {
			return err
		}
	}
	return nil
}

// Supported refuses a system on which a supervisor could end an agent, but not what it has started.
func Supported() error { return supported(proc.Groups, runtime.GOOS) }

func supported(groups bool, system string) error {
	if groups {
		return nil
	}
	return &call.Outcome{
		Exit: 5, Code: call.CodeUnsupported, Message: "agents can't be supervised on " + system + ": the processes that they start could not be ended",
		Hint: "run the team on Linux, macOS or in WSL; other commands work on this system",
	}
}

// Supervise prepares an agent's supervisor. All of a command's supervisors work with its Board.
func Supervise(ctx context.Context, c *call.Call, role *board.Role, s Flags) (supervisor.Config, error) {
	none := supervisor.Config{}
	if c.App.Supervised() {
		return none, board.Refuse(board.CodePermission, "under a supervisor no agents are started", "continue with your own task: git liza prime")
	}
	if err := Supported(); err != nil {
		return none, err
	}
	c.App.OutlivePipes()
	if err := taskToRun(ctx, c, role.Kind.Role(), s); err != nil {
		return none, err
	}
	cli, err := agentCLI(ctx, c, role, s)
	if err == nil {
		err = metered(ctx, c, cli)
	}
	if err != nil {
		return none, err
	}
	var container *process.Container
	if s.image != "" {
		if container = process.FindContainer(s.image); container == nil {
			return none, &supervisor.StopError{Exit: 5, Reason: "--container needs podman or docker, and neither is in PATH", Hint: "install podman, or leave --container out"}
		}
	}
	program, err := os.Executable()
	if err != nil {
		return none, fmt.Errorf("where this program lies is unknown: %w", err)
	}
	own := c.App.Process()
	own.PID = os.Getpid()
	return supervisor.Config{
		Board: c.Board, Executor: executor.Executor{Board: c.Board}, Role: role.Kind.Role(), Name: role.Name, CLI: cli, Only: s.Only, First: s.First, Once: s.Once, Fresh: s.Fresh || container != nil,
		Key:       func(ctx context.Context, agent string) (string, error) { return signing.PrepareKey(ctx, c, agent) },
		Container: container, // a CLI's record of a conversation is lost with it
		Guard:     func(ctx context.Context) (string, error) { return setup.KeepHooks(ctx, c) },
		Process:   own, Program: program, Environ: install.Hooked(c.Board.Repo(), os.Environ()),
	}, nil
}

// taskToRun checks the task that the flags name, if any.
func taskToRun(ctx context.Context, c *call.Call, role roles.Role, s Flags) error {
	task := cmp.Or(s.Only, s.First)
	switch {
	case task == "":
		return nil
	case role == roles.Planner:
		return call.Usage(c.Cmd, "a task is for coders and reviewers: a planner plans the whole goal")
	case s.Only != "" && s.First != "":
		return call.Usage(c.Cmd, "a task to take first and --task exclude each other")
	}
	v, err := c.Board.View(ctx)
	if err != nil {
		return err
	}
	_, err = v.State.FindTask(task)
	return err
}

// metered refuses a CLI that reports no tokens, and a command that may not, if the board's settings do.
func metered(ctx context.Context, c *call.Call, cli clis.CLI) error {
	v, err := c.Board.View(ctx)
	if err != nil || !cli.NoUsage && cli.Name != clis.ExecName || !v.State.Config().RequireUsage {
		return err
	}
	what := cli.Name + " reports no tokens"
	if !cli.NoUsage {
		what = "the command of --exec may report no tokens"
	}
	return board.Refuse(board.CodeInvalid, what+", so no budget can end its runs, and "+board.KeyRequireUsage+" is set",
		"choose another CLI: --cli NAME; or a human: git liza config set "+board.KeyRequireUsage+" false")
}

func agentCLI(ctx context.Context, c *call.Call, role *board.Role, s Flags) (clis.CLI, error) {
	switch {
	case s.given("exec") && s.cli == clis.ACPName && s.exec != "":
		return clis.ExecACP(s.exec), nil
	case !s.given("exec"):
	case strings.TrimSpace(s.exec) == "":
		return clis.CLI{}, call.Usage(c.Cmd, "--exec needs a command")
	case s.given("cli"):
		return clis.CLI{}, call.Usage(c.Cmd, "--cli and --exec both specify the agent: give only one of them")
	default:
		return clis.Exec(s.exec), nil
	}
	name := s.cli
	if role.CLI != "" && !s.given("cli") {
		name = role.CLI
	}
	settings, err := c.Board.Repo().Settings().Section(ctx, "liza."+name)
	if err != nil {
		return clis.CLI{}, err
	}
	cli, err := clis.FromConfig(name, func(key string) string { return settings[key] })
	if err != nil || role.Model == "" || s.given("cli") {
		return cli, err
	}
	return cli.WithModel(role.Model)
}
