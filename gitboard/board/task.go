package board

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Task is one unit of work with one worktree and one branch; tasks/<id>.yaml.
type Task struct {
	ID              string   `yaml:"id"`
	Goal            string   `yaml:"goal"`
	Title           string   `yaml:"title,omitempty"` // "" for the start of the description; see Heading
	Description     string   `yaml:"description"`
	Status          Status   `yaml:"status"`
	StatusChangedAt Time     `yaml:"status_changed_at"`
	Priority        int      `yaml:"priority"`
	Created         Time     `yaml:"created"`
	CreatedBy       string   `yaml:"created_by"`
	Kind            Kind     `yaml:"kind"`
	Stage           string   `yaml:"stage,omitempty"` // "" for CodeStage; see InStage
	SpecRef         string   `yaml:"spec_ref,omitempty"`
	SpecOID         string   `yaml:"spec_oid,omitempty"`
	DoneWhen        string   `yaml:"done_when,omitempty"`
	Scope           string   `yaml:"scope,omitempty"`
	DependsOn       []string `yaml:"depends_on,omitempty"`
	Touches         []string `yaml:"touches,omitempty"` // globs of files that it is expected to change; advisory

	AssignedTo            string `yaml:"assigned_to,omitempty"`
	Worktree              string `yaml:"worktree,omitempty"`
	Clone                 string `yaml:"clone,omitempty"`
	BaseCommit            string `yaml:"base_commit,omitempty"`
	Iteration             int    `yaml:"iteration,omitempty"`
	MaxIterations         int    `yaml:"max_iterations,omitempty"`
	MaxReviewCycles       int    `yaml:"max_review_cycles,omitempty"`
	LeaseDurationOverride int    `yaml:"lease_duration_override,omitempty"`

	// Allowances are added to the limits of iterations and review cycles.
	ExtraIterations   int `yaml:"extra_iterations,omitempty"`
	ExtraReviewCycles int `yaml:"extra_review_cycles,omitempty"`

	ReviewCyclesCurrent int    `yaml:"review_cycles_current,omitempty"`
	ReviewCyclesTotal   int    `yaml:"review_cycles_total,omitempty"`
	ReviewCommit        string `yaml:"review_commit,omitempty"`
	ReviewBase          string `yaml:"review_base,omitempty"`
	ReviewingBy         string `yaml:"reviewing_by,omitempty"`
	ReviewingAs         string `yaml:"reviewing_as,omitempty"` // a human who reviews: name and address
	ApprovedBy          string `yaml:"approved_by,omitempty"`  // whose approval was the last that was needed
	MergeCommit         string `yaml:"merge_commit,omitempty"`
	DriftCommits        int    `yaml:"drift_commits,omitempty"`

	Rejection *Rejection `yaml:"rejection_reason,omitempty"` // the last one, until an approval

	// Approvals are those of the submission so far, HumanPaths the globs of the review policy that
	// match what it changes, so that a human has to approve it.
	Approvals  []Approval `yaml:"approvals,omitempty"`
	HumanPaths []string   `yaml:"human_paths,omitempty"`

	Plan PlanState `yaml:"plan,omitempty"` // of a DRAFT: how far the review of the plan is

	Freed            bool     `yaml:"freed,omitempty"`
	ReservedFor      string   `yaml:"reserved_for,omitempty"`
	BlockedReason    string   `yaml:"blocked_reason,omitempty"`
	BlockedQuestions []string `yaml:"blocked_questions,omitempty"`
	Attempted        []string `yaml:"attempted,omitempty"`
	FailedBy         []string `yaml:"failed_by,omitempty"`
	IntegrationFix   bool     `yaml:"integration_fix,omitempty"`
	HandoffPending   bool     `yaml:"handoff_pending,omitempty"`
	Supersedes       []string `yaml:"supersedes,omitempty"`
	SupersededBy     []string `yaml:"superseded_by,omitempty"`
	RescopeReason    string   `yaml:"rescope_reason,omitempty"`
	Paused           bool     `yaml:"paused,omitempty"`

	Usage        []Spending `yaml:"usage,omitempty"`
	BudgetTokens int        `yaml:"budget_tokens,omitempty"`

	Comments []LineComment `yaml:"comments,omitempty"`

	History []Event `yaml:"history"`
	Extra   any     `yaml:"extra,omitempty"`
}

// LineComment is a comment on a line of a submission. Deleted means that the submission deletes the
// file: then Line is a line of the review base.
type LineComment struct {
	Time       Time   `yaml:"time" json:"time"`
	By         string `yaml:"by" json:"by"`
	As         string `yaml:"as,omitempty" json:"as,omitempty"` // a human: name and address
	Submission int    `yaml:"submission" json:"submission"`
	Commit     string `yaml:"commit" json:"commit"`
	Path       string `yaml:"path" json:"path"`
	Line       int    `yaml:"line" json:"line"`
	Deleted    bool   `yaml:"deleted,omitempty" json:"deleted,omitempty"`
	Text       string `yaml:"text" json:"text"`
}

// Event is one line of a task's history, to which lines are only ever added.
type Event struct {
	Time      Time       `yaml:"time"`
	Event     string     `yaml:"event"`
	Agent     string     `yaml:"agent"`
	Iteration int        `yaml:"iteration,omitempty"`
	Reason    string     `yaml:"reason,omitempty"`
	Rejection *Rejection `yaml:"rejection,omitempty"`
	Commit    string     `yaml:"commit,omitempty"`
	Base      string     `yaml:"base,omitempty"`
	Tree      string     `yaml:"tree,omitempty"` // the tree of a submitted commit
	MergeType string     `yaml:"merge_type,omitempty"`
	Drift     int        `yaml:"drift,omitempty"`
	Files     []string   `yaml:"files,omitempty"`
	Log       string     `yaml:"log,omitempty"`
	Kept      string     `yaml:"kept,omitempty"`
	// Questions and Attempted are those of the block that an unblock ends; Answer is the answer.
	Questions []string `yaml:"questions,omitempty"`
	Attempted []string `yaml:"attempted,omitempty"`
	Answer    string   `yaml:"answer,omitempty"`
	// AllowedIterations and AllowedReviewCycles are the allowances of an unblock.
	AllowedIterations   int    `yaml:"allowed_iterations,omitempty"`
	AllowedReviewCycles int    `yaml:"allowed_review_cycles,omitempty"`
	NoTests             string `yaml:"no_tests_because,omitempty"`
	Checked             string `yaml:"checked,omitempty"` // what a reviewer ran
	// Verified is the validation of a submission.
	Verified *Validation `yaml:"verified,omitempty"`
	As       string      `yaml:"as,omitempty"` // a human who reviews: name and address
	// CLI and Model are those of a submission's coder, as far as its registration names them.
	CLI   string `yaml:"cli,omitempty"`
	Model string `yaml:"model,omitempty"`
	// People are the addresses of humans who made some commits of a submission, at most MaxPeople.
	People []string `yaml:"people,omitempty"`
	// DeletedTests are the tests that a submission deletes or empties. Only the first of many are
	// listed.
	DeletedTests []string `yaml:"deleted_tests,omitempty"`
	// EarlyCommits are those that a submission's coder made before the checkpoint. Only the first
	// of many are listed.
	EarlyCommits []string `yaml:"early_commits,omitempty"`
	// Remade are the commits of a submission that were made again after it was refused, at RefusedAt,
	// for such commits.
	Remade     []string    `yaml:"remade_commits,omitempty"`
	RefusedAt  Time        `yaml:"refused_at,omitempty"`
	Was        *Definition `yaml:"was,omitempty"`
	Checkpoint *Checkpoint `yaml:"checkpoint,omitempty"`
}

// Definition is the part of a task that a planner defines. An amendment keeps the old one in the
// history.
type Definition struct {
	Title       string   `yaml:"title,omitempty" json:"title,omitempty"`
	Description string   `yaml:"description,omitempty" json:"description,omitempty"`
	DoneWhen    string   `yaml:"done_when,omitempty" json:"done_when,omitempty"`
	Scope       string   `yaml:"scope,omitempty" json:"scope,omitempty"`
	SpecRef     string   `yaml:"spec_ref,omitempty" json:"spec_ref,omitempty"`
	SpecOID     string   `yaml:"spec_oid,omitempty" json:"spec_oid,omitempty"`
	Kind        Kind     `yaml:"kind,omitempty" json:"kind,omitempty"`
	Stage       string   `yaml:"stage,omitempty" json:"stage,omitempty"`
	Priority    int      `yaml:"priority,omitempty" json:"priority,omitempty"`
	DependsOn   []string `yaml:"depends_on,omitempty" json:"depends_on,omitempty"`
	Touches     []string `yaml:"touches,omitempty" json:"touches,omitempty"`

	MaxIterations         int `yaml:"max_iterations,omitempty" json:"max_iterations,omitempty"`
	MaxReviewCycles       int `yaml:"max_review_cycles,omitempty" json:"max_review_cycles,omitempty"`
	LeaseDurationOverride int `yaml:"lease_duration_override,omitempty" json:"lease_duration_override,omitempty"`
}

// Checkpoint is a coder's plan, written before the first commit of an iteration.
type Checkpoint struct {
	Intent        string   `yaml:"intent" json:"intent"`
	Assumptions   []string `yaml:"assumptions,omitempty" json:"assumptions,omitempty"`
	Risks         string   `yaml:"risks,omitempty" json:"risks,omitempty"`
	Validation    string   `yaml:"validation" json:"validation"`
	FilesToModify []string `yaml:"files_to_modify" json:"files_to_modify"`
	// Head is the task's branch when the checkpoint was written, Clock the time in that clone.
	// Attested.
	Head  string `yaml:"head,omitempty" json:"head,omitempty"`
	Clock Time   `yaml:"clock,omitempty" json:"clock,omitempty"`
}

// Validation is a command that proves a submission, and how it ended. Attested.
type Validation struct {
	Command string `yaml:"command" json:"command"`
	Exit    int    `yaml:"exit_code" json:"exit_code"`               // -1 if a signal or its timeout ended it
	Output  string `yaml:"output,omitempty" json:"output,omitempty"` // its end
}

// String is the command with its exit code and the end of its output, "" for none.
func (v *Validation) String() string {
	if v == nil {
		return ""
	}
	return strings.TrimSpace(fmt.Sprintf("%s: exit %d\n%s", v.Command, v.Exit, v.Output))
}

// The names of history events.
const (
	EventCreated               = "created"
	EventProposed              = "proposed"
	EventDraftRejected         = "draft_rejected"
	EventFinalized             = "finalized"
	EventAmended               = "amended"
	EventClaimed               = "claimed"
	EventReclaimed             = "reclaimed_after_rejection"
	EventReassignedAfterReject = "reassigned_after_rejection"
	EventReclaimedAfterExpiry  = "reclaimed_after_expiry"
	EventClaimedForFix         = "claimed_for_integration_fix"
	EventPreExec               = "pre_execution_checkpoint"
	EventHandedOff             = "handed_off"
	EventResumed               = "resumed"
	EventReady                 = "ready_for_review"
	EventWithdrawn             = "withdrawn"
	EventReviewClaimed         = "review_claimed"
	EventReviewReleased        = "review_claim_released"
	EventCoderReleased         = "coder_claim_released"
	EventApproval              = "approval"
	EventApproved              = "approved"
	EventRejected              = "rejected"
	EventBlocked               = "blocked"
	EventUnblocked             = "unblocked"
	EventReassigned            = "reassigned"
	EventMerged                = "merged"
	EventIntegrationFailed     = "integration_failed"
	EventSuperseded            = "superseded"
	EventAbandoned             = "abandoned"
	EventMergeRetried          = "merge_retried"
	EventReverted              = "reverted"
	EventPaused                = "paused"
	EventUnpaused              = "unpaused"
	EventEdited                = "edited"
	EventImported              = "imported"
)

// claimEvents are the events after which their agent works on the task. All except the end of a
// hand-off begin an iteration.
var claimEvents = map[string]bool{
	EventClaimed: true, EventReclaimed: true, EventReassignedAfterReject: true,
	EventReclaimedAfterExpiry: true, EventClaimedForFix: true, EventResumed: true,
}

// Author is who it was; a reviewing human is given by name.
func (e Event) Author() string { return Approval{By: e.Agent, As: e.As}.Author() }

// Why is an event's reason: a rejection in prose, or else its reason.
func (e Event) Why() string {
	if e.Rejection != nil {
		return e.Rejection.Prose()
	}
	return e.Reason
}

// TakesUp reports whether the event's agent works on the task from then on.
func (e Event) TakesUp() bool { return claimEvents[e.Event] }

// Claims counts how often the task was claimed.
func (t *Task) Claims() int {
	n := 0
	for _, e := range t.History {
		if claimEvents[e.Event] {
			n++
		}
	}
	return n
}

// Begun reports whether anybody has worked on the task, so that a branch of its name may hold its
// work. An imported task counts, because its earlier history is unknown.
func (t *Task) Begun() bool { return t != nil && (t.Claims() > 0 || t.Last(EventImported) != nil) }

// CheckpointOfIteration returns the pre-execution checkpoint of the running iteration, nil if none
// was written yet. A hand-off does not end an iteration.
func (t *Task) CheckpointOfIteration() *Checkpoint {
	for i := len(t.History) - 1; i >= 0; i-- {
		e := t.History[i]
		switch {
		case e.Event == EventPreExec:
			return e.Checkpoint
		case t.begins(i):
			return nil
		case e.Event == EventUnblocked:
			return nil
		}
	}
	return nil
}

// begins reports whether event i begins an iteration.
func (t *Task) begins(i int) bool { return claimEvents[t.History[i].Event] && !t.resumedHandoff(i) }

// resumedHandoff reports whether event i continues from a hand-off.
func (t *Task) resumedHandoff(i int) bool {
	if t.History[i].Event != EventResumed {
		return false
	}
	for j := i - 1; j >= 0; j-- {
		switch e := t.History[j]; {
		case e.Event == EventHandedOff:
			return true
		case claimEvents[e.Event] || e.Event == EventBlocked && e.Reason != BudgetSpent:
			return false
		}
	}
	return false
}

// TookOverHandoff reports whether the running claim continues from a hand-off.
func (t *Task) TookOverHandoff() bool {
	for i := len(t.History) - 1; i >= 0; i-- {
		if claimEvents[t.History[i].Event] {
			return t.resumedHandoff(i)
		}
	}
	return false
}

// reviewHandedOff reports whether the running review continues from another reviewer's hand-off.
func (t *Task) reviewHandedOff(h *Handoff) bool {
	submitted := t.Last(EventReady)
	return t.Status == ReadyForReview && submitted != nil && h.Timestamp >= submitted.Time
}

// HasPriorFeedback reports whether the task was rejected before, so that another rejection must
// give the status of the earlier findings.
func (t *Task) HasPriorFeedback() bool { return t.Last(EventRejected) != nil }

// StartedFresh reports whether the last claim began in a new worktree.
func (t *Task) StartedFresh() bool {
	fresh, holder := false, ""
	for _, e := range t.History {
		if claimEvents[e.Event] {
			fresh, holder = e.startsFresh(holder), e.Agent
		}
	}
	return fresh
}

// startsFresh reports whether a claim after another holder's begins in a new worktree.
func (e Event) startsFresh(holder string) bool {
	return e.Event == EventClaimed || e.Event == EventReassignedAfterReject || e.Event == EventReclaimedAfterExpiry && e.Agent != holder
}

// Planned lists the files of all checkpoints of the work on the task's branch.
func (t *Task) Planned() (files []string) {
	holder := ""
	for _, e := range t.History {
		if claimEvents[e.Event] {
			if e.startsFresh(holder) {
				files = nil
			}
			holder = e.Agent
		}
		if e.Checkpoint != nil {
			files = append(files, e.Checkpoint.FilesToModify...)
		}
	}
	return files
}

// attempted reports whether the coder had submitted its work on the task, since another coder had it
// or it was unblocked, when event n came. A coder that only asked has not attempted it.
func (t *Task) attempted(coder string, n int) bool {
	for i := n - 1; i >= 0; i-- {
		switch e := t.History[i]; {
		case e.Event == EventReady && e.Agent == coder:
			return true
		case e.Event == EventUnblocked || claimEvents[e.Event] && e.Agent != coder:
			return false
		}
	}
	return false
}

// Workers lists all agents ever assigned to the task, in order, without duplicates.
func (t *Task) Workers() []string {
	var ids []string
	seen := map[string]bool{}
	for _, e := range t.History {
		if claimEvents[e.Event] && !seen[e.Agent] {
			seen[e.Agent] = true
			ids = append(ids, e.Agent)
		}
	}
	return ids
}

// SecondCoderSince is when a coder other than the first took the task, zero if there was only one.
func (t *Task) SecondCoderSince() Time {
	first := ""
	for _, e := range t.History {
		switch {
		case !claimEvents[e.Event]:
		case first == "":
			first = e.Agent
		case e.Agent != first:
			return e.Time
		}
	}
	return ""
}

// Last returns the newest event with one of the names, nil for none.
func (t *Task) Last(names ...string) *Event {
	for i := len(t.History) - 1; i >= 0; i-- {
		for _, name := range names {
			if t.History[i].Event == name {
				return &t.History[i]
			}
		}
	}
	return nil
}

// KeptWork is the commit that holds earlier work which the task's branch lacks, "" if the branch has it.
func (t *Task) KeptWork() string {
	for _, e := range slices.Backward(t.History) {
		if e.Kept != "" || e.Event == EventUnblocked {
			return e.Kept
		}
	}
	return ""
}

// Definition returns the part of the task that a planner may amend.
func (t *Task) Definition() Definition {
	return Definition{
		Title: t.Title, Description: t.Description, DoneWhen: t.DoneWhen, Scope: t.Scope, SpecRef: t.SpecRef, SpecOID: t.SpecOID,
		Kind: t.Kind, Stage: t.Stage, Priority: t.Priority, DependsOn: t.DependsOn, Touches: t.Touches,
		MaxIterations: t.MaxIterations, MaxReviewCycles: t.MaxReviewCycles, LeaseDurationOverride: t.LeaseDurationOverride,
	}
}

// changedTo returns the fields of a definition whose value differs in the next one; nil if none
// does.
func (d Definition) changedTo(next Definition) *Definition {
	was, now := reflect.ValueOf(&d).Elem(), reflect.ValueOf(next)
	changed := false
	for i := range was.NumField() {
		a, b := was.Field(i), now.Field(i)
		if reflect.DeepEqual(a.Interface(), b.Interface()) || a.Kind() == reflect.Slice && a.Len()+b.Len() == 0 {
			a.SetZero()
		} else {
			changed = true
		}
	}
	if !changed {
		return nil
	}
	return &d
}

// AmendedSinceClaim returns the criteria and the scope with which work on the task began, as far as
// amendments have replaced them since; nil if they have not.
func (t *Task) AmendedSinceClaim() *Definition {
	first := slices.IndexFunc(t.History, Event.TakesUp)
	if first < 0 {
		return nil
	}
	d := Definition{DoneWhen: t.DoneWhen, Scope: t.Scope}
	for _, e := range slices.Backward(t.History[first:]) {
		if e.Was != nil {
			d.DoneWhen, d.Scope = cmp.Or(e.Was.DoneWhen, d.DoneWhen), cmp.Or(e.Was.Scope, d.Scope)
		}
	}
	return d.changedTo(Definition{DoneWhen: t.DoneWhen, Scope: t.Scope})
}

// redefines reports whether the replaced values were part of a task's requirements.
func (d *Definition) redefines() bool {
	return d != nil && (d.Description != "" || d.DoneWhen != "" || d.Scope != "" || d.SpecRef != "")
}

func (t *Task) define(d Definition) {
	t.Title = d.Title
	t.Description, t.DoneWhen, t.Scope, t.SpecRef, t.SpecOID = d.Description, d.DoneWhen, d.Scope, d.SpecRef, d.SpecOID
	t.Kind, t.Stage, t.Priority, t.DependsOn, t.Touches = d.Kind, d.Stage, d.Priority, d.DependsOn, d.Touches
	t.MaxIterations, t.MaxReviewCycles, t.LeaseDurationOverride = d.MaxIterations, d.MaxReviewCycles, d.LeaseDurationOverride
}
