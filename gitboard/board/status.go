package board

import "slices"

// Status is the state of a task.
type Status string

// The states of a task. None is the state of a task that does not exist yet.
const (
	None              Status = ""
	Draft             Status = "DRAFT"
	Unclaimed         Status = "UNCLAIMED"
	Claimed           Status = "CLAIMED"
	ReadyForReview    Status = "READY_FOR_REVIEW"
	Rejected          Status = "REJECTED"
	Approved          Status = "APPROVED"
	Merged            Status = "MERGED"
	IntegrationFailed Status = "INTEGRATION_FAILED"
	Blocked           Status = "BLOCKED"
	Superseded        Status = "SUPERSEDED"
	Abandoned         Status = "ABANDONED"
)

// Statuses lists the states in the order of the flow.
var Statuses = []Status{Draft, Unclaimed, Claimed, ReadyForReview, Rejected, Approved, IntegrationFailed, Blocked, Merged, Superseded, Abandoned}

// Terminal reports whether the state is final.
func (s Status) Terminal() bool { return s == Merged || s == Superseded || s == Abandoned }

// Valid reports whether a record may have the state.
func (s Status) Valid() bool { return slices.Contains(Statuses, s) }

// AgentStatus is the state of an agent's process as known to the board.
type AgentStatus string

// The states of an agent.
const (
	Starting  AgentStatus = "STARTING"
	Idle      AgentStatus = "IDLE"
	Working   AgentStatus = "WORKING"
	Reviewing AgentStatus = "REVIEWING"
	Waiting   AgentStatus = "WAITING"
	HandedOff AgentStatus = "HANDOFF"
)

// AgentStatuses lists the states of an agent.
var AgentStatuses = []AgentStatus{Starting, Idle, Working, Reviewing, Waiting, HandedOff}

// Mode is the state of the board as a whole.
type Mode string

// The modes of the board, from weakest to strongest.
const (
	Running        Mode = "RUNNING"
	Paused         Mode = "PAUSED"
	CheckpointMode Mode = "CHECKPOINT"
	Aborted        Mode = "ABORTED"
)

// Phase is the state of a goal or a sprint.
type Phase string

// The states of goals and sprints; a goal is never at CHECKPOINT.
const (
	InProgress   Phase = "IN_PROGRESS"
	AtCheckpoint Phase = "CHECKPOINT"
	Completed    Phase = "COMPLETED"
	PhaseAborted Phase = "ABORTED"
)

// Kind is the kind of a task's changes; only code must come with tests.
type Kind string

// The kinds of task.
const (
	Code       Kind = "code"
	Doc        Kind = "doc"
	ConfigKind Kind = "config"
	Spec       Kind = "spec"
)

// Kinds lists the kinds of task.
var Kinds = []Kind{Code, Doc, ConfigKind, Spec}
