package call

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"github.com/git-liza/git-liza/gitboard"
	"github.com/git-liza/git-liza/gitboard/board"
	"github.com/git-liza/git-liza/gitboard/log"
	"github.com/git-liza/git-liza/gitboard/roles"
	"github.com/git-liza/git-liza/roles/supervisor"
)

// AgentID is the id in the environment, "" for a human.
func (c *Call) AgentID() string { return c.App.Getenv("LIZA_AGENT_ID") }

// Supervised reports whether the caller is an agent under a supervisor.
func (a *App) Supervised() bool { return a.Getenv("LIZA_SUPERVISED") == "1" }

// Actor is who asks for an operation: the agent in LIZA_AGENT_ID, or the human. Operations that the
// role may never use are refused before anyone is registered for them.
func (c *Call) Actor(ctx context.Context, op string) (board.Actor, error) {
	actor, err := c.WhoActs(ctx, op)
	if err != nil {
		return actor, err
	}
	return actor, c.SameRequest(ctx, actor, op)
}

// SameRequest refuses a request id that was used for something else: otherwise the new request
// would be reported as done without being done.
func (c *Call) SameRequest(ctx context.Context, actor board.Actor, op string) error {
	done, err := c.Board.Lookup(ctx, c.Asks(actor))
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

// keepsID is the hint for an invalid id; it must not suggest taking another agent's.
const keepsID = "an agent keeps the LIZA_AGENT_ID that its supervisor set; a human works without one"

// Team is the team of the board; before there is a board, the built-in one.
func (c *Call) Team(ctx context.Context) (*board.Team, error) {
	v, err := c.Board.View(ctx)
	if errors.Is(err, log.ErrNoBoard) {
		return board.BuiltinTeam(), nil
	}
	if err != nil {
		return nil, err
	}
	return v.State.Team(), v.State.Err()
}

// Role is the role of the caller: that of the id in the environment, or the human's.
func (c *Call) Role(ctx context.Context) (roles.Role, error) {
	id := c.AgentID()
	if id == "" {
		return roles.Human, nil
	}
	return c.roleOf(ctx, id)
}

// roleOf is the role of the id in the environment.
func (c *Call) roleOf(ctx context.Context, id string) (roles.Role, error) {
	role, err := c.Board.RoleOf(ctx, id)
	if r := (*board.Refusal)(nil); errors.As(err, &r) {
		return "", board.Refuse(r.Code, "LIZA_AGENT_ID: "+r.Message, keepsID)
	}
	return role, err
}

func (c *Call) WhoActs(ctx context.Context, op string) (board.Actor, error) {
	return c.whoActs(ctx, op, func(id string) (board.Actor, error) {
		return c.Board.Sessions().Actor(ctx, id, c.App.Getenv("LIZA_SESSION"), c.Request, c.App.Process())
	})
}

// Newcomer is Actor for an operation that can bring its agent's registration along, which is
// returned if there is one to be made.
func (c *Call) Newcomer(ctx context.Context, op string) (actor board.Actor, first *board.Register, err error) {
	actor, err = c.whoActs(ctx, op, func(id string) (actor board.Actor, err error) {
		actor, first, err = c.Board.Sessions().Newcomer(ctx, id, c.App.Getenv("LIZA_SESSION"), c.Request, c.App.Process())
		return actor, err
	})
	if err != nil {
		return actor, nil, err
	}
	return actor, first, c.SameRequest(ctx, actor, op)
}

// whoActs returns who does an operation: the human, or the agent that agent returns.
func (c *Call) whoActs(ctx context.Context, op string, agent func(id string) (board.Actor, error)) (board.Actor, error) {
	id := c.AgentID()
	if id == "" {
		return c.Human(ctx, op)
	}
	role, err := c.roleOf(ctx, id)
	if err != nil {
		return board.Actor{}, err
	}
	if !board.May(role, op) {
		return board.Actor{}, board.Refuse(board.CodePermission, fmt.Sprintf("%s is a %s, and %s is not for a %s: it takes %s", id, role, c.Cmd.Name, role, roleList(op)), "")
	}
	if err := c.ownName(ctx, id); err != nil {
		return board.Actor{}, err
	}
	if c.App.Supervised() && board.TakesOnWork(op) {
		return board.Actor{}, board.Refuse(board.CodePermission, fmt.Sprintf("%s is supervised: its supervisor does %s for it", id, c.Cmd.Name), "continue with the task that you were given: git liza prime")
	}
	return agent(id)
}

// Renew renews the lease of a calling agent that has no supervisor. A failure is no fault of the
// command: the lease ends later than that of an agent that does nothing.
func (c *Call) Renew(ctx context.Context) {
	if id := c.AgentID(); roles.IsID(id) && c.Board != nil && !c.App.Supervised() && c.OwnName(id) == nil {
		_ = c.Board.Sessions().Renew(ctx, id, c.App.Getenv("LIZA_SESSION"))
	}
}

// Caller is who runs a command that is not an operation: the agent in LIZA_AGENT_ID, or the human.
func (c *Call) Caller(ctx context.Context) (board.Actor, error) {
	id := c.AgentID()
	if id == "" {
		return c.asHuman(ctx)
	}
	if _, err := c.roleOf(ctx, id); err != nil {
		return board.Actor{}, err
	}
	if err := c.ownName(ctx, id); err != nil {
		return board.Actor{}, err
	}
	return c.Board.Sessions().Actor(ctx, id, c.App.Getenv("LIZA_SESSION"), c.Request, c.App.Process())
}

func (c *Call) Human(ctx context.Context, op string) (board.Actor, error) {
	if !board.May(roles.Human, op) {
		return board.Actor{}, board.Refuse(board.CodePermission, fmt.Sprintf("%s is for %s, and LIZA_AGENT_ID is not set", c.Cmd.Name, roleList(op)), c.wayIn(ctx, op))
	}
	who, err := c.asHuman(ctx)
	if err != nil {
		return who, err
	}
	return who, c.sameAddress(who.Email)
}

// wayIn is how a shell becomes that of an agent that may do an operation, "" if that is unknown.
func (c *Call) wayIn(ctx context.Context, op string) string {
	v, err := c.Board.View(ctx)
	if err != nil {
		return ""
	}
	role, first := board.Allowed(op)[0].Prefix(), ""
	if op == (&board.Merge{}).Op() {
		first = "a running reviewer merges approved work; "
	}
	return first + `to act as one in this shell: eval "$(git liza env ` + board.FreeID(v.State, role) + `)"`
}

// humanFile is the file of a clone with the address of the human's last operation.
const humanFile = "human"

// sameAddress refuses an operation of the human once if the repository's own settings, which agents
// can write, have changed the human's address since the last operation.
func (c *Call) sameAddress(now string) error {
	own := c.Board.Repo().Settings().Own
	was, err := c.Board.Clone().Kept(humanFile)
	if err != nil || now == was {
		return err
	}
	if err := c.Board.Clone().Keep(humanFile, now); err != nil || was == "" || own("user.email") != now && own("author.email") != now {
		return err
	}
	return board.Refuse(board.CodeIdentity, fmt.Sprintf("this repository's own settings now have your address as %s, and your last operation in this clone is by %s", now, was), "git config --unset user.email (or author.email); if the new address is yours, repeat the command")
}

// asHuman is the human, by their git identity.
func (c *Call) asHuman(ctx context.Context) (board.Actor, error) {
	if err := c.NoHumanHere(ctx); err != nil {
		return board.Actor{}, err
	}
	who, err := c.Board.Repo().Settings().Author(ctx)
	if err != nil {
		return board.Actor{}, gitboard.NoIdentity(err)
	}
	return board.HumanActor(who.Name, who.Email), nil
}

// ActsAsHuman refuses to run a program that acts as the human if the caller is not the human.
func (c *Call) ActsAsHuman(ctx context.Context, program, hint string) error {
	if id := c.AgentID(); id != "" {
		return board.Refuse(board.CodePermission, program+" acts as the human, and LIZA_AGENT_ID is "+id, hint)
	}
	_, err := c.Caller(ctx)
	return err
}

// NoHumanHere refuses callers who are not human although no id is set: under a supervisor, and
// where agents work.
func (c *Call) NoHumanHere(ctx context.Context) error {
	if c.App.Supervised() {
		return board.Refuse(board.CodePermission, "human commands aren't allowed under a supervisor", "an agent keeps the LIZA_AGENT_ID that its supervisor set; a human does it in a terminal of their own")
	}
	over := c.Supervision()
	if err := forNobody(over); err != nil {
		return err
	}
	if by := cmp.Or(over.Agent, over.Supervisor); by != "" {
		return board.Refuse(board.CodePermission, fmt.Sprintf("this process runs under the supervisor of %s, where human commands aren't allowed", by), "an agent keeps the LIZA_AGENT_ID that its supervisor set; a human does it in a terminal of their own")
	}
	task, err := c.insideTask(ctx)
	if err != nil {
		return err
	}
	if task != "" {
		return board.Refuse(board.CodePermission, "human commands aren't allowed inside the worktree of "+task, "an agent keeps the LIZA_AGENT_ID that its supervisor set; a human runs it from the project's root")
	}
	return nil
}

// insideTask is the task in whose worktree the command runs, "" for none.
func (c *Call) insideTask(ctx context.Context) (string, error) {
	top := c.Board.Repo().TopLevel()
	name := filepath.Base(top)
	if !strings.HasSuffix(filepath.Dir(top), board.WorktreesDir) {
		return "", nil
	}
	v, err := c.Board.View(ctx)
	if errors.Is(err, log.ErrNoBoard) {
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
func (a *App) Process() gitboard.Process {
	host, _ := os.Hostname()
	return gitboard.Process{Host: host, Terminal: a.terminal()}
}

// terminal is the name of the caller's terminal, "" if there is none or the system can't name it.
func (a *App) terminal() string {
	if name := a.Getenv("TTY"); name != "" {
		return name
	}
	f, ok := a.Stdin.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return ""
	}
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	if err != nil || !filepath.IsAbs(name) {
		return ""
	}
	return name
}

// Supervision returns the supervisor above the caller.
func (c *Call) Supervision() supervisor.Supervision {
	return supervisor.Above(c.Board, c.App.Getenv(supervisor.TokenVar))
}

// OwnName refuses an agent's process that acts under another agent's id, and a process that acts
// for nobody.
func (c *Call) OwnName(id string) error {
	over := c.Supervision()
	if err := forNobody(over); err != nil {
		return err
	}
	if over.Agent == "" || over.Agent == id {
		return nil
	}
	return board.Refuse(board.CodePermission, fmt.Sprintf("this process is %s's, and can't act as %s", over.Agent, id), "an agent keeps the LIZA_AGENT_ID that its supervisor set")
}

// ownName is OwnName, and also refuses a session that another agent's env has left in this shell.
func (c *Call) ownName(ctx context.Context, id string) error {
	if err := c.OwnName(id); err != nil {
		return err
	}
	session := c.App.Getenv("LIZA_SESSION")
	if session == "" {
		return nil
	}
	v, err := c.Board.View(ctx)
	if err != nil {
		return err
	}
	if own := v.State.Agent(id); own != nil && own.Session == session {
		return nil
	}
	for _, other := range v.State.List(board.AgentDir) {
		if a := v.State.Agent(other); a != nil && a.Session == session {
			return board.Refuse(board.CodeSession, fmt.Sprintf("LIZA_AGENT_ID is %s, and LIZA_SESSION is that of %s", id, other), fmt.Sprintf(`eval "$(git liza env %s)" sets both in this shell`, id))
		}
	}
	return v.State.Err()
}

// forNobody refuses a process below a command of the project, and a process that may belong to an
// agent or a command in another process namespace.
func forNobody(over supervisor.Supervision) error {
	switch {
	case over.Command:
		return board.Refuse(board.CodePermission, "this process runs under worktree_setup or the integration test, which may not change the board", "run it in a terminal of your own, outside of the project's commands")
	case over.Elsewhere != "":
		return board.Refuse(board.CodePermission, over.Elsewhere+" runs in another process namespace than this process, which therefore acts for nobody", "an agent keeps the environment that its supervisor set; a human works on the machine or in the container where that runs, or when it has ended")
	}
	return nil
}
