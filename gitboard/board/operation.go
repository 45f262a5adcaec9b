package board

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"

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

var requestForm = regexp.MustCompile(`^[A-Za-z0-9._/:-]{1,100}$`)

// ValidRequest reports whether a request id can be stored.
func ValidRequest(r string) bool { return requestForm.MatchString(r) }

// kind is what the table of operations says of one.
type kind struct {
	noun    string // how a refusal speaks of it: "a verdict"
	payload Payload
	gate    gate
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
	{"an init", &Init{}, always},
	{"a registration", &Register{}, unlessAborted},
	{"a deregistration", &Deregister{}, always},
	{"an agent's status", &AgentStatusChange{}, always},
	{"adding a task", &AddTask{}, unlessAborted},
	{"finalizing", &Finalize{}, unlessAborted},
	{"an amendment", &AmendTask{}, unlessAborted},
	{"superseding", &Supersede{}, unlessAborted},
	{"abandoning", &Abandon{}, unlessAborted},
	{"unblocking", &Unblock{}, unlessAborted},
	{"a reassignment", &Reassign{}, unlessAborted},
	{"an alignment entry", &AlignmentEntry{}, unlessAborted},
	{"a spec change", &RecordSpecChange{}, unlessAborted},
	{"converting a discovery", &ConvertDiscovery{}, unlessAborted},
	{"settling a discovery", &SettleDiscovery{}, unlessAborted},
	{"an acknowledgement", &Ack{}, always},
	{"completing the goal", &CompleteGoal{}, unlessAborted},
	{"a checkpoint", &SetCheckpoint{}, unlessAborted},
	{"a deadline", &Deadline{}, unlessAborted},
	{"a trip of the breaker", &Trip{}, unlessAborted},
	{"a claim", &Claim{}, whileRunning},
	{"an iteration limit", &IterationLimit{}, whileRunning},
	{"a pre-execution checkpoint", &PreExec{}, unlessAborted},
	{"a submission", &Submit{}, unlessAborted},
	{"a withdrawal", &Withdraw{}, unlessAborted},
	{"blocking", &Block{}, unlessAborted},
	{"a hand-off", &HandOff{}, unlessAborted},
	{"a release", &Release{}, always},
	{"a review claim", &ClaimReview{}, whileRunning},
	{"a verdict", &Verdict{}, unlessAborted},
	{"a merge", &Merge{}, whileRunning},
	{"retrying a merge", &RetryMerge{}, unlessAborted},
	{"finishing a merge", &FinishMerge{}, always},
	{"a discovery", &Discover{}, unlessAborted},
	{"an anomaly", &LogAnomaly{}, unlessAborted},
	{"a note", &AddNote{}, always},
	{"landing a commit", &Land{}, unlessAborted},
	{"a pause", &Pause{}, unlessAborted},
	{"a resume", &Resume{}, unlessAborted},
	{"an abort", &Abort{}, unlessAborted},
	{"a setting", &SetConfig{}, always},
	{"an edit", &Write{}, always},
	{"starting a sprint", &SprintStart{}, unlessAborted},
	{"ending a sprint", &SprintEnd{}, unlessAborted},
	{"a retrospective", &Retrospective{}, always},
	{"resolving the breaker", &Resolve{}, unlessAborted},
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
