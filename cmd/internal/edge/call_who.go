package edge

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/oplog"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/roles/supervisor"
)

// AgentID is the id in the environment, "" for a human.
func (c *Call) AgentID() string { return c.App.Getenv("LIZA_AGENT_ID") }

func (c *Call) Supervised() bool { return c.App.Getenv("LIZA_SUPERVISED") == "1" }

// Actor is who asks for an operation: the agent in LIZA_AGENT_ID, or the human. Operations that the
// role may never use are refused here, before anyone is registered for them.
func (c *Call) Actor(op string) (board.Actor, error) {
	actor, err := c.WhoActs(op)
	if err != nil {
		return actor, err
	}
	return actor, c.SameRequest(actor, op)
}

// SameRequest refuses a request id that was used for something else: otherwise the new request
// would be reported as done without being done.
func (c *Call) SameRequest(actor board.Actor, op string) error {
	done, err := c.Opened.Lookup(c.Ctx, c.Asks(actor))
	if done == nil || err != nil {
		return err
	}
	name, task := done.Op.Name(), done.Op.TaskID()
	asked := task
	if task != "" && len(c.Args) > 0 && c.namesTask(op) {
		asked = c.Args[0]
	}
	if (name == op || otherEnds[op] == name) && asked == task {
		return nil
	}
	return board.Refuse(board.CodeExists, fmt.Sprintf("the request %s was for something else: %s", c.Request, done.Subject), "use another request id")
}

// namesTask reports whether the first argument is the task that an operation is about.
func (c *Call) namesTask(op string) bool {
	words := strings.Fields(c.Cmd.Args)
	return c.Cmd.Name == op && len(words) > 0 && (words[0] == "ID" || words[0] == "[ID]") && !strings.HasSuffix(op, "-discovery")
}

// otherEnds maps operations to others that they may turn into.
var otherEnds = map[string]string{"claim": "iteration-limit", "merge": "finish-merge"}

// KeepsID is the hint for an invalid id; it must not suggest taking another agent's.
const KeepsID = "an agent keeps the LIZA_AGENT_ID that its supervisor set; a human works without one"

// TeamRole is the team's role that a word on the command line names.
func (c *Call) TeamRole(word string) (*board.Role, error) {
	b, err := c.Board()
	if err != nil {
		return nil, err
	}
	team := board.BuiltinTeam()
	switch v, err := b.View(c.Ctx); {
	case err == nil:
		team, err = v.State.Team(), v.State.Err()
		if err != nil {
			return nil, err
		}
	case !errors.Is(err, oplog.ErrNoBoard):
		return nil, err
	}
	return team.FindRole(word)
}

// RoleLike is the team's role that stands for a built-in one: of its name, else the first of its
// kind.
func (c *Call) RoleLike(role roles.Role) (*board.Role, error) {
	v, err := c.View()
	if err != nil {
		return nil, err
	}
	t := v.State.Team()
	if r := t.Role(role.Prefix()); r != nil {
		return r, v.State.Err()
	}
	for i := range t.Roles {
		if t.Roles[i].Kind.Role() == role {
			return &t.Roles[i], v.State.Err()
		}
	}
	return t.FindRole(role.Prefix())
}

// Role is the role of the caller: that of the id in the environment, or the human's.
func (c *Call) Role() (roles.Role, error) {
	id := c.AgentID()
	if id == "" {
		return roles.Human, nil
	}
	b, err := c.Board()
	if err != nil {
		return "", err
	}
	return c.roleOf(b, id)
}

// roleOf is the role of the id in the environment.
func (c *Call) roleOf(b *gitboard.Board, id string) (roles.Role, error) {
	role, err := b.RoleOf(c.Ctx, id)
	if r := (*board.Refusal)(nil); errors.As(err, &r) {
		return "", board.Refuse(r.Code, "LIZA_AGENT_ID: "+r.Message, KeepsID)
	}
	return role, err
}

func (c *Call) WhoActs(op string) (board.Actor, error) {
	return c.whoActs(op, func(b *gitboard.Board, id string) (board.Actor, error) {
		return b.Agent(c.Ctx, id, c.App.Getenv("LIZA_SESSION"), c.Request, c.Process())
	})
}

// Newcomer is Actor for an operation that can bring its agent's registration along, which is
// returned if there is one to be made.
func (c *Call) Newcomer(op string) (actor board.Actor, first *board.Register, err error) {
	actor, err = c.whoActs(op, func(b *gitboard.Board, id string) (actor board.Actor, err error) {
		actor, first, err = b.Newcomer(c.Ctx, id, c.App.Getenv("LIZA_SESSION"), c.Request, c.Process())
		return actor, err
	})
	if err != nil {
		return actor, nil, err
	}
	return actor, first, c.SameRequest(actor, op)
}

// whoActs returns who does an operation: the human, or the agent that agent returns.
func (c *Call) whoActs(op string, agent func(b *gitboard.Board, id string) (board.Actor, error)) (board.Actor, error) {
	b, err := c.Board()
	if err != nil {
		return board.Actor{}, err
	}
	id := c.AgentID()
	if id == "" {
		return c.Human(b, op)
	}
	role, err := c.roleOf(b, id)
	if err != nil {
		return board.Actor{}, err
	}
	if !board.May(role, op) {
		return board.Actor{}, board.Refuse(board.CodePermission, fmt.Sprintf("%s is a %s, and %s is not for a %s: it takes %s", id, role, c.Cmd.Name, role, roleList(op)), "")
	}
	if err := OwnName(b, id); err != nil {
		return board.Actor{}, err
	}
	if c.Supervised() && board.TakesOnWork(op) {
		return board.Actor{}, board.Refuse(board.CodePermission, fmt.Sprintf("%s is supervised: its supervisor does %s for it", id, c.Cmd.Name), "continue with the task that you were given: git liza prime")
	}
	return agent(b, id)
}

// Caller is who runs a command that is not an operation: the agent in LIZA_AGENT_ID, or the human.
func (c *Call) Caller() (board.Actor, error) {
	b, err := c.Board()
	if err != nil {
		return board.Actor{}, err
	}
	id := c.AgentID()
	if id == "" {
		return c.asHuman(b)
	}
	if _, err := c.roleOf(b, id); err != nil {
		return board.Actor{}, err
	}
	if err := OwnName(b, id); err != nil {
		return board.Actor{}, err
	}
	return b.Agent(c.Ctx, id, c.App.Getenv("LIZA_SESSION"), c.Request, c.Process())
}

func (c *Call) Human(b *gitboard.Board, op string) (board.Actor, error) {
	if !board.May(roles.Human, op) {
		return board.Actor{}, board.Refuse(board.CodePermission, fmt.Sprintf("%s is for %s, and LIZA_AGENT_ID is not set", c.Cmd.Name, roleList(op)), "")
	}
	return c.asHuman(b)
}

// asHuman is the human, by their git identity.
func (c *Call) asHuman(b *gitboard.Board) (board.Actor, error) {
	if err := c.NoHumanHere(b); err != nil {
		return board.Actor{}, err
	}
	who, err := b.Repo().Author(c.Ctx)
	if err != nil {
		return board.Actor{}, gitboard.NoIdentity()
	}
	return board.HumanActor(who.Name, who.Email), nil
}

// ActsAsHuman refuses to run a program that acts as the human if the caller is not the human.
func (c *Call) ActsAsHuman(program, hint string) error {
	if id := c.AgentID(); id != "" {
		return board.Refuse(board.CodePermission, program+" acts as the human, and LIZA_AGENT_ID is "+id, hint)
	}
	_, err := c.Caller()
	return err
}

// NoHumanHere refuses callers who are not human although no id is set: below a supervisor, and
// where agents work.
func (c *Call) NoHumanHere(b *gitboard.Board) error {
	if c.Supervised() {
		return board.Refuse(board.CodePermission, "below a supervisor nobody acts as a human", "an agent keeps the LIZA_AGENT_ID that its supervisor set; a human does it in a terminal of their own")
	}
	if agent, by := supervisor.Above(b); agent != "" || by != "" {
		return board.Refuse(board.CodePermission, fmt.Sprintf("this process runs below the supervisor of %s, where nobody acts as a human", cmp.Or(agent, by)), "an agent keeps the LIZA_AGENT_ID that its supervisor set; a human does it in a terminal of their own")
	}
	task, err := c.insideTask(b)
	if err != nil {
		return err
	}
	if task != "" {
		return board.Refuse(board.CodePermission, "inside the worktree of "+task+" nobody acts as a human", "an agent keeps the LIZA_AGENT_ID that its supervisor set; a human runs it from the project's root")
	}
	return nil
}

// insideTask is the task in whose worktree the command runs, "" for none.
func (c *Call) insideTask(b *gitboard.Board) (string, error) {
	top := b.Repo().TopLevel()
	name := filepath.Base(top)
	if filepath.Base(filepath.Dir(top)) != filepath.Dir(board.WorktreeOf(name)) {
		return "", nil
	}
	v, err := b.View(c.Ctx)
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
	for _, r := range board.Allowed(op) {
		names = append(names, "a "+string(r))
	}
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Process describes this process for a registration.
func (c *Call) Process() gitboard.Process {
	host, _ := os.Hostname()
	return gitboard.Process{Host: host, Terminal: c.terminal()}
}

// terminal is the name of the caller's terminal, "" if there is none or the system can't say.
func (c *Call) terminal() string {
	if name := c.App.Getenv("TTY"); name != "" {
		return name
	}
	f, ok := c.App.Stdin.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return ""
	}
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err != nil || !filepath.IsAbs(name) {
		return ""
	}
	return name
}

// OwnName refuses an agent's process that acts under another agent's id.
func OwnName(b *gitboard.Board, id string) error {
	agent, _ := supervisor.Above(b)
	if agent == "" || agent == id {
		return nil
	}
	return board.Refuse(board.CodePermission, fmt.Sprintf("this process is %s's, and can't act as %s", agent, id), "an agent keeps the LIZA_AGENT_ID that its supervisor set")
}
