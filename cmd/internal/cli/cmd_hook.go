package cli

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/hooks"
)

func hookCommand() *command {
	var server bool
	return &command{
		name: "hook", group: "machines", args: "NAME [ARG...]", min: 1, max: -1,
		short: "answer one of git's hooks: allow or refuse",
		long: `The shims that git liza hooks install makes ask this, with the hook's arguments and standard input
(githooks). The answer is one word on standard output; a refusal's reason is on standard error, exit code 1.
What keeps the question from being answered stops nobody in a clone, and every push to the board on a server.`,
		flags: func(f *pflag.FlagSet) { f.BoolVar(&server, "server", false, "as the lock of a shared repository") },
		run: func(c *call) error {
			ask := map[string]func(*call) (*board.Refusal, error){
				"reference-transaction": (*call).hookReferences, "pre-commit": (*call).hookCommit, "pre-merge-commit": (*call).hookCommit,
				"commit-msg": (*call).hookMessage, "pre-push": (*call).hookPush,
			}[c.args[0]]
			if server {
				ask = map[string]func(*call) (*board.Refusal, error){
					"reference-transaction": (*call).hookServerReferences, "pre-receive": (*call).hookReceive,
				}[c.args[0]]
			}
			if ask == nil {
				return usage(c.cmd, "git liza has no word in the hook %q", board.Line(c.args[0], 40))
			}
			refusal, err := ask(c)
			return c.answerHook(refusal, err, server)
		},
	}
}

// hookRefusal is the answer of a hook: git shows it to whoever it refuses. A push shows it as "remote: liza: ...",
// and those who print one line of a push want it whole.
type hookRefusal struct {
	*board.Refusal
	oneLine bool
}

func (h hookRefusal) text() string {
	between := "\nliza: instead: "
	if h.oneLine {
		between = "; instead: "
	}
	return "liza: " + strings.TrimSpace(board.Visible(h.Message)) + between + board.Visible(h.Hint) + "\n"
}

func (h hookRefusal) Unwrap() error { return h.Refusal }

func (c *call) answerHook(refusal *board.Refusal, err error, server bool) error {
	if err != nil {
		if !server {
			c.app.warnHook(err)
			return c.sayHook("allow")
		}
		refusal = board.Refuse("unchecked", "this can't be checked: "+err.Error(), "git liza verify on the server tells more")
	}
	if refusal == nil {
		return c.sayHook("allow")
	}
	if err := c.sayHook("refuse"); err != nil {
		return err
	}
	return hookRefusal{refusal, server}
}

func (c *call) sayHook(answer string) error {
	if c.json {
		return c.printJSON(map[string]string{"answer": answer})
	}
	return c.say(answer)
}

func (a *App) warnHook(err error) {
	_, _ = a.Stderr.Write([]byte("liza: warning: nothing was checked: " + strings.TrimSpace(board.Visible(err.Error())) + "\n"))
}

// hookReferences answers reference-transaction in a clone. Only what is prepared can be refused.
func (c *call) hookReferences() (*board.Refusal, error) {
	if len(c.args) > 1 && c.args[1] != "prepared" {
		return nil, nil
	}
	moves, err := c.readMoves()
	if err != nil {
		return nil, err
	}
	// Git says where it works. It need not be a worktree yet, and most moves are nobody's business.
	linked := filepath.Base(filepath.Dir(filepath.Clean(c.app.Getenv("GIT_DIR")))) == "worktrees"
	busy := moves[:0]
	for _, m := range moves {
		if !hooks.Free(m.Ref, !linked) {
			busy = append(busy, m)
		}
	}
	if len(busy) == 0 {
		return nil, nil
	}
	w, s, refusal, err := c.hookScene()
	if refusal != nil || err != nil {
		return refusal, err
	}
	if err := c.whereRefsAre(busy); err != nil {
		return nil, err
	}
	return hooks.ReferenceTransaction(w, s, busy), nil
}

// hookCommit answers pre-commit, and pre-merge-commit, which git asks in its place for a merge.
func (c *call) hookCommit() (*board.Refusal, error) {
	w, s, refusal, err := c.hookScene()
	if refusal != nil || err != nil {
		return refusal, err
	}
	repo := c.opened.Repo()
	var at hooks.Place
	if repo.TopLevel() != "" {
		if _, at.Branch, err = repo.Head(c.ctx, repo.TopLevel()); err != nil {
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

// hookMessage answers commit-msg: it refuses nothing, and puts trailers into an agent's message.
func (c *call) hookMessage() (*board.Refusal, error) {
	w, _, refusal, err := c.hookScene()
	if refusal != nil || err != nil || w.ID == "" || w.Task == "" || len(c.args) < 2 {
		return refusal, err
	}
	comment, found, err := c.opened.Repo().Config(c.ctx, "core.commentChar")
	if err != nil {
		return nil, err
	}
	if !found || comment == "" {
		comment = "#"
	}
	file := c.args[1]
	if !filepath.IsAbs(file) {
		file = filepath.Join(c.directory(), file)
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

// hookPush answers pre-push.
func (c *call) hookPush() (*board.Refusal, error) {
	w, _, refusal, err := c.hookScene()
	if refusal != nil || err != nil {
		return refusal, err
	}
	return hooks.PrePush(w), nil
}

// hookScene is who runs git here, and the board as it is; nil when there is none that can be read, for what can
// be told without it.
func (c *call) hookScene() (hooks.Who, *board.State, *board.Refusal, error) {
	w := hooks.Who{ID: c.agentID(), Session: c.app.Getenv("LIZA_SESSION")}
	w, refusal := w.Known()
	if refusal != nil {
		return w, nil, refusal, nil
	}
	b, err := c.board()
	if err != nil {
		return w, nil, nil, err
	}
	c.mendHooks()
	repo := b.Repo()
	top := repo.TopLevel()
	w.Main = repo.GitDir() == repo.CommonDir()
	var s *board.State
	v, err := b.View(c.ctx)
	if err == nil {
		s = v.State
	} else {
		c.app.warnHook(err)
	}
	name := filepath.Base(top)
	if filepath.Base(filepath.Dir(top)) == filepath.Dir(board.WorktreeOf(name)) && !w.Main && (s == nil || s.Task(name) != nil) {
		w.Task = name
	}
	return w, s, nil, nil
}

// readMoves reads what git tells of refs, a line each: the old value, the new one, the ref (githooks).
func (c *call) readMoves() ([]hooks.Move, error) {
	var moves []hooks.Move
	lines := bufio.NewScanner(c.app.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fields := strings.SplitN(lines.Text(), " ", 3)
		if len(fields) == 3 {
			moves = append(moves, hooks.Move{Old: fields[0], New: fields[1], Ref: fields[2]})
		}
	}
	return moves, lines.Err()
}

// whereRefsAre completes moves by where the refs are now.
func (c *call) whereRefsAre(moves []hooks.Move) error {
	names := make([]string, 0, len(moves))
	for _, m := range moves {
		if strings.HasPrefix(m.Ref, "refs/") {
			names = append(names, m.Ref)
		}
	}
	repo := c.opened.Repo()
	packed, err := repo.PackedRefs(names...)
	if err != nil || len(names) == 0 {
		return err
	}
	now, err := repo.Where(c.ctx, names)
	if err != nil {
		return err
	}
	for i := range moves {
		m := &moves[i]
		m.Now = string(gitio.ZeroOID)
		if oid := now[m.Ref]; oid != "" {
			m.Now = string(oid)
		}
		m.Packed = packed[m.Ref] != "" && string(packed[m.Ref]) == m.Old
	}
	return nil
}
