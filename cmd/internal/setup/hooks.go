package setup

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/hooks/install"
)

// HooksState describes whether the hooks of a clone, or of a bare repository, are in place.
func HooksState(s install.Status, bare bool) string {
	install := "git liza hooks install"
	if bare {
		install += " --server"
	}
	switch {
	case !s.Files && !s.On:
		return "off (" + install + ")"
	case !s.Files || !s.On:
		return "half in place, or of another version (" + install + " makes them whole)"
	case s.Server:
		return "on, as a server's lock"
	}
	return "on, for agents"
}

// NoAgent refuses agents. Unlike HumanOnly it does not require a name, which a server's admin may
// not have configured.
func NoAgent(ctx context.Context, c *call.Call) error {
	if id := c.AgentID(); id != "" {
		return board.Refuse(board.CodePermission, c.Cmd.Name+" is not for "+id, "it takes a "+string(roles.Human))
	}
	return c.NoHumanHere(ctx)
}

// RestoreHooks restores hooks that an installer has overwritten in an agent's worktree. doctor
// reports those that can't be restored.
func RestoreHooks(c *call.Call) (repaired []string) {
	repaired, err := install.Restore(c.Board.Repo())
	if err == nil && len(repaired) > 0 && !c.JSON {
		fmt.Fprintf(c.App.Stderr, "liza: another program had overwritten %s in %s, and git liza's hooks are back; they run the project's own first\n", strings.Join(repaired, ", "), install.Dir(c.Board.Repo()))
	}
	return repaired
}

// KeepHooks installs the hooks of a clone again if a part of them was removed or changed, and
// reports it. Hooks that were uninstalled as a whole stay so.
func KeepHooks(ctx context.Context, c *call.Call) (did string, err error) {
	repo := c.Board.Repo()
	s, err := install.Read(repo)
	if err != nil || s.Files == s.On {
		return "", err
	}
	setup, err := HookSetup(ctx, c)
	if err != nil {
		return "", err
	}
	return "git liza's hooks had been removed or changed: they are back in " + s.Dir, install.Install(ctx, repo, setup)
}

// hookProgram is the git-liza that hooks call: this program, if it is named git-liza.
func hookProgram(c *call.Call) string {
	program, err := c.App.Executable()
	if err != nil || strings.TrimSuffix(filepath.Base(program), ".exe") != "git-liza" {
		return ""
	}
	return program
}

// HookSetup is how hooks should be installed in a repository: as they are, if they are installed.
func HookSetup(ctx context.Context, c *call.Call) (install.Setup, error) {
	b := c.Board
	setup := install.Setup{Program: hookProgram(c), Server: b.Repo().Bare()}
	s, err := install.Read(b.Repo())
	if err != nil {
		return setup, err
	}
	setup.Served = s.Served
	v, err := b.View(ctx)
	if errors.Is(err, log.ErrNoBoard) || setup.Server {
		return setup, nil
	}
	if err != nil {
		return setup, err
	}
	setup.Hidden = v.Branches()
	return setup, v.State.Err()
}

// Guarded calls begin, which gives a board to this clone, with hooks in place: a command that is
// killed in between must not leave a board on which agents do as they like. Hooks that can't be
// installed are only a warning. If no board comes, Guarded removes the hooks that it added.
func Guarded(ctx context.Context, c *call.Call, begin func() error) (warning string, err error) {
	repo := c.Board.Repo()
	before, err := install.Read(repo)
	if err != nil {
		return "", err
	}
	if err := MakeStopDir(ctx, c.Board); err != nil {
		return "", err
	}
	if _, err := c.Board.Clone().ID(ctx); err != nil { // what only reads later on need not make one
		return "", err
	}
	if !before.Files || !before.On {
		warning = installHooks(ctx, c)
	}
	if err := begin(); err != nil {
		tip, failed := repo.Ref(ctx, plumbing.BoardRef)
		if failed != nil || !tip.IsZero() || before.Files || before.On || repo.Bare() {
			return "", err
		}
		return "", errors.Join(err, install.Uninstall(ctx, repo))
	}
	v, err := c.Board.View(ctx)
	if err != nil {
		return "", err
	}
	return warning, install.Hide(repo, v.Branches())
}

// installHooks installs the hooks for init. A failure is only a warning, since a board works
// without hooks.
func installHooks(ctx context.Context, c *call.Call) (warning string) {
	if c.Board.Repo().Bare() {
		return ""
	}
	setup, err := HookSetup(ctx, c)
	if err == nil {
		err = install.Install(ctx, c.Board.Repo(), setup)
	}
	if err != nil {
		return "hooks are not in place: " + err.Error() + "; git liza hooks install tries again"
	}
	return ""
}
