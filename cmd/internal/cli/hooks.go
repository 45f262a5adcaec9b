package cli

import (
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/setup"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/hooks"
	"github.com/git-liza/git-liza/hooks/install"
	"github.com/git-liza/git-liza/hooks/server"
	"github.com/git-liza/git-liza/worktrees/merge"
)

var _ = add(hooksInstallCommand)

func hooksInstallCommand() *call.Command {
	var server, served bool
	var flags *pflag.FlagSet
	return &call.Command{
		Name: "hooks install", Group: "setting up", Max: 0,
		Short: "put git's hooks in place where agents are; init does it, too",
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
}

var _ = add(hooksUninstallCommand)

func hooksUninstallCommand() *call.Command {
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
}

var _ = add(hooksStatusCommand)

func hooksStatusCommand() *call.Command {
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
			if c.JSON {
				return c.PrintJSON(s)
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
			return c.Say(lines...)
		},
	}
}

var _ = add(hookCommand)

func hookCommand() *call.Command {
	var asServer bool
	return &call.Command{
		Name: "hook", Group: "machines", Args: "NAME [ARG...]", Min: 1, Max: -1, Anywhere: true,
		Short: "answer one of git's hooks: allow or refuse",
		Long: `The shims that git liza hooks install makes ask this, with the hook's arguments and standard input
(githooks). The answer is one word on standard output; a refusal's reason is on standard error, exit code 1.
What keeps the question from being answered stops nobody in a clone, and every push to the board on a server.`,
		Flags:   func(f *pflag.FlagSet) { f.BoolVar(&asServer, "server", false, "as the lock of a shared repository") },
		Example: `git liza hook pre-push origin`,
		Run: func(ctx context.Context, c *call.Call) error {
			ask := map[string]func(context.Context, *call.Call) (*board.Refusal, error){
				"reference-transaction": hookReferences, "pre-commit": hookCommit, "pre-merge-commit": hookCommit,
				"commit-msg": hookMessage, "pre-push": hookPush,
			}[c.Args[0]]
			if asServer {
				ask = map[string]func(context.Context, *call.Call) (*board.Refusal, error){
					"reference-transaction": hookServerReferences, "pre-receive": hookReceive,
				}[c.Args[0]]
			}
			if asServer && c.Args[0] == "proc-receive" {
				return hookProcReceive(ctx, c)
			}
			if ask == nil {
				return call.Usage(c.Cmd, "git liza has no word in the hook %q", text.Line(c.Args[0], 40))
			}
			refusal, err := ask(ctx, c)
			return answerHook(c, refusal, err, asServer)
		},
	}
}

// hookRefusal is a hook's answer, which git shows to the user. A push shows it as "remote: liza:
// ...", and programs that print one line of a push need all of it in that line.
type hookRefusal struct {
	*board.Refusal
	oneLine bool
}

func (h hookRefusal) Text() string {
	between := "\nliza: instead: "
	if h.oneLine {
		between = "; instead: "
	}
	return "liza: " + strings.TrimSpace(text.Visible(h.Message)) + between + text.Visible(cmdline.Hint(h.Hint)) + "\n"
}

func (h hookRefusal) Unwrap() error { return h.Refusal }

func answerHook(c *call.Call, refusal *board.Refusal, err error, asServer bool) error {
	if err != nil {
		if !asServer {
			warnHook(c.App, err)
			return sayHook(c, "allow")
		}
		refusal = board.Refuse(board.CodeUnchecked, "this can't be checked: "+err.Error(), "git liza verify on the server shows more")
	}
	if refusal == nil {
		return sayHook(c, "allow")
	}
	if err := sayHook(c, "refuse"); err != nil {
		return err
	}
	return hookRefusal{refusal, asServer}
}

func sayHook(c *call.Call, answer string) error {
	if c.JSON {
		return c.PrintJSON(map[string]string{"answer": answer})
	}
	return c.Say(answer)
}

func warnHook(a *call.App, err error) {
	_, _ = a.Stderr.Write([]byte("liza: warning: nothing was checked: " + strings.TrimSpace(text.Visible(err.Error())) + "\n"))
}

// hookReceive handles a server's pre-receive.
func hookReceive(ctx context.Context, c *call.Call) (*board.Refusal, error) {
	return hookArrival(ctx, c, server.Receive)
}

// hookProcReceive handles a server's proc-receive, whose argument is the directory of the server's
// own hooks. It talks to git by itself.
func hookProcReceive(ctx context.Context, c *call.Call) error {
	if err := c.Open(ctx); err != nil {
		return err
	}
	project := ""
	if len(c.Args) > 1 {
		project = c.Args[1]
	}
	return server.ProcReceive(ctx, c.Board, project, c.App.Now(), c.App.Stdin, c.App.Stdout)
}

// hookServerReferences handles a server's reference-transaction. Only the state "prepared" can be
// refused.
func hookServerReferences(ctx context.Context, c *call.Call) (*board.Refusal, error) {
	if len(c.Args) > 1 && c.Args[1] != "prepared" {
		return nil, nil
	}
	return hookArrival(ctx, c, server.Transaction)
}

// arrivalPolicy decides on the ref updates of a push.
type arrivalPolicy func(context.Context, *gitboard.Board, []hooks.Move, time.Time) (*board.Refusal, error)

func hookArrival(ctx context.Context, c *call.Call, policy arrivalPolicy) (*board.Refusal, error) {
	moves, err := hooks.ReadMoves(c.App.Stdin)
	if err != nil {
		return nil, err
	}
	if err := c.Open(ctx); err != nil {
		return nil, err
	}
	return policy(ctx, c.Board, moves, c.App.Now())
}

// hookReferences handles reference-transaction in a clone. Only the state "prepared" can be
// refused.
func hookReferences(ctx context.Context, c *call.Call) (*board.Refusal, error) {
	if len(c.Args) > 1 && c.Args[1] != "prepared" {
		return nil, nil
	}
	moves, err := hooks.ReadMoves(c.App.Stdin)
	if err != nil {
		return nil, err
	}
	// GIT_DIR is git's repository, which need not be a worktree yet. Most ref updates need no check.
	linked := filepath.Base(filepath.Dir(filepath.Clean(c.App.Getenv("GIT_DIR")))) == "worktrees"
	busy := moves[:0]
	for _, m := range moves {
		if !hooks.Free(m.Ref, !linked) {
			busy = append(busy, m)
		}
	}
	if len(busy) == 0 {
		return nil, nil
	}
	w, s, refusal, err := hookScene(ctx, c)
	if refusal != nil || err != nil {
		return refusal, err
	}
	if err := server.Locate(ctx, c.Board.Repo(), busy); err != nil {
		return nil, err
	}
	return hooks.ReferenceTransaction(w, s, busy), nil
}

// hookCommit handles pre-commit, and pre-merge-commit, which git runs instead for a merge.
func hookCommit(ctx context.Context, c *call.Call) (*board.Refusal, error) {
	w, s, refusal, err := hookScene(ctx, c)
	if refusal != nil || err != nil {
		return refusal, err
	}
	repo := c.Board.Repo()
	var at hooks.Place
	if repo.TopLevel() != "" {
		if _, at.Branch, err = repo.Worktree(repo.TopLevel()).Head(ctx); err != nil {
			return nil, err
		}
	}
	for _, dir := range []string{"rebase-merge", "rebase-apply"} {
		if _, err := os.Stat(filepath.Join(repo.GitDir(), dir)); err == nil {
			at.Rebasing = true
		}
	}
	return hooks.PreCommit(w, s, at), nil
}

// hookMessage handles commit-msg: it refuses nothing, and adds trailers to an agent's message.
func hookMessage(ctx context.Context, c *call.Call) (*board.Refusal, error) {
	w, _, refusal, err := hookScene(ctx, c)
	if refusal == nil {
		refusal = w.Again()
	}
	if refusal != nil || err != nil || w.ID == "" || w.Task == "" || len(c.Args) < 2 {
		return refusal, err
	}
	comment, found, err := c.Board.Repo().Settings().Get(ctx, "core.commentChar")
	if err != nil {
		return nil, err
	}
	if !found || comment == "" {
		comment = "#"
	}
	file := c.Args[1]
	if !filepath.IsAbs(file) {
		file = filepath.Join(c.Directory(), file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	message := hooks.CommitMsg(string(text), comment, w.Task, w.ID)
	if message == string(text) {
		return nil, nil
	}
	return nil, os.WriteFile(file, []byte(message), 0o644)
}

// hookPush handles pre-push.
func hookPush(ctx context.Context, c *call.Call) (*board.Refusal, error) {
	w, _, refusal, err := hookScene(ctx, c)
	if refusal != nil || err != nil {
		return refusal, err
	}
	pushed, err := io.ReadAll(c.App.Stdin)
	if err != nil {
		return nil, err
	}
	testing, err := lease.Read(ctx, c.Board.Log().Store(), plumbing.MergeHolder)
	if err != nil {
		return nil, err
	}
	candidate := ""
	if testing != nil {
		candidate = testing.Commit
	}
	return hooks.PrePush(w, hooks.ReadPushed(string(pushed)), candidate), nil
}

// hookScene returns who runs git, and the present board. The board is nil if there is none that can
// be read, for checks that can do without it.
func hookScene(ctx context.Context, c *call.Call) (hooks.Who, *board.State, *board.Refusal, error) {
	w := hooks.Who{ID: c.AgentID(), Session: c.App.Getenv("LIZA_SESSION")}
	err := c.Open(ctx)
	if err == nil {
		over := c.Supervision() // whatever the environment claims
		if over.Command || over.Elsewhere != "" || over.Agent != "" && over.Agent != w.ID {
			w.ID, w.Session = over.Agent, ""
		}
	}
	if err != nil {
		w, refusal := w.Known(nil)
		return w, nil, refusal, err
	}
	var s *board.State
	v, err := c.Board.View(ctx)
	if err == nil {
		s = v.State
	} else {
		warnHook(c.App, err)
	}
	w, refusal := w.Known(s)
	if refusal != nil {
		return w, nil, refusal, nil
	}
	for _, name := range setup.RestoreHooks(c) {
		w.Unchecked = w.Unchecked || slices.Contains([]string{"pre-commit", "pre-merge-commit", "commit-msg"}, name)
	}
	repo := c.Board.Repo()
	top := repo.TopLevel()
	w.Main = repo.GitDir() == repo.CommonDir()
	name := filepath.Base(top)
	if filepath.Base(filepath.Dir(top)) == filepath.Dir(board.WorktreeOf(name)) && !w.Main && (s == nil || s.Task(name) != nil) {
		w.Task = name
	}
	return w, s, nil, nil
}
