package cli

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/githooks"
	"github.com/git-liza/git-liza/cmd/internal/setup"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/hooks/install"
	"github.com/git-liza/git-liza/worktrees/merge"
)

var _ = add(func() *call.Command {
	var server, served bool
	var flags *pflag.FlagSet
	return &call.Command{
		Name: "hooks install", Group: "setting up", Max: 0,
		Short: "install git's hooks where agents work; init does it, too",
		Long: `In a clone they are on in the worktrees of tasks, and in what a supervisor starts; a human's checkouts,
hooks and settings stay as they are. The project's own hooks run first, whatever manages them.

No push from elsewhere moves the board, leases, tasks' branches or integration in a clone: an agent's could.
Where other clones share by this one on purpose, --served lets them. It lasts until --served=false.

With --server, in a shared (bare) repository, they are its lock: a push to the board is replayed before it is
taken, and integration moves only together with the operation that records it. Other branches are untouched.
The server also decides operations itself, so that clones which write at once don't lose races.`,
		Flags: func(f *pflag.FlagSet) {
			flags = f
			f.BoolVar(&server, "server", false, "as the lock of a shared repository")
			f.BoolVar(&served, "served", false, "let other clones push to the board of this one")
		},
		Example: `git liza hooks install --server`,
		Run: func(ctx context.Context, c *call.Call) error {
			if err := setup.NoAgent(ctx, c); err != nil {
				return err
			}
			b := c.Board
			if bare := b.Repo().Bare(); bare != server {
				if bare {
					return board.Refuse(board.CodeInvalid, "this is a bare repository, where nobody works", "git liza hooks install --server")
				}
				return board.Refuse(board.CodeInvalid, "a repository with a worktree is not a server", "run it in the bare repository that clones push to; here: git liza hooks install")
			}
			setup, err := setup.HookSetup(ctx, c)
			if err != nil {
				return err
			}
			if flags.Changed("served") {
				setup.Served = served
			}
			if server && setup.Served {
				return call.Usage(c.Cmd, "--served is for a clone with a worktree; --server takes pushes anyway")
			}
			if err := install.Install(ctx, b.Repo(), setup); err != nil {
				return err
			}
			where := "in the worktrees of tasks, and below supervisors; no push from elsewhere moves the board here"
			switch {
			case server:
				where = "for every push to this repository"
			case setup.Served:
				where = "in the worktrees of tasks, and below supervisors; other clones may push to the board here"
			}
			return c.Answer(map[string]any{"dir": install.Dir(b.Repo()), "server": server, "served": setup.Served}, "hooks are on "+where)
		},
	}
})

var _ = add(func() *call.Command {
	return &call.Command{
		Name: "hooks uninstall", Group: "setting up", Max: 0,
		Short:   "remove git's hooks and the worktree of tests, without a trace",
		Flags:   func(f *pflag.FlagSet) { f.Bool("server", false, "those of a shared repository; without it, too") },
		Example: `git liza hooks uninstall`,
		Run: func(ctx context.Context, c *call.Call) error {
			if err := setup.NoAgent(ctx, c); err != nil {
				return err
			}
			if err := cmp.Or(install.Uninstall(ctx, c.Board.Repo()), merge.DropTests(ctx, c.Board)); err != nil {
				return err
			}
			return c.Answer(nil, "no hooks of git liza are left")
		},
	}
})

var _ = add(func() *call.Command {
	return &call.Command{
		Name: "hooks status", Group: "setting up", Max: 0,
		Short:   "show whether git's hooks are in place, and which program they ask",
		Flags:   func(f *pflag.FlagSet) { f.Bool("server", false, "those of a shared repository; without it, too") },
		Example: `git liza hooks status`,
		Run: func(ctx context.Context, c *call.Call) error {
			s, err := install.Read(c.Board.Repo())
			if err != nil {
				return err
			}
			asks := s.Program
			if asks == "" {
				asks = "the git-liza in PATH"
			}
			lines := []string{"hooks: " + setup.HooksState(s, c.Board.Repo().Bare())}
			if len(s.Overwritten) > 0 {
				lines = append(lines, "overwritten: "+strings.Join(s.Overwritten, ", "))
			}
			if s.Files && s.On {
				lines = append(lines, "in: "+s.Dir, "they ask: "+asks)
				if !s.Server {
					lines = append(lines, "pushes from other clones to the board: "+map[bool]string{true: "taken", false: "refused"}[s.Served])
				}
			}
			return call.Tell(c, s, lines...)
		},
	}
})

var _ = add(func() *call.Command {
	var asServer bool
	return &call.Command{
		Name: "hook", Group: "machines", Args: "NAME [ARG...]", Min: 1, Max: -1, Anywhere: true,
		Short: "answer one of git's hooks, or those of Claude Code",
		Long: `The shims that git liza hooks install makes ask this, with the hook's arguments and standard input
(githooks). The answer is one word on standard output; a refusal's reason is on standard error, exit code 1.
What keeps the question from being answered stops nobody in a clone, and every push to the board on a server.
claude-code answers Claude Code's SessionStart, PostToolUse and Stop: prime, unread notes, and a task that is still held.`,
		Flags:   func(f *pflag.FlagSet) { f.BoolVar(&asServer, "server", false, "as the lock of a shared repository") },
		Example: `git liza hook pre-push origin`,
		Run: func(ctx context.Context, c *call.Call) error {
			if c.Args[0] == "claude-code" {
				return hookClaude(ctx, c)
			}
			return githooks.Answer(ctx, c, asServer)
		},
	}
})
