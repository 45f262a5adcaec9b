package board

import (
	"strings"

	"github.com/git-liza/git-liza/gitboard/roles"
)

// Actor is who requests an operation. Name and Email are a human's git identity; an agent has none.
type Actor struct {
	ID      string
	Role    roles.Role
	Session string
	Name    string
	Email   string
}

// AgentDomain ends the address on agents' commits; no human may use such an address.
const AgentDomain = "@liza"

// AgentAddress reports whether an address is an agent's.
func AgentAddress(email string) bool { return strings.HasSuffix(strings.ToLower(email), AgentDomain) }

// agentsName reports whether a name or address is reserved for agents. No human has the form of an
// agent's id in any case of its letters: a key's principal shows whether it is an agent's.
func agentsName(name string) bool {
	return AgentAddress(name) || roles.IsID(strings.ToLower(strings.TrimSpace(name)))
}

// HumanActor returns the actor for a human with a git identity.
func HumanActor(name, email string) Actor {
	return Actor{ID: roles.HumanID, Role: roles.Human, Name: name, Email: email}
}

// Identity is a human's name as in records, "" for an agent.
func (a Actor) Identity() string {
	if a.Role != roles.Human {
		return ""
	}
	return a.Name + " <" + a.Email + ">"
}

// Payload is the content of an operation apart from actor and time. Each kind of operation has its
// own.
type Payload interface {
	// Op is the operation's name, as in trailers and tables.
	Op() string
	// Check refuses what the rules forbid. Actor, permission, session, mode and the task's state
	// have already been checked.
	Check(s *State, op Operation) error
	// Apply changes the state. It is called only if Check found nothing.
	Apply(s *State, op Operation)
	// Subject returns the end of the commit's subject line and the text of its body, if any.
	Subject(before, after *State, op Operation) (line, body string)
}

// TaskPayload is the payload of an operation on one task, to which the table of transitions
// applies.
type TaskPayload interface {
	Payload
	TaskID() string
}

// Operation is one change of the board: one commit.
type Operation struct {
	Actor       Actor
	Time        Time
	Clock       Time     // the clock where it is decided; not recorded, none in a replay
	Request     string   // unique, from the caller; [A-Za-z0-9._/:-]{1,100}
	AllowSecret bool     // store text even if it looks like a credential
	Read        []string // notes that were shown to the agent; see checkRead
	Seen        string   // the records that the caller saw, as ID=VERSION with spaces; not recorded, none in a replay
	Payload     Payload
}

// Name is the operation's name.
func (op Operation) Name() string { return op.Payload.Op() }

// TaskID is the operation's task, "" for none.
func (op Operation) TaskID() string {
	if tp, ok := op.Payload.(TaskPayload); ok {
		return tp.TaskID()
	}
	return ""
}

// About names the task of a payload; the payload of every task operation embeds it.
type About struct {
	Task string `json:"task"`
}

// TaskID implements TaskPayload.
func (a About) TaskID() string { return a.Task }

var requestForm = shortForm(100, `^[A-Za-z0-9._/:-]+$`)

// ValidRequest reports whether a request id can be stored.
func ValidRequest(r string) bool { return requestForm.MatchString(r) }
