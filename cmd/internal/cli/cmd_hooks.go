package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/hooks/install"
	"github.com/git-liza/git-liza/roles"
)

func hooksInstallCommand() *command {
	var server bool
	return &command{
		name: "hooks install", group: "setting up", max: 0,
		short: "put git's hooks in place where agents are; init does it, too",
		long: `In a clone they are on in the worktrees of tasks, and in what a supervisor starts; a human's checkouts,
hooks and settings stay as they are. The project's own hooks run first, whatever manages them.

With --server, in a shared (bare) repository, they are its lock: a push to the board is replayed before it is
taken, and integration moves only together with the operation that records it. Other branches are untouched.`,
		flags: func(f *pflag.FlagSet) { f.BoolVar(&server, "server", false, "as the lock of a shared repository") },
		run: func(c *call) error {
			b, err := c.openAsHuman()
			if err != nil {
				return err
			}
			if bare := b.Repo().Bare(); bare != server {
				if bare {
					return board.Refuse("invalid", "this is a bare repository, where nobody works", "git liza hooks install --server")
				}
				return board.Refuse("invalid", "a repository with a worktree is no server", "run it in the bare repository that clones push to; here: git liza hooks install")
			}
			if err := install.Install(c.ctx, b.Repo(), c.hookProgram(), server); err != nil {
				return err
			}
			where := "in the worktrees of tasks, and below supervisors"
			if server {
				where = "for every push to this repository"
			}
			return c.answer(map[string]any{"dir": install.Dir(b.Repo()), "server": server}, "hooks are on "+where)
		},
	}
}

func hooksUninstallCommand() *command {
	return &command{
		name: "hooks uninstall", group: "setting up", max: 0,
		short: "take git's hooks away, without a trace",
		flags: func(f *pflag.FlagSet) { f.Bool("server", false, "those of a shared repository; without it, too") },
		run: func(c *call) error {
			b, err := c.openAsHuman()
			if err != nil {
				return err
			}
			if err := install.Uninstall(b.Repo()); err != nil {
				return err
			}
			return c.answer(nil, "no hooks of git liza are left")
		},
	}
}

func hooksStatusCommand() *command {
	return &command{
		name: "hooks status", group: "setting up", max: 0,
		short: "tell whether git's hooks are in place, and whom they ask",
		flags: func(f *pflag.FlagSet) { f.Bool("server", false, "those of a shared repository; without it, too") },
		run: func(c *call) error {
			b, err := c.board()
			if err != nil {
				return err
			}
			s, err := install.Read(b.Repo())
			if err != nil {
				return err
			}
			if c.json {
				return c.printJSON(s)
			}
			asks := s.Program
			if asks == "" {
				asks = "the git-liza in PATH"
			}
			lines := []string{"hooks: " + standing(s)}
			if len(s.Overwritten) > 0 {
				lines = append(lines, "overwritten: "+strings.Join(s.Overwritten, ", "))
			}
			if s.Files && s.On {
				lines = append(lines, "in: "+s.Dir, "they ask: "+asks)
			}
			return c.say(lines...)
		},
	}
}

// standing says of hooks whether they are in place.
func standing(s install.Status) string {
	switch {
	case !s.Files && !s.On:
		return "off (git liza hooks install)"
	case !s.Files || !s.On:
		return "half in place (git liza hooks install makes them whole)"
	case s.Server:
		return "on, as a server's lock"
	}
	return "on, for agents"
}

// openAsHuman opens the repository for what only a human does, and does without a name: a server's admin may
// have none.
func (c *call) openAsHuman() (*gitboard.Board, error) {
	b, err := c.board()
	if err != nil {
		return nil, err
	}
	if id := c.agentID(); id != "" {
		return nil, board.Refuse("permission", c.cmd.name+" is not for "+id, "it takes a "+string(roles.Human))
	}
	return b, c.noHumanHere(b)
}

// mendHooks puts hooks back that an installer has overwritten in an agent's worktree. What can't be put back is found
// by doctor.
func (c *call) mendHooks() {
	mended, err := install.Mend(c.opened.Repo())
	if err == nil && len(mended) > 0 && !c.json {
		fmt.Fprintf(c.app.Stderr, "liza: another program had overwritten %s in %s, and git liza's hooks are back; they run the project's own first\n", strings.Join(mended, ", "), install.Dir(c.opened.Repo()))
	}
}

// hookProgram is the git-liza that hooks ask: this program, when it is one.
func (c *call) hookProgram() string {
	program, err := os.Executable()
	if err != nil || strings.TrimSuffix(filepath.Base(program), ".exe") != "git-liza" {
		return ""
	}
	return program
}

// installHooks is what init does of it. A board without hooks is a board.
func (c *call) installHooks(b *gitboard.Board) (warning string) {
	if b.Repo().Bare() {
		return ""
	}
	if err := install.Install(c.ctx, b.Repo(), c.hookProgram(), false); err != nil {
		return "hooks are not in place: " + err.Error() + "; git liza hooks install tries again"
	}
	return ""
}

// agentEnviron is an environment that hooks are on in.
func agentEnviron(b *gitboard.Board, environ []string) []string {
	value := func(key string) string {
		for _, entry := range environ {
			if v, is := strings.CutPrefix(entry, key+"="); is {
				return v
			}
		}
		return ""
	}
	all := install.Environ(b.Repo(), value)
	out := make([]string, 0, len(environ)+len(all))
	for _, entry := range environ {
		if len(all) == 0 || !strings.HasPrefix(entry, "GIT_CONFIG_COUNT=") {
			out = append(out, entry)
		}
	}
	for _, s := range all {
		out = append(out, s.Key+"="+s.Value)
	}
	return out
}
