package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/gitio"
	"github.com/git-liza/git-liza/gitboard/oplog"
	"github.com/git-liza/git-liza/gitboard/sshsig"
	"github.com/git-liza/git-liza/roles"
	"github.com/git-liza/git-liza/worktrees"
)

// call is one run of a command: its flags and arguments, and what it opens on its way.
type call struct {
	app         *App
	ctx         context.Context
	cmd         *command
	args        []string
	dir         string
	json        bool
	request     string
	retries     int
	allowSecret bool
	at          string
	offline     bool

	opened  *gitboard.Board
	signer  *sshsig.Signer // that the command line names, in place of the settings
	onClose []io.Closer
	minting sync.Mutex // one session's key at a time, in a team
}

func (c *call) close() {
	if c.opened != nil {
		c.opened.Close()
	}
	for _, open := range c.onClose {
		open.Close()
	}
}

func (c *call) directory() string {
	dir := c.app.Dir
	if dir == "" {
		dir = "."
	}
	switch {
	case c.dir == "":
		return dir
	case filepath.IsAbs(c.dir):
		return c.dir
	}
	return filepath.Join(dir, c.dir)
}

// board opens the repository that the command runs in.
func (c *call) board() (*gitboard.Board, error) {
	if c.opened != nil {
		return c.opened, nil
	}
	b, err := gitboard.Open(c.ctx, c.directory(), gitboard.Options{Now: c.app.Now, Random: c.app.Random, Retries: c.retries, Writes: c.cmd.writes, Key: c.signingKey})
	if errors.Is(err, gitio.ErrNotRepository) {
		return nil, c.noRepository()
	}
	if err != nil {
		return nil, err
	}
	c.opened = b
	return b, nil
}

func (c *call) noRepository() error {
	where := "the working directory"
	if dir := c.directory(); dir != "." {
		where = dir
	}
	message := where + " is not in a git repository"
	if _, err := os.Stat(c.directory()); err != nil {
		message = "there is no directory " + where
	}
	return &outcome{1, "not-a-repository", message, "go to a git repository, or make one: git init"}
}

// view looks at the board: now, or as --at says.
func (c *call) view() (*gitboard.View, error) {
	b, err := c.board()
	if err != nil {
		return nil, err
	}
	if c.at != "" {
		return b.ViewAt(c.ctx, c.at)
	}
	return b.View(c.ctx)
}

// agentID is the id that the environment gives, "" for a human.
func (c *call) agentID() string { return c.app.Getenv("LIZA_AGENT_ID") }

func (c *call) supervised() bool { return c.app.Getenv("LIZA_SUPERVISED") == "1" }

// actor is who asks for an operation: the agent of LIZA_AGENT_ID, or the human. What the role may never
// ask for is refused here already, before anyone is registered for it.
func (c *call) actor(op string) (board.Actor, error) {
	actor, err := c.whoActs(op)
	if err != nil {
		return actor, err
	}
	return actor, c.sameRequest(actor, op)
}

// sameRequest refuses a request id that has carried out something else: what is asked for now would not be
// done, and be reported as done.
func (c *call) sameRequest(actor board.Actor, op string) error {
	done, err := worktrees.Repeated(c.ctx, c.opened, actor, c.request)
	if done == nil || err != nil {
		return err
	}
	name, task := done.Op.Name(), done.Op.TaskID()
	asked := task
	if task != "" && len(c.args) > 0 && c.namesTask(op) {
		asked = c.args[0]
	}
	if (name == op || otherEnds[op] == name) && asked == task {
		return nil
	}
	return board.Refuse("exists", fmt.Sprintf("the request %s was for something else: %s", c.request, done.Subject), "use another request id")
}

// namesTask reports whether the first argument is the task that an operation is about.
func (c *call) namesTask(op string) bool {
	words := strings.Fields(c.cmd.args)
	return c.cmd.name == op && len(words) > 0 && (words[0] == "ID" || words[0] == "[ID]") && !strings.HasSuffix(op, "-discovery")
}

// otherEnds are operations as which another may end.
var otherEnds = map[string]string{"claim": "iteration-limit", "merge": "finish-merge"}

func (c *call) whoActs(op string) (board.Actor, error) {
	b, err := c.board()
	if err != nil {
		return board.Actor{}, err
	}
	id := c.agentID()
	if id == "" {
		return c.human(b, op)
	}
	role, err := roles.Of(id)
	if err != nil {
		return board.Actor{}, board.Refuse("invalid", "LIZA_AGENT_ID: "+err.Error(), "LIZA_AGENT_ID=coder-1 git liza "+c.cmd.name)
	}
	if !roles.May(role, op) {
		return board.Actor{}, board.Refuse("permission", fmt.Sprintf("%s is a %s, and %s is not for a %s", id, role, c.cmd.name, role), "it takes "+roleList(op))
	}
	if c.supervised() && board.TakesOnWork(op) {
		return board.Actor{}, board.Refuse("permission", fmt.Sprintf("%s is supervised: its supervisor does %s for it", id, c.cmd.name), "go on with the task that you were given: git liza prime")
	}
	return b.Agent(c.ctx, id, c.app.Getenv("LIZA_SESSION"), c.request, c.process())
}

func (c *call) human(b *gitboard.Board, op string) (board.Actor, error) {
	if !roles.May(roles.Human, op) {
		example := roles.Allowed(op)[0].ID(1)
		return board.Actor{}, board.Refuse("permission", fmt.Sprintf("%s is for %s, and LIZA_AGENT_ID is not set", c.cmd.name, roleList(op)),
			fmt.Sprintf("LIZA_AGENT_ID=%s git liza %s", example, c.cmd.name))
	}
	if err := c.noHumanHere(b); err != nil {
		return board.Actor{}, err
	}
	who, err := b.Repo().Author(c.ctx)
	if err != nil {
		return board.Actor{}, board.Refuse("identity", "git does not know who you are", `git config user.name "Your Name" and git config user.email you@example.com`)
	}
	return board.HumanActor(who.Name, who.Email), nil
}

// noHumanHere refuses those who are no human though no id is set: below a supervisor, and where agents work.
func (c *call) noHumanHere(b *gitboard.Board) error {
	if c.supervised() {
		return board.Refuse("permission", "below a supervisor nobody acts as a human", "set LIZA_AGENT_ID as your supervisor did")
	}
	task, err := c.insideTask(b)
	if err != nil {
		return err
	}
	if task != "" {
		return board.Refuse("permission", "inside the worktree of "+task+" nobody acts as a human", "set LIZA_AGENT_ID, or run it from the project's root")
	}
	return nil
}

// insideTask names the task in whose worktree the command stands, "" for none.
func (c *call) insideTask(b *gitboard.Board) (string, error) {
	top := b.Repo().TopLevel()
	name := filepath.Base(top)
	if filepath.Base(filepath.Dir(top)) != filepath.Dir(board.WorktreeOf(name)) {
		return "", nil
	}
	v, err := b.View(c.ctx)
	if errors.Is(err, oplog.ErrNoBoard) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if v.State.Task(name) == nil {
		return "", v.State.Err() // somebody's own worktree
	}
	return name, nil
}

func roleList(op string) string {
	var names []string
	for _, r := range roles.Allowed(op) {
		names = append(names, "a "+string(r))
	}
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// process says of this process what a registration shows.
func (c *call) process() gitboard.Process {
	host, _ := os.Hostname()
	return gitboard.Process{Host: host, Terminal: c.app.Getenv("TTY")}
}

// do asks for an operation on behalf of whoever calls.
func (c *call) do(op string, intent gitboard.Intent) (*gitboard.Done, error) {
	actor, err := c.actor(op)
	if err != nil {
		return nil, err
	}
	onBoard := func(ctx context.Context, v *gitboard.View) (board.Payload, []gitio.RefUpdate, error) {
		if v.Commit.IsZero() && op != "init" && op != "import" {
			return nil, nil, oplog.ErrNoBoard
		}
		return intent(ctx, v)
	}
	return c.opened.Do(c.ctx, gitboard.Request{Actor: actor, ID: c.request, AllowSecret: c.allowSecret, Intent: onBoard})
}

// end asks for an operation that may end a task's worktree, and prints that it was done.
func (c *call) end(actor board.Actor, p board.TaskPayload) error {
	done, err := worktrees.End(c.ctx, c.opened, gitboard.Request{Actor: actor, ID: c.request, AllowSecret: c.allowSecret}, p)
	if err != nil {
		return err
	}
	return c.report(done, nil)
}

// just asks for an operation whose payload is known, and prints that it was done.
func (c *call) just(p board.Payload) error {
	if c.offline {
		return c.queue(p)
	}
	done, err := c.do(p.Op(), gitboard.Just(p))
	if err != nil {
		return err
	}
	return c.report(done, nil)
}

// report prints an operation that was done. The fields of extra join the JSON; for a human the lines
// follow the first.
func (c *call) report(done *gitboard.Done, extra map[string]any, lines ...string) error {
	if c.json {
		return c.printJSON(reported(done, extra))
	}
	said := done.Subject
	if done.Repeated {
		said += " (done before, under this request)"
	}
	return c.say(append([]string{said}, lines...)...)
}

// reported is an operation that was done, as JSON shows it.
func reported(done *gitboard.Done, extra map[string]any) map[string]any {
	o := map[string]any{
		"ok": true, "op": done.Op.Name(), "commit": done.Commit, "subject": done.Subject,
		"request": done.Op.Request, "time": done.Op.Time, "actor": done.Op.Actor.ID,
	}
	if done.Repeated {
		o["repeated"] = true
	}
	if id := done.Op.TaskID(); id != "" {
		o["task"] = id
		if t := done.After.Task(id); t != nil {
			o["status"] = t.Status
		}
	}
	if dir := bornIn(done.Op.Payload); dir != "" {
		if id, err := done.After.LastID(dir); err == nil {
			o["id"] = id
		}
	}
	for k, v := range extra {
		o[k] = v
	}
	return o
}

// bornIn is the directory in which an operation makes a record under the next number, "" for the others.
func bornIn(p board.Payload) string {
	switch p.(type) {
	case *board.Discover:
		return board.DiscoveryDir
	case *board.AddNote:
		return board.NoteDir
	case *board.LogAnomaly:
		return board.AnomalyDir
	case *board.RecordSpecChange:
		return board.SpecChangeDir
	}
	return ""
}

// answer prints what a command that is no operation has done.
func (c *call) answer(fields map[string]any, line string) error {
	if !c.json {
		return c.say(line)
	}
	o := map[string]any{"ok": true}
	for k, v := range fields {
		o[k] = v
	}
	return c.printJSON(o)
}

func (c *call) printJSON(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := c.app.Stdout.Write(b.Bytes())
	return err
}

// say prints lines for a human; characters that would hide or reorder text are left out.
func (c *call) say(lines ...string) error {
	_, err := io.WriteString(c.app.Stdout, c.legible(board.Visible(strings.Join(lines, "\n")))+"\n")
	return err
}

// text is a flag's text, or that of a file ("-" is standard input).
func (c *call) text(flag, text, file string) (string, error) {
	if file == "" {
		return text, nil
	}
	if text != "" {
		return "", usage(c.cmd, "the text is given twice: once in --%s-file", flag)
	}
	return c.file(flag+"-file", file)
}

// file is the text of a file that a flag names; "-" is standard input.
func (c *call) file(flag, file string) (string, error) {
	var data []byte
	var err error
	if file == "-" {
		data, err = io.ReadAll(io.LimitReader(c.app.Stdin, 1<<20))
	} else {
		if !filepath.IsAbs(file) {
			file = filepath.Join(c.directory(), file)
		}
		data, err = os.ReadFile(file)
	}
	if err != nil {
		return "", usage(c.cmd, "--%s: %v", flag, err)
	}
	return string(data), nil
}
