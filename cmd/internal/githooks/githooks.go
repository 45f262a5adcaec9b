package githooks

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/git-liza/git-liza/cmd/internal/call"
	"github.com/git-liza/git-liza/cmd/internal/setup"
	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/cmdline"
	"github.com/git-liza/git-liza/gitboard/git/plumbing"
	"github.com/git-liza/git-liza/gitboard/lease"
	"github.com/git-liza/git-liza/gitboard/text"
	"github.com/git-liza/git-liza/hooks"
	"github.com/git-liza/git-liza/hooks/server"
)

// question finds out whether a hook allows what git is about to do; a refusal is nil if it does.
type question func(context.Context, *call.Call) (*board.Refusal, error)

// Answer answers the hook that the first argument names, for a clone or as a server's lock.
func Answer(ctx context.Context, c *call.Call, asServer bool) error {
	ask := map[string]question{
		"reference-transaction": references, "pre-commit": commit, "pre-merge-commit": commit, "commit-msg": message, "post-checkout": checkout, "pre-push": push,
	}[c.Args[0]]
	if asServer {
		ask = map[string]question{"reference-transaction": serverReferences, "pre-receive": receive}[c.Args[0]]
	}
	if asServer && c.Args[0] == "proc-receive" {
		return procReceive(ctx, c)
	}
	if ask == nil {
		return call.Usage(c.Cmd, "git liza has no word in the hook %q", text.Line(c.Args[0], 40))
	}
	refusal, err := ask(ctx, c)
	return answer(c, refusal, err, asServer)
}

// refused is a hook's answer, which git shows to the user. A push shows it as "remote: liza:
// ...", and programs that print one line of a push need all of it in that line.
type refused struct {
	*board.Refusal
	oneLine bool
}

func (h refused) Text() string {
	between := "\nliza: instead: "
	if h.oneLine {
		between = "; instead: "
	}
	return "liza: " + strings.TrimSpace(text.Visible(h.Message)) + between + text.Visible(cmdline.Hint(h.Hint)) + "\n"
}

func (h refused) Unwrap() error { return h.Refusal }

func answer(c *call.Call, refusal *board.Refusal, err error, asServer bool) error {
	if err != nil {
		if !asServer {
			warn(c.App, err)
			return say(c, "allow")
		}
		refusal = board.Refuse(board.CodeUnchecked, "this can't be checked: "+err.Error(), "git liza verify on the server shows more")
	}
	if refusal == nil {
		return say(c, "allow")
	}
	if err := say(c, "refuse"); err != nil {
		return err
	}
	return refused{refusal, asServer}
}

func say(c *call.Call, answer string) error {
	return call.Tell(c, map[string]string{"answer": answer}, answer)
}

func warn(a *call.App, err error) {
	_, _ = a.Stderr.Write([]byte("liza: warning: nothing was checked: " + strings.TrimSpace(text.Visible(err.Error())) + "\n"))
}

// receive handles a server's pre-receive.
func receive(ctx context.Context, c *call.Call) (*board.Refusal, error) {
	return arrival(ctx, c, server.Receive)
}

// procReceive handles a server's proc-receive, whose argument is the directory of the server's
// own hooks. It talks to git by itself.
func procReceive(ctx context.Context, c *call.Call) error {
	if err := c.Open(ctx); err != nil {
		return err
	}
	project := ""
	if len(c.Args) > 1 {
		project = c.Args[1]
	}
	return server.ProcReceive(ctx, c.Board, project, c.App.Now(), c.App.Stdin, c.App.Stdout)
}

// serverReferences handles a server's reference-transaction. Only the state "prepared" can be
// refused.
func serverReferences(ctx context.Context, c *call.Call) (*board.Refusal, error) {
	if len(c.Args) > 1 && c.Args[1] != "prepared" {
		return nil, nil
	}
	return arrival(ctx, c, server.Transaction)
}

// arrivalPolicy decides on the ref updates of a push.
type arrivalPolicy func(context.Context, *gitboard.Board, []hooks.Move, time.Time) (*board.Refusal, error)

func arrival(ctx context.Context, c *call.Call, policy arrivalPolicy) (*board.Refusal, error) {
	moves, err := hooks.ReadMoves(c.App.Stdin)
	if err != nil {
		return nil, err
	}
	if err := c.Open(ctx); err != nil {
		return nil, err
	}
	return policy(ctx, c.Board, moves, c.App.Now())
}

// references handles reference-transaction in a clone. Only the state "prepared" can be
// refused.
func references(ctx context.Context, c *call.Call) (*board.Refusal, error) {
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
	w, s, refusal, err := scene(ctx, c)
	if refusal != nil || err != nil {
		return refusal, err
	}
	if err := server.Locate(ctx, c.Board.Repo(), busy); err != nil {
		return nil, err
	}
	return hooks.ReferenceTransaction(w, s, busy), nil
}

// commit handles pre-commit, and pre-merge-commit, which git runs instead for a merge.
func commit(ctx context.Context, c *call.Call) (*board.Refusal, error) {
	w, s, refusal, err := scene(ctx, c)
	if refusal != nil || err != nil {
		return refusal, err
	}
	at, err := place(ctx, c)
	refusal = hooks.PreCommit(w, s, at)
	if refusal == nil || refusal.Code != board.CodeGate || err != nil {
		return refusal, err
	}
	if err := c.Board.Sessions().SendDeferred(ctx, w.ID); err != nil { // the checkpoint
		return board.Refuse(board.CodeGate, "the checkpoint is kept here, and the remote has not taken it: "+err.Error(), "commit again when it is there"), nil
	}
	v, err := c.Board.View(ctx)
	if err != nil {
		return refusal, nil
	}
	return hooks.PreCommit(w, v.State, at), nil
}

// checkout handles post-checkout, whose refusal comes after the fact.
func checkout(ctx context.Context, c *call.Call) (*board.Refusal, error) {
	w, s, refusal, err := scene(ctx, c)
	if refusal != nil || err != nil {
		return refusal, err
	}
	at, err := place(ctx, c)
	return hooks.PostCheckout(w, s, at), err
}

// place is where git works.
func place(ctx context.Context, c *call.Call) (at hooks.Place, err error) {
	repo := c.Board.Repo()
	if repo.TopLevel() != "" {
		if _, at.Branch, err = repo.Worktree(repo.TopLevel()).Head(ctx); err != nil {
			return at, err
		}
	}
	for _, dir := range []string{"rebase-merge", "rebase-apply"} {
		if _, err := os.Stat(filepath.Join(repo.GitDir(), dir)); err == nil {
			at.Rebasing = true
		}
	}
	return at, nil
}

// message handles commit-msg: it refuses nothing, and adds trailers to an agent's message.
func message(ctx context.Context, c *call.Call) (*board.Refusal, error) {
	w, _, refusal, err := scene(ctx, c)
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

// push handles pre-push.
func push(ctx context.Context, c *call.Call) (*board.Refusal, error) {
	w, _, refusal, err := scene(ctx, c)
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

// scene returns who runs git, and the present board. The board is nil if there is none that can
// be read, for checks that can do without it.
func scene(ctx context.Context, c *call.Call) (hooks.Who, *board.State, *board.Refusal, error) {
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
		warn(c.App, err)
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
	if strings.HasSuffix(filepath.Dir(top), board.WorktreesDir) && !w.Main && (s == nil || s.Task(name) != nil) {
		w.Task = name
	}
	return w, s, nil, nil
}
