package board

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/git-liza/git-liza/roles"
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

// kind is what the table of operations says of one.
type kind struct {
	noun    string // how a refusal speaks of it: "a verdict"
	payload Payload
	gate    gate

	taskless bool // a task operation that may name no task
}

// gate says in which modes of the board an operation may be committed.
type gate int

const (
	unlessAborted gate = iota // everything but a stopped run
	whileRunning              // takes on or lands work
	always                    // reading, stopping, tidying up
)

// kinds is the table of operations.
var kinds = []kind{
	{"an init", &Init{}, always, false},
	{"an import", &Import{}, always, false},
	{"a registration", &Register{}, unlessAborted, false},
	{"a deregistration", &Deregister{}, always, false},
	{"an agent's status", &AgentStatusChange{}, always, false},
	{"adding a task", &AddTask{}, unlessAborted, false},
	{"finalizing", &Finalize{}, unlessAborted, false},
	{"an amendment", &AmendTask{}, unlessAborted, false},
	{"superseding", &Supersede{}, unlessAborted, false},
	{"abandoning", &Abandon{}, unlessAborted, false},
	{"unblocking", &Unblock{}, unlessAborted, false},
	{"a reassignment", &Reassign{}, unlessAborted, false},
	{"an alignment entry", &AlignmentEntry{}, unlessAborted, false},
	{"a spec change", &RecordSpecChange{}, unlessAborted, false},
	{"converting a discovery", &ConvertDiscovery{}, unlessAborted, false},
	{"settling a discovery", &SettleDiscovery{}, unlessAborted, false},
	{"an acknowledgement", &Ack{}, always, false},
	{"completing the goal", &CompleteGoal{}, unlessAborted, false},
	{"a checkpoint", &SetCheckpoint{}, unlessAborted, false},
	{"a deadline", &Deadline{}, unlessAborted, false},
	{"a trip of the breaker", &Trip{}, unlessAborted, false},
	{"a claim", &Claim{}, whileRunning, false},
	{"an iteration limit", &IterationLimit{}, whileRunning, false},
	{"a pre-execution checkpoint", &PreExec{}, unlessAborted, false},
	{"a submission", &Submit{}, unlessAborted, false},
	{"a withdrawal", &Withdraw{}, unlessAborted, false},
	{"blocking", &Block{}, unlessAborted, false},
	{"a hand-off", &HandOff{}, unlessAborted, false},
	{"a release", &Release{}, always, false},
	{"a review claim", &ClaimReview{}, whileRunning, false},
	{"a verdict", &Verdict{}, unlessAborted, false},
	{"a merge", &Merge{}, whileRunning, false},
	{"retrying a merge", &RetryMerge{}, unlessAborted, false},
	{"finishing a merge", &FinishMerge{}, always, false},
	{"a discovery", &Discover{}, unlessAborted, true},
	{"an anomaly", &LogAnomaly{}, unlessAborted, true},
	{"a note", &AddNote{}, unlessAborted, false},
	{"landing a commit", &Land{}, unlessAborted, false},
	{"a pause", &Pause{}, unlessAborted, true},
	{"a resume", &Resume{}, unlessAborted, true},
	{"an abort", &Abort{}, unlessAborted, false},
	{"a setting", &SetConfig{}, always, false},
	{"an edit", &Write{}, always, true},
	{"adding a key", &KeysAdd{}, always, false},
	{"revoking a key", &KeysRevoke{}, always, false},
	{"starting a sprint", &SprintStart{}, unlessAborted, false},
	{"ending a sprint", &SprintEnd{}, unlessAborted, false},
	{"a retrospective", &Retrospective{}, always, false},
	{"resolving the breaker", &Resolve{}, unlessAborted, false},
	{"archiving", &Archive{}, always, false},
}

func kindOf(op string) (kind, bool) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.payload.Op() == op })
	if i < 0 {
		return kind{}, false
	}
	return kinds[i], true
}

// Ops lists the names of all operations.
func Ops() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.payload.Op()
	}
	return names
}

// NewPayload returns an empty payload of an operation, for a decoder to fill.
func NewPayload(op string) (Payload, error) {
	k, ok := kindOf(op)
	if !ok {
		return nil, fmt.Errorf("no operation is called %q", op)
	}
	return reflect.New(reflect.TypeOf(k.payload).Elem()).Interface().(Payload), nil
}

// TakesOnWork reports whether an operation takes on work or lands it, and so waits while a board is
// not running.
func TakesOnWork(op string) bool {
	k, ok := kindOf(op)
	return ok && k.gate == whileRunning
}

// AllowedIn reports whether an operation may be committed while the board is in a mode.
func AllowedIn(m Mode, op string) bool {
	k, ok := kindOf(op)
	return ok && (m == Running || k.gate == always || k.gate == unlessAborted && m != Aborted)
}
