package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/oplog"
	"github.com/git-liza/git-liza/roles"
	"github.com/git-liza/git-liza/worktrees"
)

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
