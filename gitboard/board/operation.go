package board

import (
	"strings"

	"github.com/git-liza/git-liza/gitboard/roles"
)

// Actor is who asks for an operation. Name and Email are a human's git identity; an agent has none.
type Actor struct {
	ID      string
	Role    roles.Role
	Session string
	Name    string
	Email   string
}

// AgentDomain ends the address that an agent's commits bear: no human acts under one.
const AgentDomain = "@liza"

// AgentAddress reports whether an address is one that agents have.
func AgentAddress(email string) bool { return strings.HasSuffix(strings.ToLower(email), AgentDomain) }

// HumanActor is the actor of a human with a git identity.
func HumanActor(name, email string) Actor {
	return Actor{ID: roles.HumanID, Role: roles.Human, Name: name, Email: email}
}

// Identity is a human as records name them, "" for an agent.
func (a Actor) Identity() string {
	if a.Role != roles.Human {
		return ""
	}
	return a.Name + " <" + a.Email + ">"
}

// Payload is what an operation says beyond who and when. Each kind of operation has one.
type Payload interface {
	// Op is the operation's name, as trailers and the tables have it.
	Op() string
	// Check refuses what the rules forbid. Actor, permission, session, mode and the task's state
	// have been checked already.
	Check(s *State, op Operation) error
	// Apply changes the state. It is only called when Check found nothing.
	Apply(s *State, op Operation)
	// Subject is the end of the commit's subject line and the text of its body, if any.
	Subject(before, after *State, op Operation) (line, body string)
}

// TaskPayload is the payload of an operation about one task: the table of transitions applies.
type TaskPayload interface {
	Payload
	TaskID() string
}

// Operation is one step of the board: one commit.
type Operation struct {
	Actor       Actor
	Time        Time
	Clock       Time   // the clock of who decides whether it is allowed now, not recorded; none in a replay
	Request     string // unique, from the caller; [A-Za-z0-9._/:-]{1,100}
	AllowSecret bool   // text that looks like a credential is meant to be stored
	Payload     Payload
}

// Name is the operation's name.
func (op Operation) Name() string { return op.Payload.Op() }

// TaskID is the task that the operation is about, "" for none.
func (op Operation) TaskID() string {
	if tp, ok := op.Payload.(TaskPayload); ok {
		return tp.TaskID()
	}
	return ""
}

// About names a task in a payload; it is embedded in every task operation's payload.
type About struct {
	Task string `json:"task"`
}

// TaskID implements TaskPayload.
func (a About) TaskID() string { return a.Task }

var requestForm = formOf(`^[A-Za-z0-9._/:-]{1,100}$`)

// ValidRequest reports whether a request id can be stored.
func ValidRequest(r string) bool { return requestForm.MatchString(r) }
