package board

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/git-liza/git-liza/gitboard/roles"
)

// rule is a row of the table of operations: everything about an operation that is not in its own
// file.
type rule struct {
	payload Payload
	noun    string // as a refusal calls it: "a verdict"
	gate    gate
	who     []roles.Role // the roles that may request it; its Check has further conditions
	moves   []Transition // the changes it may make to its task's state; none: it leaves tasks alone
	// lease names the agent whose lease must be shown, "" for none. The task is nil if the
	// operation names none.
	lease func(s *State, op Operation, t *Task) string
	way   way // how hints request it; nil if no single command does
	// instead is what serves for an unfinished task in another state, nil for nothing.
	instead func(t *Task) Act
	born    string // the directory where it makes a record with the next number

	anywhere    bool // its payload does not depend on the board that it was decided on
	behind      bool // it means the same where integration has moved forward since it was decided
	offline     bool // it may wait in an offline clone's queue: it takes nothing
	taskless    bool // a task operation that may name no task
	anyState    bool // allowed on a task in any state; moves are only its possible effects
	begins      bool // the first operation of a board
	ends        bool // it ends a task or a claim, and may use the room reserved for that
	opensSprint bool
	registers   bool // its actor need not be registered yet
}

// gate is the set of board modes in which an operation may be committed.
type gate int

const (
	unlessAborted gate = iota // everything except in a stopped run
	whileRunning              // takes on or lands work
	always                    // reading, stopping, tidying up
)

var (
	planning = []roles.Role{roles.Planner, roles.Human}
	planner  = []roles.Role{roles.Planner}
	coder    = []roles.Role{roles.Coder}
	reviewer = []roles.Role{roles.CodeReviewer}
	human    = []roles.Role{roles.Human}
	system   = []roles.Role{roles.System}
	agents   = roles.Agents
	anyone   = []roles.Role{roles.Planner, roles.Coder, roles.CodeReviewer, roles.Human}

	judging    = []roles.Role{roles.CodeReviewer, roles.Human}
	reviewing  = []roles.Role{roles.Coder, roles.CodeReviewer, roles.Human} // a coder where the review policy names its role
	blocking   = []roles.Role{roles.Coder, roles.Human}
	finalizing = []roles.Role{roles.Planner, roles.CodeReviewer, roles.Human}

	planned = []Status{Draft, Unclaimed, Blocked}
	living  = []Status{Draft, Unclaimed, Claimed, ReadyForReview, Rejected, Approved, IntegrationFailed, Blocked}
)

// rules is the table of operations, in the order of a task's life. Permissions, transitions, modes,
// required leases, the tables in the documents and the help of commands come from it. Anything not
// in it is refused.
var rules = []rule{
	{payload: &Init{}, noun: "an init", gate: always, who: human, begins: true, opensSprint: true},
	{payload: &Import{}, noun: "an import", gate: always, who: human, begins: true, opensSprint: true},
	{payload: &Register{}, noun: "a registration", way: wayToRegister, who: agents, registers: true, lease: leaseOfActor},
	{payload: &Deregister{}, noun: "a deregistration", gate: always, who: agents},
	{payload: &AgentStatusChange{}, noun: "an agent's status", gate: always, who: agents},
	{payload: &AddTask{}, noun: "adding a task", way: wayToAddTask, who: planning, moves: []Transition{
		{From: []Status{None}, To: Draft, Who: planning},
		{From: []Status{None}, To: Unclaimed, Who: human, Note: "injected with --ready"},
	}},
	{payload: &Finalize{}, noun: "finalizing", way: wayToFinalize, who: finalizing, moves: []Transition{
		{From: []Status{Draft}, To: Unclaimed, Who: finalizing, Note: "every gate passed; if plans are reviewed, by the reviewer or a human"},
		{From: []Status{Draft}, Who: planner, Note: "if plans are reviewed: proposed to the reviewer"},
	}},
	{payload: &RejectDraft{}, noun: "rejecting a draft", way: wayToRejectDraft, who: judging, moves: []Transition{
		{From: []Status{Draft}, Who: judging, Note: "proposed; back to the planner, with a reason"},
	}},
	{payload: &AmendTask{}, noun: "an amendment", way: wayToAmend, who: planning, moves: []Transition{
		{From: planned, Who: planning, Note: "reason needed unless DRAFT"},
		{From: []Status{Unclaimed}, To: Draft, Who: planner, Note: "if plans are reviewed: proposed to the reviewer again"},
	}},
	{payload: &Abandon{}, noun: "abandoning", ends: true, who: planning, moves: []Transition{
		{From: planned, To: Abandoned, Who: planning, Note: "no live task depends on it"},
	}},
	{payload: &Supersede{}, noun: "superseding", ends: true, who: planning, moves: []Transition{
		{From: planned, To: Superseded, Who: planning, Note: "replacements exist"},
	}},
	{payload: &Claim{}, noun: "a claim", way: wayToClaim, gate: whileRunning, who: coder, lease: leaseOfClaim, moves: []Transition{
		{From: []Status{Unclaimed}, To: Claimed, Who: coder, Note: "dependencies MERGED; or kept work resumed"},
		{From: []Status{Rejected}, To: Claimed, Who: coder, Note: "its author; another once the author is gone or it was freed"},
		{From: []Status{Claimed}, To: Claimed, Who: coder, Note: "hand-off pending, or the lease has expired"},
		{From: []Status{IntegrationFailed}, To: Claimed, Who: coder, Note: "integration fix"},
	}},
	{payload: &IterationLimit{}, noun: "an iteration limit", ends: true, gate: whileRunning, who: coder, lease: leaseOfClaim, moves: []Transition{
		{From: []Status{Unclaimed, Rejected, IntegrationFailed, Claimed}, To: Blocked, Who: coder, Note: "instead of a claim that would pass the limit"},
	}},
	{payload: &PreExec{}, noun: "a pre-execution checkpoint", way: wayToPreExec, who: coder, behind: true, moves: []Transition{
		{From: []Status{Claimed}, Who: coder},
		{From: []Status{Claimed}, To: Blocked, Who: coder, Note: "more than 3 assumptions, which become its questions"},
	}},
	{payload: &HandOff{}, noun: "a hand-off", way: wayToHandOff, who: anyone, taskless: true, moves: []Transition{
		{From: []Status{Claimed}, Who: coder, Note: "the lease ends"},
		{From: []Status{ReadyForReview}, Who: reviewer, Note: "its reviewer; any other may review"},
	}},
	{payload: &Release{}, noun: "a release", way: wayToRelease, ends: true, gate: always, who: anyone, lease: leaseOfHolder, moves: []Transition{
		{From: []Status{Claimed}, To: Unclaimed, Who: anyone,
			Note: "its holder; a human; anyone once the lease has expired; the work goes to the attic, or stays when a human recovers it"},
		{From: []Status{ReadyForReview}, Who: anyone, Note: "its reviewer; a human; anyone once the lease has expired"},
	}},
	{payload: &Submit{}, noun: "a submission", way: wayToSubmit, who: coder, behind: true, moves: []Transition{
		{From: []Status{Claimed}, To: ReadyForReview, Who: coder, Note: "clean worktree, a commit, a checkpoint, tests"},
	}},
	{payload: &Block{}, noun: "blocking", way: wayToBlock, ends: true, who: []roles.Role{roles.Planner, roles.Coder, roles.Human}, moves: []Transition{
		{From: []Status{Claimed}, To: Blocked, Who: blocking, Note: "its coder, with questions; a human by force"},
		{From: []Status{Unclaimed, ReadyForReview, Rejected, Approved}, To: Blocked, Who: human, Note: "force replan"},
		{From: []Status{IntegrationFailed}, To: Blocked, Who: planning, Note: "force replan"},
	}},
	{payload: &ClaimReview{}, noun: "a review claim", way: wayToClaimReview, gate: whileRunning, who: reviewing, lease: leaseOfReviewer, behind: true, moves: []Transition{
		{From: []Status{ReadyForReview}, Who: reviewing, Note: "no live review claim; never its own work, nor what it approved already"},
	}},
	{payload: &Withdraw{}, noun: "a withdrawal", way: wayToWithdraw, who: coder, lease: leaseOfReviewer, moves: []Transition{
		{From: []Status{ReadyForReview}, To: Claimed, Who: coder, Note: "its author, while no review claim is live"},
	}},
	{payload: &Comment{}, noun: "a comment", who: reviewing, moves: []Transition{
		{From: []Status{ReadyForReview}, Who: reviewing, Note: "its reviewer, or a human; on a line of the submission"},
	}},
	{payload: &Verdict{}, noun: "a verdict", way: wayToVerdict, who: reviewing, behind: true, moves: []Transition{
		{From: []Status{ReadyForReview}, To: Approved, Who: reviewing, Note: "the assigned reviewer, on the submitted commit; the last approval that the review policy asks for"},
		{From: []Status{ReadyForReview}, Who: reviewing, Note: "an approval, and more are needed"},
		{From: []Status{ReadyForReview}, To: Rejected, Who: reviewing, Note: "with a rejection in the required form, or comments on lines and a reason"},
		{From: []Status{ReadyForReview}, To: Blocked, Who: system, Note: "REJECTED at the limit of review cycles: review_deadlock"},
	}},
	{payload: &Merge{}, noun: "a merge", way: wayToMerge, ends: true, gate: whileRunning, who: reviewer, moves: []Transition{
		{From: []Status{Approved}, To: Merged, Who: reviewer, Note: "candidate built and tested"},
		{From: []Status{Approved}, To: IntegrationFailed, Who: reviewer, Note: "conflict or failing integration test"},
	}},
	{payload: &FinishMerge{}, noun: "finishing a merge", ends: true, gate: always, who: anyone, moves: []Transition{
		{From: []Status{Approved}, To: Merged, Who: anyone, Note: "integration holds the approved commit already"},
	}},
	{payload: &RetryMerge{}, noun: "retrying a merge", who: judging, moves: []Transition{
		{From: []Status{IntegrationFailed, Blocked}, To: Approved, Who: judging, Note: "the same commit merges cleanly now"},
	}},
	{payload: &Unblock{}, noun: "unblocking", way: wayToUnblock, who: planning, moves: []Transition{
		{From: []Status{Blocked}, To: Unclaimed, Who: planning, Note: "its work is kept, unless --afresh"},
		{From: []Status{Blocked}, To: Claimed, Who: planning, Note: "--same-coder"},
	}},
	{payload: &Answer{}, noun: "an answer", way: wayToAnswer, instead: noteOn, who: planning, taskless: true, moves: []Transition{
		{From: []Status{Blocked}, To: Unclaimed, Who: planning, Note: "its work is kept, unless --afresh"},
	}},
	{payload: &Reassign{}, noun: "a reassignment", way: wayToReassign, who: planning, moves: []Transition{
		{From: []Status{Rejected}, Who: planning, Note: "frees it for another coder"},
		{From: []Status{Unclaimed}, Who: planning, Note: "lifts the reservation of kept work"},
	}},
	{payload: &AlignmentEntry{}, noun: "an alignment entry", who: planning},
	{payload: &RecordSpecChange{}, noun: "a spec change", who: planning, anywhere: true, born: SpecChangeDir},
	{payload: &ConvertDiscovery{}, noun: "converting a discovery", who: planning},
	{payload: &SettleDiscovery{}, noun: "settling a discovery", who: planning},
	{payload: &Ack{}, noun: "an acknowledgement", gate: always, who: planning},
	{payload: &Plan{}, noun: "planning a goal", gate: whileRunning, who: planner, lease: leaseOfPlanner},
	{payload: &GoalStart{}, noun: "starting a goal", gate: always, who: human},
	{payload: &GoalComplete{}, noun: "completing a goal", way: wayToGoalComplete, ends: true, who: planning},
	{payload: &GoalAbort{}, noun: "aborting a goal", ends: true, who: human},
	{payload: &GoalReopen{}, noun: "reopening a goal", gate: always, who: human},
	{payload: &GoalPriority{}, noun: "a goal's priority", who: human},
	{payload: &PROpen{}, noun: "opening a pull request", who: human},
	{payload: &PRUpdate{}, noun: "updating a pull request", gate: always, who: planning},
	{payload: &PRFeedback{}, noun: "feedback", who: planning},
	{payload: &PRMerged{}, noun: "a merged pull request", gate: always, who: planning},
	{payload: &SetCheckpoint{}, noun: "a checkpoint", who: planning},
	{payload: &Deadline{}, noun: "a deadline", who: planning},
	{payload: &Trip{}, noun: "a trip of the breaker", who: planning},
	{payload: &Discover{}, noun: "a discovery", who: anyone, anywhere: true, born: DiscoveryDir, offline: true, taskless: true},
	{payload: &LogAnomaly{}, noun: "an anomaly", who: anyone, anywhere: true, born: AnomalyDir, offline: true, taskless: true},
	{payload: &AddNote{}, noun: "a note", way: wayToNote, who: []roles.Role{roles.Planner, roles.Coder, roles.Human}, anywhere: true, born: NoteDir, offline: true},
	{payload: &Usage{}, noun: "a run's usage", gate: always, who: agents, anywhere: true, taskless: true, anyState: true, moves: []Transition{
		{From: []Status{Claimed, ReadyForReview, Rejected, IntegrationFailed}, To: Blocked, Who: system, Note: "its budget of tokens is used up: budget"},
	}},
	{payload: &Land{}, noun: "landing a commit", who: human},
	{payload: &Revert{}, noun: "a revert", who: human},
	{payload: &Attest{}, noun: "an attestation", gate: always, who: anyone, anywhere: true},
	{payload: &Pause{}, noun: "a pause", who: human, taskless: true, moves: []Transition{{From: living, Who: human, Note: "one task"}}},
	{payload: &Resume{}, noun: "a resume", way: wayToResume, who: human, taskless: true, moves: []Transition{{From: living, Who: human, Note: "one task"}}},
	{payload: &Abort{}, noun: "an abort", ends: true, who: human},
	{payload: &SetConfig{}, noun: "a setting", gate: always, who: human},
	{payload: &SetTeam{}, noun: "a team", gate: always, who: human},
	{payload: &Write{}, noun: "an edit", gate: always, who: human, taskless: true},
	{payload: &KeysAdd{}, noun: "adding a key", gate: always, who: human},
	{payload: &KeysRevoke{}, noun: "revoking a key", gate: always, who: human},
	{payload: &SprintStart{}, noun: "starting a sprint", who: human, opensSprint: true},
	{payload: &SprintEnd{}, noun: "ending a sprint", who: human},
	{payload: &Retrospective{}, noun: "a retrospective", gate: always, who: human},
	{payload: &Resolve{}, noun: "resolving the breaker", way: wayToResolve, who: human},
	{payload: &Archive{}, noun: "archiving", gate: always, who: human},
}

// ruleOf returns the row of an operation; false if there is no such operation.
func ruleOf(op string) (rule, bool) {
	i := slices.IndexFunc(rules, func(r rule) bool { return r.payload.Op() == op })
	if i < 0 {
		return rule{}, false
	}
	return rules[i], true
}

// Ops lists the names of all operations, in the order of a task's life.
func Ops() []string { return opsThat(func(rule) bool { return true }) }

func opsThat(are func(rule) bool) []string {
	var names []string
	for _, r := range rules {
		if are(r) {
			names = append(names, r.payload.Op())
		}
	}
	return names
}

// NewPayload returns an empty payload of an operation, for decoding into.
func NewPayload(op string) (Payload, error) {
	r, ok := ruleOf(op)
	if !ok {
		return nil, fmt.Errorf("no operation is called %q", op)
	}
	return reflect.New(reflect.TypeOf(r.payload).Elem()).Interface().(Payload), nil
}

// May reports whether a role may request an operation.
func May(who roles.Role, op string) bool { return slices.Contains(Allowed(op), who) }

// Allowed returns the roles that may request an operation, none if it does not exist.
func Allowed(op string) []roles.Role {
	r, _ := ruleOf(op)
	return r.who
}

// BornIn is the directory where an operation makes a record with the next number, "" for none.
func BornIn(op string) string {
	r, _ := ruleOf(op)
	return r.born
}

// DecidedBy returns the files of the records that an operation was decided by: while they are
// unchanged, and integration has not moved (see OutlivesMerges), its payload means on a later board
// what its author meant. There are none if it means the same on any board. after is the board after
// the operation, nil if it was refused.
func DecidedBy(op Operation, after *State) (paths []string) {
	if r, _ := ruleOf(op.Name()); r.anywhere {
		return nil
	}
	switch id := op.TaskID(); {
	case id != "":
		paths = append(paths, RecordPath(TaskDir, id))
	case after != nil:
		return slices.Sorted(maps.Keys(after.Changes()))
	}
	if op.Actor.Role != roles.Human {
		paths = append(paths, RecordPath(AgentDir, op.Actor.ID))
	}
	if _, is := op.Payload.(*Claim); is {
		paths = append(paths, ConfigPath) // has the name of the claimant's branch
	}
	return paths
}

// OutlivesMerges reports whether an operation means the same where integration has moved forward
// since it was decided, as if it had come before.
func OutlivesMerges(op string) bool {
	r, _ := ruleOf(op)
	return r.behind
}

// OfflineOps lists the operations that may wait in the queue of an offline clone.
func OfflineOps() []string { return opsThat(func(r rule) bool { return r.offline }) }

// TakesOnWork reports whether an operation takes on work or lands it, and so has to wait while the
// board is not running.
func TakesOnWork(op string) bool {
	r, _ := ruleOf(op)
	return r.gate == whileRunning
}

// AllowedIn reports whether an operation may be committed in a mode of the board.
func AllowedIn(m Mode, op string) bool {
	r, ok := ruleOf(op)
	return ok && (m == Running || r.gate == always || r.gate == unlessAborted && m != Aborted)
}

// Begins reports whether an operation is the first of a board.
func Begins(op string) bool {
	r, _ := ruleOf(op)
	return r.begins
}

// BeginsSprint reports whether an operation begins a sprint.
func BeginsSprint(op string) bool {
	r, _ := ruleOf(op)
	return r.opensSprint
}

// LeaseWanted names the agent whose lease an operation must show, "" for none: the holder of what
// it would take.
func LeaseWanted(s *State, op Operation) string {
	r, _ := ruleOf(op.Name())
	if r.lease == nil {
		return ""
	}
	return r.lease(s, op, s.Task(op.TaskID()))
}
